"""The command against servers that misbehave: no traceback, the right exit code, in bounded time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import hostile_servers as servers
import msgspec
import pytest

from conformance.reports import report_schema
from conformance.reports.runfile import read_run

KEY = "sk-hostile-0123456789abcdef"
SMALL = ("--profile", "smoke", "--model", "kimi-k3.1-pro")


FIELDS = ("id", "object", "type", "created", "model", "choices", "content", "output", "usage", "status")
WRONG_TYPES = json.dumps({name: [{}] for name in FIELDS}).encode()


@dataclass(frozen=True, kw_only=True)
class Case:
    handler: servers.Handler
    code: int
    words: str  # within what is printed
    seconds: float = 40  # generous: the machine may be busy
    options: tuple[str, ...] = SMALL


CASES = {
    "answers {} to everything": Case(handler=servers.fixed(200, b"{}"), code=1, words="body.required-fields"),
    "answers HTML to everything": Case(
        handler=servers.fixed(200, b"<html>hello</html>", media_type="text/html"),
        code=1,
        words="http.content-type.json",
    ),
    "answers an empty body": Case(handler=servers.fixed(200, b""), code=1, words="http.body.json"),
    "answers JSON of the wrong types": Case(handler=servers.fixed(200, WRONG_TYPES), code=1, words="body.schema"),
    "answers very deep JSON": Case(handler=servers.fixed(200, b"[" * 100_000), code=1, words="http.auth.missing-key"),
    "answers no UTF-8": Case(handler=servers.fixed(200, b'{"id": "\xff\xfe"}'), code=1, words="http.body.json"),
    "answers control characters": Case(
        handler=servers.fixed(400, json.dumps({"error": {"message": "\x1b[31m\x07\u202e", "type": 5}}).encode()),
        code=1,
        words="must",
    ),
    "redirects to itself": Case(handler=servers.fixed(302, b"", "Location: /"), code=1, words="http.status.documented"),
    "knows no route": Case(
        handler=servers.fixed(404, b"<html>", media_type="text/html"),
        code=3,
        words="has no route for the API",
        seconds=15,
    ),
    "rejects the key": Case(handler=servers.fixed(401, b"{}"), code=3, words="rejects the key", seconds=15),
    "closes the connection": Case(handler=servers.closes, code=3, words="closes the connection", seconds=15),
    "resets the connection": Case(handler=servers.resets, code=3, words="closes the connection", seconds=15),
    "speaks no HTTP": Case(handler=servers.no_http, code=3, words="does not answer in HTTP", seconds=15),
    "sends a huge header": Case(handler=servers.huge_header, code=3, words="does not answer in HTTP", seconds=15),
    "never answers": Case(handler=servers.silent, code=3, words="did not answer within", seconds=15),
    "drips its headers": Case(handler=servers.drips_headers, code=3, words="did not answer within", seconds=15),
    "stalls within the stream": Case(
        handler=servers.stalls, code=1, words="must", options=(*SMALL, "--timeout", "0.5")
    ),
    "breaks the stream off": Case(handler=servers.breaks_off, code=1, words="must"),
    "never ends its answers": Case(
        handler=servers.drips_body, code=1, words="http.content-type.json", options=(*SMALL, "--timeout", "0.5")
    ),
}


def command(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 (our own command)
        [sys.executable, "-m", "conformance.cli", *arguments],
        cwd=cwd,
        env={**os.environ, "KIMI_API_KEY": KEY, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("name", CASES)
def test_a_server_that(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    begun = time.monotonic()
    with servers.serving(case.handler) as server:
        ended = command("run", "--target", server.url, "--out", "out", *case.options, cwd=tmp_path)
    took = time.monotonic() - begun
    assert ended.returncode == case.code, ended.stdout + ended.stderr
    assert case.words in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
    assert not set(ended.stdout) & {"\x1b", "\x07", "\u202e"}
    assert took < case.seconds
    valid_report(tmp_path / "out")


def valid_report(out: Path) -> None:
    """The run file is whole, the report has the form of its schema, and no file holds the key."""
    run, verdicts, _ = read_run(out / "run.jsonl")
    report = msgspec.json.decode((out / "report.json").read_bytes())
    assert set(report_schema()["$defs"]["Report"]["required"]) <= report.keys()
    assert len(report["verdicts"]) == len(verdicts)
    assert report["run"]["target"] == run.target
    for path in out.iterdir():
        assert KEY not in path.read_text(encoding="utf-8"), path.name


def test_a_server_that_dies_during_the_run_leaves_it_partial(tmp_path: Path) -> None:
    with servers.serving(servers.dies_after(7)) as server:
        ended = command("run", "--target", server.url, "--out", "out", *SMALL, cwd=tmp_path)
    assert ended.returncode in (1, 3)
    run, _, _ = read_run(tmp_path / "out" / "run.jsonl")
    assert run.partial is not None
    assert "stopped answering" in run.partial


def test_a_port_that_nobody_listens_on_is_not_verified(tmp_path: Path) -> None:
    begun = time.monotonic()
    ended = command("run", "--target", "http://127.0.0.1:1", "--out", "out", cwd=tmp_path)
    assert ended.returncode == 3
    assert "http://127.0.0.1:1 cannot be reached" in ended.stdout
    assert time.monotonic() - begun < 15
    valid_report(tmp_path / "out")


def test_a_key_that_the_server_echoes_stands_in_no_file_and_is_a_finding(tmp_path: Path) -> None:
    with servers.serving(servers.always(servers.echoes)) as server:
        ended = command("run", "--target", server.url, "--out", "out", *SMALL, cwd=tmp_path)
    assert ended.returncode == 1
    report = msgspec.json.decode((tmp_path / "out" / "report.json").read_bytes())
    assert "http.key-not-echoed" in {finding["rule"] for finding in report["findings"]}
    assert KEY not in ended.stdout + ended.stderr
    valid_report(tmp_path / "out")
