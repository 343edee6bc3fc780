"""The command against servers that misbehave: no traceback, the right exit code, and an end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
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
    endless: bool = False  # it answers, and only a time-out ends the answers


CASES = {
    "answers {} to everything": Case(handler=servers.fixed(200, b"{}"), code=1, words="body.required-fields"),
    "answers HTML to everything": Case(
        handler=servers.fixed(200, b"<html>hello</html>", media_type="text/html"),
        code=1,
        words="http.content-type.json",
    ),
    "answers an empty body": Case(handler=servers.fixed(200, b""), code=1, words="http.body.json"),
    "answers JSON of the wrong types": Case(handler=servers.fixed(200, WRONG_TYPES), code=1, words="body.object-type"),
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
    ),
    "rejects the key": Case(handler=servers.fixed(401, b"{}"), code=3, words="rejects the key"),
    "closes the connection": Case(handler=servers.closes, code=3, words="closes the connection"),
    "resets the connection": Case(handler=servers.resets, code=3, words="closes the connection"),
    "speaks no HTTP": Case(handler=servers.no_http, code=3, words="does not answer in HTTP"),
    "sends a huge header": Case(handler=servers.huge_header, code=3, words="does not answer in HTTP"),
    "never answers": Case(handler=servers.silent, code=3, words="did not answer within"),
    "drips its headers": Case(handler=servers.drips_headers, code=3, words="did not answer within"),
    "stalls within the stream": Case(handler=servers.stalls, code=1, words="must", endless=True),
    "breaks the stream off": Case(handler=servers.breaks_off, code=1, words="must"),
    "never ends its answers": Case(handler=servers.drips_body, code=1, words="http.content-type.json", endless=True),
}


def command(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 (our own command)
        [sys.executable, "-m", "conformance.cli", *arguments],
        cwd=cwd,
        env={**os.environ, "KIMI_API_KEY": KEY, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize("name", CASES)
def test_a_server_that(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    out = tmp_path / "out"
    for seconds in servers.SHORT if case.endless else (300.0,):
        shutil.rmtree(out, ignore_errors=True)
        with servers.serving(case.handler) as server:
            options = ("--target", server.url, "--timeout", str(seconds), "--out", "out", *SMALL)
            ended = command("run", *options, cwd=tmp_path)
        if ended.returncode == case.code:
            break
    assert ended.returncode == case.code, ended.stdout + ended.stderr
    assert case.words in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
    assert not set(ended.stdout) & {"\x1b", "\x07", "\u202e"}
    valid_report(out)


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
    with servers.closed_port() as url:
        ended = command("run", "--target", url, "--out", "out", cwd=tmp_path)
    assert ended.returncode == 3
    assert f"{url} cannot be reached" in ended.stdout
    valid_report(tmp_path / "out")


def test_a_key_that_the_server_echoes_stands_in_no_file_and_is_a_finding(tmp_path: Path) -> None:
    with servers.serving(servers.always(servers.echoes)) as server:
        ended = command("run", "--target", server.url, "--out", "out", *SMALL, cwd=tmp_path)
    assert ended.returncode == 1
    report = msgspec.json.decode((tmp_path / "out" / "report.json").read_bytes())
    assert "http.key-not-echoed" in {finding["rule"] for finding in report["findings"]}
    assert KEY not in ended.stdout + ended.stderr
    valid_report(tmp_path / "out")
