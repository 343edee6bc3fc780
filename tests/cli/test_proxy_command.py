"""``proxy``: as it is used, with an upstream that is right, wrong or away."""

from __future__ import annotations

import base64
import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.evidence import read
from conformance.reference import Settings, running
from conformance.reference.faults import FAULTS

CANARY = "sk-canary/0123456789+abcdef"
FAULT = "usage-total-off-by-one"
SECONDS = 60


@contextmanager
def proxying(upstream: str, out: Path, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [
        sys.executable,
        "-u",
        "-m",
        "conformance.cli",
        "proxy",
        "--upstream",
        upstream,
        "--listen",
        "127.0.0.1:0",
    ]
    process = subprocess.Popen(  # noqa: S603 (ours)
        [*command, "--out", str(out), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    try:
        lines = process.stderr if "json" in arguments else process.stdout
        line = lines.readline()
        assert line.startswith("listening on http://"), line
        yield line.split()[2].rstrip(","), process
    finally:
        process.kill()
        process.wait(SECONDS)
        process.stdout.close()
        process.stderr.close()


def ask(base_url: str, *, text: str = "Reply with OK.", stream: bool = False) -> int:
    body = {"model": "kimi-k3", "messages": [{"role": "user", "content": text}], "stream": stream}
    request = urllib.request.Request(  # noqa: S310 (loopback)
        f"{base_url}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {CANARY}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as response:  # noqa: S310 (loopback)
            response.read()
            return response.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def ended(process: subprocess.Popen[str], number: signal.Signals | None = signal.SIGINT) -> tuple[int, str, str]:
    if number is not None:
        process.send_signal(number)
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, out, err


@pytest.fixture(scope="module")
def right() -> Iterator[str]:
    with running(Settings(keys=frozenset({CANARY})), addresses=1) as server:
        yield server.base_url


@pytest.fixture(scope="module")
def wrong() -> Iterator[str]:
    with running(Settings(keys=frozenset({CANARY})), hooks=FAULTS[FAULT].hooks(), addresses=1) as server:
        yield server.base_url


def test_what_is_right_conforms_and_leaves_journal_and_reports(right: str, tmp_path: Path):
    with proxying(right, tmp_path) as (base_url, process):
        assert ask(base_url) == 200
        assert ask(base_url, stream=True) == 200
        code, out, err = ended(process, signal.SIGTERM)
    assert (code, err) == (0, "")
    assert "2 exchanges judged" in out
    assert out.splitlines()[-1].startswith("conforming: ")
    assert len(read(str(tmp_path / "journal.jsonl")).exchanges) == 2
    made = {"journal.jsonl", "junit.xml", "report.html", "report.json", "report.md", "report.schema.json", "run.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} == made
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert (report["run"]["profile"], report["run"]["target"], report["run"]["requests"]) == ("proxy", right, 2)


def test_a_violation_is_printed_as_it_is_found_and_no_form_of_the_key_anywhere(wrong: str, tmp_path: Path):
    with proxying(wrong, tmp_path, "--curl") as (base_url, process):
        process.stdout.readline()
        ask(base_url)
        live = process.stdout.readline()
        assert any(f"must    {rule}: " in live for rule in FAULTS[FAULT].caught_by), live
        ask(base_url, text=f"Reply with exactly: {CANARY}", stream=True)
        ask(base_url, text=f"Reply with exactly: {base64.b64encode(CANARY.encode()).decode()}")
        code, out, err = ended(process)
    assert code == 1
    assert "not conforming: " in out
    assert '"$KIMI_API_KEY"' in out
    written = [live.encode(), out.encode(), err.encode(), *(path.read_bytes() for path in tmp_path.iterdir())]
    coded = [base64.b64encode(b"x" * shift + CANARY.encode())[4:-4] for shift in range(3)]
    for form in (CANARY.encode(), quote(CANARY, safe="").encode(), CANARY.replace("/", "\\/").encode(), *coded):
        assert not [text for text in written if form in text], form
    bodies = [
        (one.request.body, b"".join(chunk.data for chunk in one.response.chunks))
        for one in read(str(tmp_path / "journal.jsonl")).exchanges
    ]
    assert not [body for pair in bodies for body in pair if CANARY.encode() in body or coded[0] in body]


def test_fail_fast_stops_at_the_first_must(wrong: str, tmp_path: Path):
    with proxying(wrong, tmp_path, "--fail-fast") as (base_url, process):
        ask(base_url)
        code, out, _ = ended(process, None)
    assert code == 1
    assert out.splitlines()[-1].startswith("not conforming: ")


def test_json_is_the_report_on_standard_output_alone(wrong: str, tmp_path: Path):
    with proxying(wrong, tmp_path, "--format", "json") as (base_url, process):
        ask(base_url)
        code, out, err = ended(process)
    report = json.loads(out)
    assert (code, report["decision"]["code"]) == (1, 1)
    assert {entry["rule"] for entry in report["findings"]} & set(FAULTS[FAULT].caught_by)
    assert "must    " in err


def test_other_machines_are_let_in_only_by_a_flag_and_with_a_warning(right: str, tmp_path: Path):
    with proxying(right, tmp_path, "--listen", "0.0.0.0:0", "--allow-remote") as (base_url, process):
        assert ask(base_url.replace("0.0.0.0", "127.0.0.1")) == 200  # noqa: S104 (it is what is tested)
        code, _, err = ended(process)
    assert code == 0
    assert err == "warning: other machines can reach 0.0.0.0 and use the upstream through it\n"


def test_an_upstream_that_is_away_is_not_verified(tmp_path: Path):
    with proxying("http://127.0.0.1:9", tmp_path) as (base_url, process):
        assert ask(base_url) == 502
        code, out, _ = ended(process)
    assert code == 3
    assert out.splitlines()[-1].startswith("not verified: ")


def test_nothing_that_passed_is_not_verified(right: str, tmp_path: Path):
    with proxying(right, tmp_path) as (_, process):
        code, out, _ = ended(process)
    assert code == 3
    assert "no exchange of the three endpoints passed" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--upstream", "https://h", "--listen", "0.0.0.0:0"], "--allow-remote"),
        (["--upstream", "https://h", "--listen", "nowhere"], "expected HOST:PORT"),
        (["--upstream", "h"], "no base URL"),
        (["--upstream", "https://u:sk-secret-0123456@h"], "without user"),
        (["--upstream", "https://h", "--rule", "usage.totol"], "Nearest"),
        ([], "--upstream"),
    ],
)
def test_wrong_use_is_named(arguments: list[str], words: str, tmp_path: Path):
    found = CliRunner().invoke(main, ["proxy", "--out", str(tmp_path / "out"), *arguments])
    assert found.exit_code == 2
    assert words in found.output
    assert "sk-secret" not in found.output


def test_a_port_that_is_taken_is_named(right: str, tmp_path: Path):
    taken = right.removeprefix("http://")
    found = CliRunner().invoke(main, ["proxy", "--upstream", right, "--listen", taken, "--out", str(tmp_path)])
    assert found.exit_code == 2
    assert "Choose another with --listen" in found.output
