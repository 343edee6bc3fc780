"""The configuration file: names of gateways, and mistakes that name the nearest valid word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.evidence import fixtures
from conformance.evidence.written import exchange
from conformance.models import canonical, renamed


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A log whose model has a gateway's name, in the request and in the answer."""
    monkeypatch.chdir(tmp_path)
    one = exchange(fixtures.load(fixtures.root() / "bases" / "chat.plain.yaml"), "1")
    said = b"".join(chunk.data for chunk in one.response.chunks).decode()
    record = {"url": one.request.url, "status": 200, "request": one.request.body.decode(), "response": said}
    record["response_headers"] = dict(one.response.headers)
    Path("a.jsonl").write_text(json.dumps(record).replace("kimi-k3.1-pro", "house-model") + "\n", "utf-8")
    return "a.jsonl"


def check(*arguments: str):
    result = CliRunner().invoke(main, ["check", "--format", "json", *arguments])
    return result, json.loads(result.stdout) if result.stdout.startswith("{") else {}


def passed(document: dict, model: str) -> int:
    return sum(v["outcome"] == "pass" and v["model"] == model for v in document["verdicts"])


def test_an_alias_stands_for_its_model(log):
    Path("kimi-conformance.toml").write_text('[aliases]\n"house-model" = "kimi-k3"\n', "utf-8")
    _, document = check(log)
    assert passed(document, "kimi-k3") > 20
    assert passed(document, "kimi-k3.1-pro") == 0


def test_one_model_is_assumed_for_every_other_name(log):
    result, document = check(log, "--assume-model", "kimi-k3.1-pro")
    assert passed(document, "kimi-k3.1-pro") > 20
    assert result.exit_code == 0, document["findings"]


def test_names_are_known_only_while_they_are_told():
    with renamed({"house-model": "kimi-k3"}, "kimi-k3.1-pro"):
        assert [canonical(name) for name in ("house-model", "moonshot/house-model", "kimi-k3", "other", None)] == [
            *("kimi-k3", "kimi-k3", "kimi-k3", "kimi-k3.1-pro"),
            None,
        ]
    assert canonical("house-model") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[alias]\n", "'alias' is no setting. Did you mean aliases?"),
        ("colour = 1\n", "'colour' is no setting. Expected one of aliases, prices."),
        ('[aliases]\na = "kimi-k31-pro"\n', "aliases.a: 'kimi-k31-pro' is no model. Did you mean kimi-k3.1-pro?"),
        ("[aliases]\na = 7\n", "aliases.a: '7' is no model."),
        ('aliases = "x"\n', "aliases is a table"),
        ('[aliases]\n"kimi-k3" = "kimi-k3.1-pro"\n', "a documented model cannot stand for another"),
        ("[aliases\n", "kimi-conformance.toml cannot be read"),
        ("a = '\udce9'", "kimi-conformance.toml cannot be read"),
    ],
)
def test_a_mistake_is_a_usage_error_that_says_what_is_valid(log, text, words):
    Path("kimi-conformance.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    result, _ = check(log)
    assert result.exit_code == 2
    assert words in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--redact", "("], "is no regular expression"),
        (["--redact", "a*"], "matches the empty text"),
        (["--map", "requst=a"], "did you mean request?"),
        (["--assume-model", "kimi-k31"], "Did you mean"),
        (["--journal", "no/\0/file"], "cannot be written"),
        (["--journal", "./a.jsonl"], "would overwrite a file that is judged"),
        (["--request", "b.json"], "--request is for the output of curl -i"),
    ],
)
def test_mistaken_options_are_usage_errors(log, arguments, words):
    result, _ = check(log, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
