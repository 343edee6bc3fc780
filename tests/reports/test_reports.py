"""Reports: each format says what the verdicts say, and hostile text stays text."""

from __future__ import annotations

import json
import re
import subprocess
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from conformance.gate import gate
from conformance.reports import BrokenRunFile, EmptyRunFile, read_run, report_schema, write
from conformance.reports.curl import curl
from conformance.reports.markdown import LARGEST_SUMMARY, _code, summarise
from conformance.values import (
    Basis,
    Exchange,
    Finding,
    Intent,
    Level,
    Outcome,
    Protocol,
    Request,
    Run,
    Verdict,
)

HOSTILE = "<script>alert(1)</script>\x1b[31m|```\u202e"
RUN = Run(
    version="kimi-conformance 0",
    target="http://127.0.0.1:1/" + HOSTILE,
    models=("kimi-k3",),
    protocols=(Protocol.CHAT,),
    seed=1,
    profile="full",
    started="2026-01-01T00:00:00Z",
    finished="2026-01-01T00:00:01Z",
    requests=3,
)


def sent(body: bytes, *headers: tuple[str, str], intents=()) -> Exchange:
    return Exchange(
        id="7",
        protocol=Protocol.CHAT,
        model="kimi-k3",
        intents=intents,
        request=Request(method="POST", url="http://127.0.0.1:1/v1/chat/completions", headers=headers, body=body),
    )


EXCHANGE = sent(b'{"model":"it\'s"}', ("Authorization", "Bearer REDACTED"), ("Content-Type", "application/json"))
FINDING = Finding(
    message=HOSTILE,
    rule="usage.total-is-sum",
    level=Level.MUST,
    basis=Basis.DOCUMENTED,
    protocol=Protocol.CHAT,
    model="kimi-k3",
    exchange="7",
    exchanges=("7",),
    pointer="/usage/total_tokens",
    expected=30,
    actual=HOSTILE,
)
VERDICTS = tuple(
    Verdict(
        rule=name,
        protocol=Protocol.CHAT,
        model="kimi-k3",
        outcome=outcome,
        level=Level.MUST,
        findings=(FINDING,) if outcome is Outcome.FAIL else (),
        exercised=1,
        reason=HOSTILE if outcome in (Outcome.ERROR, Outcome.INCONCLUSIVE) else None,
    )
    for name, outcome in [
        ("usage.total-is-sum", Outcome.FAIL),
        ("usage.present", Outcome.PASS),
        ("usage.within-context", Outcome.INCONCLUSIVE),
        ("finish.enum", Outcome.NOT_EXERCISED),
        ("finish.not-null", Outcome.NOT_APPLICABLE),
        ("body.schema", Outcome.ERROR),
    ]
)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    write(folder, RUN, VERDICTS, gate(VERDICTS), [EXCHANGE])
    return folder


def test_the_json_report_fits_its_generated_schema(out):
    value = json.loads((out / "report.json").read_text())
    jsonschema.Draft202012Validator(report_schema()).validate(value)
    assert {v["case"]: v["outcome"] for v in value["verdicts"]}["usage.total-is-sum/chat/kimi-k3"] == "fail"
    assert (
        value["findings"][0]
        | {
            "rule": "usage.total-is-sum",
            "level": "must",
            "exchange": "7",
            "pointer": "/usage/total_tokens",
        }
        == value["findings"][0]
    )


def test_the_schema_refuses_a_report_without_verdicts(out):
    value = json.loads((out / "report.json").read_text())
    del value["verdicts"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(report_schema()).validate(value)


def test_the_run_file_reads_back_whole(out):
    run, verdicts, counts = read_run(out / "run.jsonl")
    assert (run, verdicts, counts) == (RUN, VERDICTS, gate(VERDICTS).counts)


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        (b"", EmptyRunFile, "empty"),
        (b"{}\n", BrokenRunFile, "line 1"),
        (b'{"format":"other","version":1,"run":null}\n', BrokenRunFile, "line 1"),
        (b"\xff\xfe\n", BrokenRunFile, "line 1"),
    ],
)
def test_a_broken_run_file_is_named(tmp_path, content, error, says):
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(error, match=says) as caught:
        read_run(path)
    assert str(path) in str(caught.value)


def test_a_cut_run_file_is_refused(out, tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"\n".join((out / "run.jsonl").read_bytes().splitlines()[:-1]) + b"\n")
    with pytest.raises(BrokenRunFile, match=r"line \d+: expected a footer"):
        read_run(path)


def test_junit_has_a_case_for_each_applicable_verdict(out):
    suite = ET.fromstring((out / "junit.xml").read_bytes()).find("testsuite")  # noqa: S314 (our own file)
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "1",
        "errors": "1",
        "skipped": "2",
    }
    assert suite.find("testcase/failure").get("type") == "must"


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.scripts, self.links = [], 0, []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.scripts += tag == "script"
        self.links += [value for name, value in attrs if name in ("src", "href") and not value.startswith("#")]


def test_the_page_is_self_contained_and_escapes_what_came_from_the_wire(out):
    text = (out / "report.html").read_text()
    page = Page()
    page.feed(text)
    assert page.scripts == 1
    assert page.links == []
    assert "<script>alert" not in text
    assert "\x1b" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    for word in ("not conforming", "internal error", "usage.total-is-sum", "$KIMI_API_KEY"):
        assert (word in text) == (word != "not conforming")


def test_the_page_shows_five_outcomes_and_what_does_not_apply(out):
    text = (out / "report.html").read_text()
    for outcome in Outcome:
        assert f'class="o o-{outcome.value.replace(" ", "-")}' in text


def test_markdown_escapes_what_came_from_the_wire(out):
    text = (out / "report.md").read_text()
    assert "\x1b" not in text
    assert sum(line.startswith("```") for line in text.splitlines()) % 2 == 0
    assert "<script>" not in text.replace("`` ", "`").split("`")[0]


def test_markdown_joins_a_github_job_summary(tmp_path, monkeypatch):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    write(tmp_path / "out", RUN, VERDICTS, gate(VERDICTS), [])
    assert summary.read_text().startswith("before\n# Kimi API conformance")


@pytest.mark.parametrize("before", [0, 700_000, LARGEST_SUMMARY + 5])
def test_a_job_summary_is_cut_to_what_github_shows(tmp_path, monkeypatch, before):
    summary = tmp_path / "summary.md"
    summary.write_bytes(b"b" * before)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    summarise("éé line\n" * 200_000)
    written = summary.read_bytes()[before:].decode("utf-8")
    assert written.endswith("\n\n… cut here: report.md has the rest.\n")
    assert set(written.splitlines()[:-2]) <= {"éé line", ""}
    assert before > LARGEST_SUMMARY or LARGEST_SUMMARY - 20 < summary.stat().st_size <= LARGEST_SUMMARY


@pytest.mark.parametrize("name", [".", "absent/summary.md", "nul\0"])
def test_a_job_summary_that_cannot_be_written_is_told_and_changes_nothing(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("conformance.reports.markdown.os.environ", {"GITHUB_STEP_SUMMARY": name})
    summarise("text")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("GITHUB_STEP_SUMMARY: ")
    assert "cannot be written" in line


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":"plain"}',
        b'it\'s $HOME `id` "x" \\ !',
        '{"a":"北京"}'.encode(),
        b"\x00\xff\x1b[31m",
        b"line\nline\n",
        b"-starts with a dash",
        b"@starts with an at",
    ],
)
def test_the_curl_line_sends_the_same_bytes(body, tmp_path):
    fake = tmp_path / "curl"
    fake.write_text(
        "#!/usr/bin/env python3\nimport sys\nargs = sys.argv[1:]\n"
        'data = args[args.index("--data-raw") + 1].encode() if "--data-raw" in args else sys.stdin.buffer.read()\n'
        'auth = [a for a in args if a.startswith("Authorization")]\n'
        'sys.stdout.buffer.write(b"|".join([auth[0].encode(), data]))\n'
    )
    fake.chmod(0o755)
    line = curl(sent(body, ("Authorization", "Bearer REDACTED")))
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin:/usr/local/bin", "KIMI_API_KEY": "the-key", "LC_ALL": "C.UTF-8"}
    shown = subprocess.run(["/bin/sh", "-c", line], env=env, capture_output=True, check=True).stdout  # noqa: S603 (ours)
    assert shown == b"Authorization: Bearer the-key|" + body


def test_a_curl_line_for_an_invalid_key_keeps_it_invalid():
    line = curl(sent(b"{}", ("Authorization", "Bearer REDACTED"), intents=(Intent.INVALID_KEY,)))
    assert "$KIMI_API_KEY" not in line
    assert "invalid-key" in line


def test_a_hostile_scheme_cannot_run_a_command(tmp_path):
    line = curl(sent(b"{}", ("Authorization", '"$(touch pwned)"; x')))
    subprocess.run(["/bin/sh", "-c", "curl() { :; }; " + line], cwd=tmp_path, check=True)  # noqa: S603 (ours)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("ticks", range(1, 9))
def test_no_run_of_backticks_ends_a_code_span_of_the_markdown(ticks):
    run = "`" * ticks
    text = f"{run}<img src=x>{run} [link](https://host){'`' * (ticks + 1)}"
    span = _code(text)
    fence = re.match("`+", span).group()
    assert span == f"{fence} {text} {fence}"
    assert fence not in re.findall("`+", span)[1:-1]
