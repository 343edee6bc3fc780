from __future__ import annotations

import json
import os
from pathlib import Path

import hostile_servers as servers
import pytest
from click.testing import CliRunner
from commands import command

from conformance.cli import main
from conformance.models import ALL
from conformance.plugin.folder import Folder
from conformance.values import Protocol

SMOKE = ("run", "--profile", "smoke", "--seed", "7", "--out", "out")


def test_a_smoke_run_sends_at_most_sixty_requests(tmp_path: Path) -> None:
    ran = command(*SMOKE, cwd=tmp_path)
    assert ran.code == 0, ran.stdout + ran.stderr
    preflight = len(Protocol)
    assert ran.report["run"]["requests"] + preflight <= 60
    assert {(exchange.protocol, exchange.model) for exchange in ran.exchanges} == {
        (protocol, model) for protocol in Protocol for model in ALL
    }


def test_json_goes_to_standard_output_and_words_to_standard_error(tmp_path: Path) -> None:
    ran = command(*SMOKE, "--format", "json", "--protocol", "chat", "--model", "moonshotai/kimi-k3", cwd=tmp_path)
    report = json.loads(ran.stdout)
    assert report["run"]["models"] == ["kimi-k3"]
    assert report["run"]["protocols"] == ["chat"]
    assert report["counts"]["pass"] == sum(verdict["outcome"] == "pass" for verdict in report["verdicts"])
    assert report["decision"]["headline"] == "conforming"
    assert report["findings"] == ran.report["findings"]
    assert "conforming: no failure" in ran.stderr


def test_workers_give_the_same_verdicts_in_the_same_order(tmp_path: Path) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    for folder in (alone, together):
        folder.mkdir()
    one = command(*SMOKE, cwd=alone)
    two = command(*SMOKE, "-n", "2", cwd=together)
    assert (one.code, two.code) == (0, 0), two.stdout + two.stderr
    assert [exchange.id for exchange in two.exchanges] == [exchange.id for exchange in one.exchanges]
    assert two.report["verdicts"] == one.report["verdicts"]
    assert two.report["run"]["requests"] == one.report["run"]["requests"]
    assert not [path.name for path in two.out.iterdir() if path.name.startswith(".")]


def test_a_rule_selects_the_probes_that_are_for_it_and_is_judged_alone(tmp_path: Path) -> None:
    ran = command("run", "--rule", "usage.prompt-monotonic", "--out", "out", cwd=tmp_path)
    assert ran.code == 0, ran.stdout + ran.stderr
    assert {exchange.probe for exchange in ran.exchanges} == {"more-words"}
    assert {verdict["rule"] for verdict in ran.report["verdicts"]} == {"usage.prompt-monotonic"}
    assert {verdict["outcome"] for verdict in ran.report["verdicts"]} == {"pass"}


def test_a_pattern_that_no_probe_of_the_profile_is_for_verifies_nothing(tmp_path: Path) -> None:
    ran = command(*SMOKE, "--rule", "cache.*", cwd=tmp_path)
    assert ran.code == 3
    assert "not verified" in ran.stdout


def test_the_basis_leaves_rules_out(tmp_path: Path) -> None:
    ran = command(*SMOKE, "--basis", "documented", "--protocol", "chat", cwd=tmp_path)
    judged = {verdict["rule"] for verdict in ran.report["verdicts"]}
    assert "usage.total-is-sum" in judged
    assert "usage.present" not in judged


def test_strict_makes_a_warning_fail(tmp_path: Path) -> None:
    handler = servers.fixed(302, b"", "Location: /")
    options = ("run", "--rule", "http.status.documented", "--profile", "smoke", "--protocol", "chat", "--out", "out")
    with servers.serving(handler) as server:
        lenient = command(*options, "--target", server.url, cwd=tmp_path)
        strict = command(*options, "--target", server.url, "--strict", cwd=tmp_path)
    assert (lenient.code, strict.code) == (0, 1), lenient.stdout + strict.stdout


def test_the_report_is_appended_to_the_step_summary_of_github(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    command(*SMOKE, "--protocol", "chat", cwd=tmp_path, GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text().startswith("before\n")
    assert (tmp_path / "out" / "report.md").read_text().strip() in summary.read_text()


def test_no_run_overwrites_another(tmp_path: Path) -> None:
    for _ in range(2):
        command("run", "--profile", "smoke", "--protocol", "chat", "--model", "kimi-k3", cwd=tmp_path)
    first, second = sorted(path.name for path in (tmp_path / "reports").iterdir())
    assert first.endswith("-embedded")
    assert second == f"{first}-2" or second[:10] > first[:10]  # midnight passed between them


def test_the_target_may_come_from_the_environment(tmp_path: Path) -> None:
    ran = command("run", "--out", "out", cwd=tmp_path, KIMI_BASE_URL="http://127.0.0.1:1")
    assert ran.code == 3
    assert "http://127.0.0.1:1 cannot be reached" in ran.stdout


def test_settings_of_the_surrounding_project_have_no_part(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "--no-such-option"\n')
    (tmp_path / "conftest.py").write_text("raise RuntimeError\n")
    ran = command(*SMOKE, "--protocol", "chat", cwd=tmp_path, PYTEST_ADDOPTS="--no-such-option", PYTEST_PLUGINS="nope")
    assert ran.code == 0, ran.stdout + ran.stderr


USAGE = {
    "--target embeded": "did you mean 'embedded'",
    "--target ftp://host": "expected http or https",
    "--target https://host.example": "KIMI_API_KEY is not set",
    "--target direct --key-env NOT_THERE": "NOT_THERE is not set",
    "--model kimi-k31-pro": "Did you mean kimi-k3.1-pro?",
    "--protocol responces": "Did you mean responses?",
    "--profile smok": "Did you mean smoke?",
    "--basis documnted": "Did you mean documented?",
    "--rule usage": "Nearest: usage.**",
    "--rule usage.total-is-sun": "usage.total-is-sum",
    "-n 0": "Expected 1 to 256, or auto",
    "-n many": "Expected 1 to 256, or auto",
    "--timeout 0": "--timeout",
    "--timeout soon": "--timeout",
    "--seed -1": "--seed",
    "--format yaml": "Expected one of text, json",
    "--modl kimi-k3": "--model",
}


@pytest.mark.parametrize("options", USAGE)
def test_a_bad_value_is_refused_with_the_nearest_valid_one(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KIMI_API_KEY", raising=False)
    ended = CliRunner().invoke(main, ["run", *options.split()])
    assert ended.exit_code == 2, ended.output
    assert USAGE[options] in ended.output
    assert not (tmp_path / "reports").exists()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    ran = command("run", "--out", "/proc/nowhere/out", cwd=tmp_path)
    assert ran.code == 2
    assert "/proc/nowhere/out cannot be made" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_folder_that_another_run_writes_into_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    mine = Folder.claim(tmp_path / "out")
    (mine.path / ".journal-gw0.jsonl").touch()
    ran = command("run", "--out", "out", cwd=tmp_path)
    assert ran.code == 2
    assert f"another run (process {os.getpid()}) writes into out: wait until it has ended, or name" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert sorted(path.name for path in mine.path.iterdir()) == [".journal-gw0.jsonl", ".lock"]
    mine.release()


@pytest.mark.parametrize("options", [("--record", "/proc/nowhere"), ("--record", "a-file"), ("--out", "a-file")])
def test_an_attempt_that_fails_before_anything_is_sent_leaves_no_folder(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "a-file").touch()
    ran = command("run", *options, cwd=tmp_path)
    assert ran.code == 2
    assert f"{options[1]} cannot be made" in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a-file"]
