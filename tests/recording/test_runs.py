"""Runs recorded and replayed, from the command and from pytest."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from commands import Ran, command

from conformance import reference
from conformance.cli import main
from conformance.recording.library import committed
from conformance.recording.outcomes import load_outcomes
from conformance.reports.runfile import read_run
from conformance.rules import RULES

SMOKE = ("--profile", "smoke", "--protocol", "chat")
CANARY = "sk-canary-0d9f8e7c/6b5a+4321"
DATA = Path(__file__).parents[2] / "cassettes"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    ran = command("run", *SMOKE, "--seed", "7", "--record", "--out", "out", cwd=tmp_path_factory.mktemp("recorded"))
    assert ran.code == 0, ran.stdout + ran.stderr
    return ran


@pytest.fixture
def tapes(recorded: Ran, tmp_path: Path) -> Path:
    """A copy of the recorded cassettes, to be damaged."""
    return Path(shutil.copytree(recorded.out.parent / "cassettes", tmp_path / "cassettes"))


def verdicts(ran: Ran):
    _, found, _ = read_run(ran.out / "run.jsonl")
    return [(verdict.rule, verdict.protocol, verdict.model, verdict.outcome, verdict.exercised) for verdict in found]


def test_a_replay_gives_the_verdicts_of_the_run_that_recorded(recorded: Ran, tapes: Path, tmp_path: Path):
    ran = command(
        "run",
        "--protocol",
        "chat",
        "--replay",
        "--out",
        "out",
        cwd=tmp_path,
        KIMI_BASE_URL="https://unreachable.example",
    )
    assert ran.code == 0, ran.stdout + ran.stderr
    assert "replay of embedded" in ran.stdout
    assert verdicts(ran) == verdicts(recorded)
    assert [e.response for e in ran.exchanges] == [e.response for e in recorded.exchanges]
    assert [e.started for e in ran.exchanges] == [e.started for e in recorded.exchanges]
    assert ran.report["run"]["seed"] == 7
    assert ran.report["run"]["requests"] == recorded.report["run"]["requests"]


MEDDLER = """
import datetime, socket, time

AHEAD = 400.25 * 86400  # seconds
Real, real, steady = datetime.datetime, time.time, time.monotonic

class Later(Real):
    @classmethod
    def now(cls, tz=None):
        return Real.fromtimestamp(real() + AHEAD, tz)

datetime.datetime = Later
time.time = lambda: real() + AHEAD
time.monotonic = lambda: steady() * 50

def pytest_collection_modifyitems(items):
    items.reverse()

def pytest_runtest_teardown(item):
    try:
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    except RuntimeError:
        return
    except OSError:
        pass
    raise AssertionError("the network is open")
"""


def test_another_day_a_slow_machine_any_order_and_several_processes_give_the_same_without_a_network(
    recorded: Ran, tapes: Path, tmp_path: Path
):
    (tmp_path / "meddler.py").write_text(MEDDLER)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("KIMI_", "GITHUB_", "PYTEST_"))}
    options = [
        "--pyargs",
        "conformance.suite",
        "-p",
        "meddler",
        "-p",
        "conformance.plugin",
        "-p",
        "xdist.plugin",
        "-n",
        "2",
        "--kimi-replay",
        str(tapes),
    ]
    options += ["--kimi-profile", "smoke", "--kimi-protocol", "chat", "--kimi-out", "out"]
    ended = subprocess.run(  # noqa: S603 (our own suite)
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        cwd=tmp_path,
        env={**clean, "PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    ran = Ran(code=0, stdout="", stderr="", out=tmp_path / "out")
    assert verdicts(ran) == verdicts(recorded)
    began = [datetime.fromisoformat(one.report["run"]["started"]) for one in (recorded, ran)]
    assert began[1] - began[0] > timedelta(days=400)


def test_probes_without_a_cassette_or_with_another_request_are_not_exercised_and_say_so(tapes: Path, tmp_path: Path):
    (tapes / "chat" / "call-required.kimi-k3.1-pro.yaml").unlink()
    changed = tapes / "chat" / "short-answer.kimi-k3.yaml"
    changed.write_text(changed.read_text().replace('"stream": true', '"stream": false'))
    ran = command("run", *SMOKE, "--replay", str(tapes), "--out", "out", cwd=tmp_path)
    assert ran.code == 3, ran.stdout + ran.stderr
    assert "partial run: 2 probes could not be replayed" in ran.stdout
    told = {
        verdict["reason"]
        for verdict in ran.report["verdicts"]
        if verdict["outcome"] == "not exercised" and verdict["reason"]
    }
    assert "call-required/chat/kimi-k3.1-pro: there is no cassette of it" in told
    assert any("holds another request at step 2: body /stream: recorded False, now True" in reason for reason in told)
    streams = [v for v in ran.report["verdicts"] if (v["rule"], v["model"]) == ("stream.complete", "kimi-k3")]
    assert [verdict["outcome"] for verdict in streams if verdict["protocol"] == "chat"] == ["not exercised"]


def test_a_night_is_replayed_as_it_was_chosen_on_another_day(tmp_path: Path):
    cells = ("--protocol", "messages", "--model", "kimi-k3")
    options = ("--profile", "nightly", "--date", "2026-01-02", "--record", "--out", "out")
    ran = command("run", *cells, *options, cwd=tmp_path)
    again = command("run", *cells, "--replay", "-n", "2", "--out", "again", cwd=tmp_path)
    assert (ran.code, again.code) == (0, 0), again.stdout + again.stderr
    assert again.report["run"]["requests"] == ran.report["run"]["requests"]
    assert verdicts(Ran(code=0, stdout="", stderr="", out=tmp_path / "again")) == verdicts(ran)
    other = command("run", *cells, "--replay", "--date", "2026-01-03", "--out", "other", cwd=tmp_path)
    assert other.code == 2
    assert "recorded for the night of 2026-01-02, not 2026-01-03" in other.stderr


def test_recording_again_takes_the_seed_of_the_folder(recorded: Ran, tapes: Path, tmp_path: Path):
    options = ("run", *SMOKE, "--rule", "tool.*", "--model", "kimi-k3.1-pro", "--record", "--out", "out")
    ran = command(*options, cwd=tmp_path)
    assert ran.report["run"]["seed"] == 7
    assert not (tapes / "verdicts.json").exists()
    again = command("run", *SMOKE, "--replay", "--out", "again", cwd=tmp_path)
    assert again.code == 0, again.stdout + again.stderr


def test_no_key_is_in_anything_that_is_recorded(tmp_path: Path):
    with reference.running(reference.Settings(keys=(CANARY,))) as server:
        options = ("run", *SMOKE, "--target", server.base_url, "--key-env", "MY_KEY", "--record", "--out", "out")
        ran = command(*options, cwd=tmp_path, MY_KEY=CANARY)
    assert (tmp_path / "cassettes" / "verdicts.json").exists(), ran.stdout + ran.stderr
    forms = {CANARY, quote(CANARY, safe=""), base64.b64encode(CANARY.encode()).decode().rstrip("=")}
    texts = {path: path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file()}
    assert len(texts) > 10
    leaks = [path for path, text in texts.items() for form in forms if form in text]
    assert leaks == []
    assert not any(form in ran.stdout + ran.stderr for form in forms)
    assert (
        "Authorization: [Bearer REDACTED]"
        in (tmp_path / "cassettes" / "chat" / "short-answer.kimi-k3.yaml").read_text()
    )


USAGE = {
    "--replay nowhere": "there is no cassette in nowhere",
    "--replay {tapes} --seed 8": "recorded with seed 7, not 8",
    "--record {tapes} --profile smoke --seed 8": "recorded with seed 7, not 8",
    "--replay {tapes} --record other": "exclude each other",
    "--replay {tapes} --target http://127.0.0.1:1": "it takes no --target",
    "--record {tapes} --profile smoke --target http://127.0.0.1:1": "holds cassettes of embedded",
    "--replay {tapes} --profile full": "recorded with profile smoke, not full",
    "--record {tapes}": "recorded with profile smoke, not full",
    "--record /proc/nowhere": "/proc/nowhere cannot be made",
}


@pytest.mark.parametrize("options", USAGE)
def test_what_cannot_be_recorded_or_replayed_is_refused_before_anything_is_sent(
    options: str, tapes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(main, ["run", *options.format(tapes=tapes).split(), "--out", "out"])
    assert ended.exit_code == 2, ended.output
    assert USAGE[options] in ended.output + capfd.readouterr().err
    assert not (tmp_path / "out" / "run.jsonl").exists()


def test_a_damaged_folder_is_refused_with_the_file_and_the_reason(tapes: Path, tmp_path: Path):
    (tapes / "chat" / "short-answer.kimi-k3.yaml").write_text("interactions: nothing\n")
    ran = command("run", "--replay", str(tapes), "--out", "out", cwd=tmp_path)
    assert ran.code == 2
    assert "short-answer.kimi-k3.yaml: a cassette that kimi-conformance did not record" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.skipif(not DATA.is_dir(), reason="the cassettes are not here")
def test_the_committed_set_replays_to_what_the_recording_run_decided(tmp_path: Path):
    ran = command("run", "--replay", str(committed()), "-n", "2", "--out", "out", cwd=tmp_path)
    assert ran.code == 0, ran.stdout + ran.stderr
    known = load_outcomes(committed())
    assert known is not None
    assert len(known) > 1000
    found = {f"{v['rule']}/{v['protocol']}/{v['model']}": v["outcome"] for v in ran.report["verdicts"]}
    kept = {case: outcome for case, outcome in known.items() if case.partition("/")[0] in RULES}
    assert {case: found[case] for case in kept} == kept


@pytest.mark.skipif(not DATA.is_dir(), reason="the cassettes are not here")
def test_the_committed_set_is_small_and_marked_as_recorded_from_the_reference_server():
    files = [path for path in DATA.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 10_000_000
    heads = [path.read_text("utf-8")[:1000] for path in files if path.suffix == ".yaml"]
    assert all(re.search(r"(?m)^  reference: true$", head) for head in heads)
