"""A canary key that goes through run and check is in no file and in no output, in whatever form."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import hostile_servers as servers
import pytest

from conformance.evidence import fixtures
from conformance.evidence.written import exchange
from conformance.reference.faults import FAULTS, merged
from conformance.reference.server import running
from conformance.reference.settings import Settings
from conformance.rules import RULES

CANARY = "sk-canary/7f3a+bird=Qq19"
ECHOES = ("key-in-header", "key-in-auth-error", "key-in-answer", "key-in-base64", "key-in-comment")


def command(*arguments: str, folder: Path, expected: tuple[int, ...]) -> str:
    environment = {**os.environ, "KIMI_API_KEY": CANARY}
    line = [sys.executable, "-m", "conformance.cli", *arguments]
    done = subprocess.run(line, capture_output=True, env=environment, cwd=folder, timeout=600, check=False)  # noqa: S603 (ours)
    assert done.returncode in expected, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    return done.stdout.decode() + done.stderr.decode()


def cores(text: str) -> Iterator[str]:
    """What base64 of any text around the canary must hold."""
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + text.encode()).decode().rstrip("=")
        yield coded[(0, 2, 3)[before] : -1]


FORMS = [
    CANARY,
    CANARY.replace("/", "\\/"),
    quote(CANARY, safe=""),
    quote(CANARY, safe="").lower(),
    *cores(CANARY),
    *(core.replace("+", "-").replace("/", "_") for core in cores(CANARY)),
]
INNER = "7f3a+bird"  # a part that no escape changes


def unfolded(text: str) -> Iterator[str]:
    """The text, and what its base64 stands for: a journal keeps bodies so."""
    yield text
    for token in re.findall(r"[A-Za-z0-9+/]{16,}={0,2}", text):
        yield base64.b64decode(token + "=" * (-len(token) % 4)).decode("latin-1") if len(token) % 4 != 1 else ""


def sings(text: str) -> list[str]:
    return [form for part in unfolded(text) for form in (*FORMS, INNER) if form in part]


def test_the_search_for_the_canary_finds_it():
    for form in FORMS:
        assert sings(f"x {form} y")
    assert sings(base64.b64encode(f"user={CANARY}".encode()).decode())
    assert sings(base64.b64encode(json.dumps({"body": CANARY}).encode()).decode())


def test_run_writes_the_key_nowhere(tmp_path):
    hooks = merged([FAULTS[name].hooks() for name in ECHOES])
    with running(Settings(keys=frozenset({CANARY})), hooks=hooks) as server:
        arguments = ("--target", server.base_url, "--profile", "smoke", "--model", "kimi-k3", "--out", "out", "--rule")
        said = command("run", *arguments, "http.**", "--format", "json", folder=tmp_path, expected=(1,))
    assert "http.key-not-echoed" in said
    assert sings(said) == []
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in written} >= {"journal.jsonl", "run.jsonl", "report.json", "report.html", "junit.xml"}
    for path in written:
        assert sings(path.read_text("utf-8")) == [], path.name


@pytest.fixture
def evidence(tmp_path):
    """Files of several formats with the canary in every place, and with an answer that does not conform."""
    one = exchange(fixtures.load(fixtures.root() / "bases" / "chat.plain.yaml"), "1")
    said = b"".join(chunk.data for chunk in one.response.chunks).decode()
    coded = base64.b64encode(CANARY.encode()).decode()
    said = said.replace('"finish_reason":"stop"', f'"finish_reason":"{CANARY}"').replace(
        "The Berlin", f"{CANARY} {coded}"
    )
    url = f"https://me:{CANARY}@h.example/v1/chat/completions?api_key={quote(CANARY, safe='')}"
    headers = {"Authorization": f"Bearer {CANARY}", "Cookie": f"session={CANARY}", "x-api-key": CANARY}
    back = {"Content-Type": "application/json", "Set-Cookie": f"s={CANARY}", "X-Echo": CANARY}
    record = {
        "request": {"url": url, "headers": headers, "body": one.request.body.decode()},
        "response": {"status": 200, "headers": back, "body": said},
    }
    (tmp_path / "log.jsonl").write_text(json.dumps(record) + "\n", "utf-8")

    def pairs(values: dict) -> list:
        return [{"name": name, "value": value} for name, value in values.items()]

    entry = {
        "request": {
            "method": "POST",
            "url": url,
            "headers": pairs(headers),
            "postData": {"text": one.request.body.decode()},
        },
        "response": {"status": 200, "headers": pairs(back), "content": {"text": said}},
    }
    (tmp_path / "a.har").write_text(json.dumps({"log": {"entries": [entry]}}), "utf-8")
    lines = "".join(f"{name}: {value}\r\n" for name, value in back.items())
    sent = " ".join(f"-H '{name}: {value}'" for name, value in headers.items())
    text = f"curl -i '{url}' {sent} -d '{one.request.body.decode()}'\nHTTP/1.1 200 OK\r\n{lines}\r\n{said}"
    (tmp_path / "curl.txt").write_text(text, "utf-8")
    return ("log.jsonl", "a.har", "curl.txt")


@pytest.mark.parametrize("output", ["text", "json"])
def test_check_writes_the_key_nowhere(evidence, output, tmp_path):
    said = command("check", *evidence, "--format", output, "--journal", "new/out.jsonl", folder=tmp_path, expected=(1,))
    assert "finish.enum" in said
    assert sings(said) == []
    journal = (tmp_path / "new" / "out.jsonl").read_text("utf-8")
    assert journal.count("\n") == 4
    assert sings(journal) == []


def test_content_and_patterns_are_hidden_in_the_journal(evidence, tmp_path):
    arguments = ("--redact-content", "--redact", r"h\.example", "--journal", "out.jsonl")
    said = command("check", "log.jsonl", *arguments, folder=tmp_path, expected=(1,))
    journal = (tmp_path / "out.jsonl").read_text("utf-8")
    for text in (part for whole in (said, journal) for part in unfolded(whole)):
        assert "h.example" not in text
        assert "Berlin" not in text
    assert command("check", "out.jsonl", folder=tmp_path, expected=(1,)).count("must") == said.count("must")


def as_the_wire_says(connection: servers.Connection) -> None:
    """No HTTP, but a line that begins with the key that came."""
    request = connection.request() or b""
    connection.send(request.partition(b"Bearer ")[2].partition(b"\r\n")[0] + b" cust-42 is no HTTP\r\n\r\n")


@pytest.mark.parametrize("name", ["run", "fuzz", "constraints"])
def test_a_server_whose_first_line_is_the_key_does_not_make_it_known(name, tmp_path):
    with servers.serving(as_the_wire_says) as server:
        arguments = ("--target", server.url, *(() if name == "constraints" else ("--redact", r"cust-\d+")))
        said = command(name, *arguments, folder=tmp_path, expected=(3,))
    assert "does not answer in HTTP" in said
    assert "[key redacted]" in said
    assert ("cust-42" in said) == (name == "constraints")
    for text in (said, *(path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file())):
        assert sings(text) == []


def customers(connection: servers.Connection) -> None:
    """Answers that break a rule, with the number of a customer where it looks."""
    message = {"role": "assistant", "content": "Hello, cust-42."}
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": "kimi-k3",
        "choices": [{"index": 0, "message": message, "finish_reason": "cust-42"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    servers.fixed(200, json.dumps(answer).encode())(connection)


FUZZ = ("--protocol", "chat", "--model", "kimi-k3", "--examples", "8", "--max-calls", "40", "--seed", "1")


def test_fuzz_and_what_sends_its_failures_again_hide_keys_and_patterns(tmp_path):
    with servers.serving(customers) as server:
        target = ("--target", server.url)
        shown = command("fuzz", *target, *FUZZ, "--out", "open", folder=tmp_path, expected=(1,))
        said = command("fuzz", *target, *FUZZ, "--out", "out", "--redact", r"cust-\d+", folder=tmp_path, expected=(1,))
        [file] = (tmp_path / "out").glob("failure-*-finish.enum-chat.json")
        for name in ("run", "fuzz"):
            arguments = (*target, "--replay-failure", str(file))
            assert "cust-42" in command(name, *arguments, folder=tmp_path, expected=(1,))
            hidden = command(name, *arguments, "--redact", r"cust-\d+", folder=tmp_path, expected=(1,))
            assert "it still fails" in hidden
            assert "actual [redacted]" in hidden
            assert sings(hidden) == []
    assert "cust-42" in shown
    for text in (said, *(path.read_text("utf-8") for path in (tmp_path / "out").iterdir())):
        assert "cust-42" not in text
        assert sings(text) == []
    assert "[redacted]" in file.read_text("utf-8")


def test_a_pattern_changes_no_rule_and_no_surface_in_what_run_says(tmp_path):
    with running(Settings(keys=frozenset({CANARY}))) as server:
        arguments = ("--target", server.base_url, "--profile", "smoke", "--model", "kimi-k3", "--out", "out")
        command("run", *arguments, "--redact", "http|chat", folder=tmp_path, expected=(0, 1))
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert {verdict["rule"] for verdict in report["verdicts"]} == set(RULES)
    assert {verdict["protocol"] for verdict in report["verdicts"]} == {"chat", "messages", "responses"}


@pytest.mark.parametrize("target", ["http://me:{0}@127.0.0.1:9/v1", "http://127.0.0.1:9/v1?api_key={0}"])
def test_a_mistaken_target_does_not_show_the_key_that_it_holds(target, tmp_path):
    said = command("run", "--target", target.format(quote(CANARY, safe="")), folder=tmp_path, expected=(2,))
    assert "must be a base URL" in said
    assert sings(said) == []


FAILING = """
import base64, os

def test_fails():
    key = os.environ["KIMI_API_KEY"]
    print("sent", key, base64.b64encode(key.encode()).decode())
    headers = {"Authorization": f"Bearer {key}"}
    assert headers == {}, f"cust-{40 + 2}"
"""


@pytest.mark.parametrize("workers", [(), ("-p", "xdist.plugin", "-n", "1")], ids=["alone", "xdist"])
def test_a_failure_in_pytest_shows_no_key(workers, tmp_path):
    (tmp_path / "test_failing.py").write_text(FAILING, "utf-8")
    line = [sys.executable, "-m", "pytest", "-p", "conformance.plugin", "-l", "--junitxml=junit.xml", *workers]
    line += ["--kimi-redact", r"cust-\d+", "--kimi-out", "out", "test_failing.py"]
    environment = {**os.environ, "KIMI_API_KEY": CANARY, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(line, capture_output=True, env=environment, cwd=tmp_path, timeout=600, check=False)  # noqa: S603 (ours)
    said = done.stdout.decode() + done.stderr.decode() + (tmp_path / "junit.xml").read_text("utf-8")
    assert "[key redacted]" in said
    assert "test_fails" in said
    assert "cust-42" not in said
    assert sings(said) == []
