"""The pytest plugin as pytest users meet it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.plugin import is_whole
from conformance.plugin.options import add_options
from conformance.plugin.settings import from_options
from conformance.values import Protocol


def configured(*options: str) -> pytest.Config:
    """pytest's configuration with these options, of which only ``getoption`` is asked."""
    parser = pytest.Parser(_ispytest=True)
    add_options(parser)
    known = parser.parse_known_args(options)
    return SimpleNamespace(getoption=lambda name: getattr(known, name.removeprefix("--").replace("-", "_")))


SUITE = Path(__file__).parents[1] / "conformance" / "suite"
SMOKE = ("--pyargs", "conformance.suite", "--kimi-profile", "smoke", "--kimi-protocol", "chat", "--kimi-out", "out")


def pytest_in(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("KIMI_", "GITHUB_", "PYTEST_"))}
    return subprocess.run(  # noqa: S603 (our own suite)
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conformance.plugin", *arguments],
        cwd=folder,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_the_suite_runs_under_pytest_and_ends_with_the_decision(tmp_path: Path) -> None:
    ended = pytest_in(tmp_path, *SMOKE)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "conforming: no failure" in ended.stdout
    assert (tmp_path / "out" / "report.html").exists()


def test_the_suite_runs_without_any_other_plugin(tmp_path: Path) -> None:
    ended = pytest_in(tmp_path, *SMOKE, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("selection", [("-k", "short"), ("--deselect", f"{SUITE}/test_answers.py")])
def test_a_selection_of_pytest_is_never_conforming(selection: tuple[str, ...], tmp_path: Path) -> None:
    if selection[0] == "--deselect":
        selection = (*selection, "-k", "not short")
    ended = pytest_in(tmp_path, *SMOKE, *selection)
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "partial run: only" in ended.stdout


def test_one_file_of_the_suite_is_never_conforming(tmp_path: Path) -> None:
    ended = pytest_in(tmp_path, str(SUITE / "test_turns.py"), "--kimi-model", "kimi-k3", "--kimi-out", "out")
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "only a part of the suite was selected" in ended.stdout


def test_collecting_sends_nothing(tmp_path: Path) -> None:
    ended = pytest_in(tmp_path, *SMOKE, "--collect-only")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "test_short_answer[chat/kimi-k3]" in ended.stdout
    assert not (tmp_path / "out").exists()


def test_a_probe_that_raises_is_an_internal_error_and_the_run_is_partial(tmp_path: Path) -> None:
    broken = "import pytest\n\n@pytest.hookimpl\ndef pytest_runtest_call(item):\n    raise RuntimeError('a bug')\n"
    (tmp_path / "breaker.py").write_text(broken)
    ended = pytest_in(tmp_path, "-p", "breaker", *SMOKE, PYTHONPATH=str(tmp_path))
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "internal error in the probe test_" in ended.stdout
    assert "a bug" in ended.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--kimi-target embeded", "did you mean 'embedded'"),
        ("--kimi-model kimi-k31", "did you mean kimi-k3"),
        ("--kimi-protocol responces", "did you mean responses?"),
        ("--kimi-profile ful", "did you mean full?"),
        ("--kimi-basis docs", "expected one of documented, protocol"),
        ("--kimi-rule usage", "nearest: usage.**"),
        ("--kimi-seed soon", "'soon' is not a number"),
        ("--kimi-timeout -1", "expected a number above 0"),
        ("--kimi-rpm nan", "expected a number above 0"),
    ],
)
def test_a_bad_option_is_refused_with_the_nearest_valid_value(options: str, words: str) -> None:
    with pytest.raises(pytest.UsageError, match=re.escape(words)):
        from_options(configured(*options.split()))


def test_a_bad_option_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    ended = pytest_in(tmp_path, *SMOKE, "--kimi-target", "embeded")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "did you mean 'embedded'" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "out").exists()


def test_options_narrow_the_run_in_the_order_of_the_documents() -> None:
    settings = from_options(
        configured(
            *("--kimi-model", "kimi-k3", "--kimi-model", "moonshotai/kimi-k3.1-pro", "--kimi-protocol", "responses"),
            *("--kimi-protocol", "chat", "--kimi-seed", "7", "--kimi-timeout", "30", "--kimi-rpm", "60"),
        )
    )
    assert settings.models == ("kimi-k3.1-pro", "kimi-k3")
    assert settings.protocols == (Protocol.CHAT, Protocol.RESPONSES)
    assert settings.seed == 7
    assert settings.limits(workers=2).rpm == 30
    assert settings.limits().total_timeout == 30


def test_a_seed_is_drawn_where_none_is_given() -> None:
    assert from_options(configured()).seed != from_options(configured()).seed


def test_other_pytest_runs_do_not_pay_for_the_plugin(tmp_path: Path) -> None:
    code = "import conformance.plugin, sys; print(sorted(m for m in sys.modules if m.startswith('conformance')))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 (likewise)
    assert ended.stdout.strip() == "['conformance', 'conformance.plugin', 'conformance.plugin.options']"


def test_the_suite_stays_out_of_runs_that_did_not_ask_for_it(tmp_path: Path) -> None:
    clean = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ended = subprocess.run(  # noqa: S603 (likewise)
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(SUITE)],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("argument", "whole"),
    [
        ("conformance.suite", True),
        (str(SUITE), True),
        (f"{SUITE}/", True),
        ("conformance.suite.test_turns", False),
        (f"{SUITE}/test_turns.py", False),
        (f"{SUITE}/test_turns.py::test_history", False),
        ("tests", False),
    ],
)
def test_only_all_of_the_suite_is_the_whole_of_it(argument: str, whole: bool) -> None:
    assert is_whole(argument) is whole
