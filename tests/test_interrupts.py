"""Ctrl-C, SIGTERM and SIGKILL while a run is under way."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import hostile_servers as servers
import msgspec
import pytest

from conformance.evidence import Journal, read
from conformance.plugin.result import Tally
from conformance.plugin.session import name_of
from conformance.plugin.workers import left_behind
from conformance.reports.runfile import read_run
from conformance.values import Chunk, Exchange, Protocol, Request, Response

PATIENCE = 120.0  # seconds: the machine may be busy
ANSWERED = 9  # requests of the run
LOOK = 3  # requests of the look before it
COMMAND = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from conformance.cli import main; main()"
)


def answers_some(connection: servers.Connection) -> None:
    """Answer so many requests that nothing is judged by, and leave the others without an answer."""
    while connection.request() is not None:
        if connection.number > LOOK + ANSWERED:
            connection.wait(PATIENCE)
            return
        connection.answer(200 if connection.number <= LOOK else 404, b"{}")


@contextlib.contextmanager
def started(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """The command in a process group of its own, which is over when this is left."""
    process = subprocess.Popen(  # noqa: S603 (our own command)
        [sys.executable, "-c", COMMAND, *arguments],
        cwd=cwd,
        env={**os.environ, "KIMI_API_KEY": "sk-interrupted-0123456789"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def until(condition, what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


SIGNALS = {
    "Ctrl-C": lambda pid: os.killpg(pid, signal.SIGINT),
    "SIGINT": lambda pid: os.kill(pid, signal.SIGINT),
    "SIGTERM": lambda pid: os.kill(pid, signal.SIGTERM),
}


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.parametrize("name", SIGNALS)
def test_a_run_that_is_interrupted_is_judged_as_far_as_it_came(
    name: str, workers: tuple[str, ...], tmp_path: Path
) -> None:
    options = ("run", "--profile", "smoke", "--out", "out", *workers)
    processes = int(workers[-1]) if workers else 1
    with (
        servers.serving(answers_some) as server,
        started(*options, "--target", server.url, cwd=tmp_path) as process,
    ):
        until(lambda: server.seen == LOOK + ANSWERED + processes, "every process waits for an answer")
        SIGNALS[name](process.pid)
        stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, stdout + stderr
    assert "not verified: partial run: interrupted" in stdout
    assert "interrupted: what came so far is judged" in stderr
    assert "Traceback" not in stdout + stderr
    out = tmp_path / "out"
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []
    run, verdicts, _ = read_run(out / "run.jsonl")
    report = msgspec.json.decode((out / "report.json").read_bytes())
    exchanges = read(out / "journal.jsonl").exchanges
    assert run.partial == report["run"]["partial"] == "interrupted"
    assert len(report["verdicts"]) == len(verdicts) > 0
    assert len(exchanges) == ANSWERED
    assert ANSWERED <= run.requests <= ANSWERED + processes
    blocks = [exchange.id.rpartition("/")[0] for exchange in exchanges]
    assert sum(one != two for one, two in pairwise(blocks)) == len(set(blocks)) - 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_before_anything_was_judged_leaves_no_folder(number: int, tmp_path: Path) -> None:
    with (
        servers.serving(servers.silent) as server,
        started("run", "--target", server.url, cwd=tmp_path) as process,
    ):
        until(lambda: list(tmp_path.glob("reports/*/.lock")), "the run begins")
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, stdout + stderr
    assert "interrupted: nothing was verified" in stderr
    assert "Traceback" not in stdout + stderr
    assert list(tmp_path.iterdir()) == []


TWICE = """
import sys, time
from conformance.cli.interrupts import Interrupts
interrupts = Interrupts()
with interrupts.caught():
    try:
        print("sending", flush=True)
        while True:
            time.sleep(0.01)
    except KeyboardInterrupt:
        print("judging", flush=True)
    while True:
        time.sleep(0.01)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_at_once_and_without_a_traceback(number: int) -> None:
    with script(TWICE) as process:
        assert process.stdout.readline() == "sending\n"
        process.send_signal(number)
        assert process.stdout.readline() == "judging\n"
        until(lambda: process.poll() is not None or process.send_signal(number), "the process ends")
        stderr = process.stderr.read()
    assert process.returncode == 3
    assert stderr.splitlines() == [
        "interrupted: what came so far is judged; once more ends at once",
        "interrupted again: ended without a report",
    ]


JUDGED = """
from conformance.cli.interrupts import Interrupts
interrupts = Interrupts()
with interrupts.caught():
    interrupts.judging()
    print("judging", flush=True)
    print(input(), flush=True)
"""


def test_a_signal_while_the_run_is_judged_loses_nothing() -> None:
    with script(JUDGED) as process:
        assert process.stdout.readline() == "judging\n"
        process.send_signal(signal.SIGTERM)
        assert process.stderr.readline().startswith("nothing more is sent, and what came is judged; once more")
        stdout, stderr = process.communicate("judged\n", timeout=PATIENCE)
        assert (process.returncode, stdout, stderr) == (0, "judged\n", "")


def script(code: str) -> subprocess.Popen[str]:
    before = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return subprocess.Popen(  # noqa: S603 (our own code)
        [sys.executable, "-c", before + code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


CHILD = """
import sys, time
from conformance.plugin.workers import end_with_parent
end_with_parent()
print("here", flush=True)
time.sleep(3600)
"""
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"


def test_a_worker_ends_when_the_process_that_started_it_is_killed() -> None:
    line = [sys.executable, "-c", PARENT, CHILD]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as parent:  # noqa: S603 (ours)
        assert parent.stdout.readline() == "here\n"
        parent.kill()
        assert parent.stdout.read() == ""  # the end of the pipe that the child held


def answered(number: int) -> Exchange:
    body = b'{"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}'
    headers = (("Content-Type", "application/json"),)
    return Exchange(
        id=f"short-answer/chat/kimi-k3/{number}",
        protocol=Protocol.CHAT,
        model="kimi-k3",
        request=Request(method="POST", url="http://127.0.0.1/v1/chat/completions", body=b"{}"),
        response=Response(status=200, headers=headers, chunks=(Chunk(ms=1, data=body),)),
    )


def test_journals_of_workers_that_could_not_tell_what_they_did_are_taken_over(tmp_path: Path) -> None:
    for number in range(3):
        with Journal(tmp_path / f".journal-gw{number}.jsonl") as journal:
            journal.extend(map(answered, range(1, number + 1)))
    known = Tally(journal=str(tmp_path / ".journal-gw1.jsonl"), order=(), requests=1, output_tokens=5)
    found = list(left_behind(tmp_path, [known], ("short-answer/chat/kimi-k3",)))
    assert [(Path(tally.journal).name, tally.requests, tally.output_tokens) for tally in found] == [
        (".journal-gw0.jsonl", 0, 0),
        (".journal-gw2.jsonl", 2, 10),
    ]
    assert {tally.order for tally in found} == {("short-answer/chat/kimi-k3",)}


def test_a_node_id_names_the_probe_as_its_exchanges_do() -> None:
    assert name_of("test_answers.py::test_short_answer[chat/kimi-k3.1-pro]") == "short-answer/chat/kimi-k3.1-pro"
    assert name_of("test_answers.py::test_short_answer") == "short-answer"
