"""The group: what it imports, what it says of a mistake, and which exit code each end has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from conformance.cli import group
from conformance.cli.group import COMMANDS, main

HEAVY = ("pytest", "starlette", "uvicorn", "jsonschema", "jsonschema_rs", "httpx", "jinja2", "rich", "yaml")
SHOW_IMPORTS = """
import sys
from pathlib import Path
from conformance.cli import main
try:
    main({arguments})
finally:
    print(*sys.modules, file=sys.stderr)
"""
DO_LITTLE = """
from counting import calls_below
with calls_below(1_000_000):
    try:
        from conformance.cli import main
        main({arguments})
    except SystemExit as ended:
        assert not ended.code
"""
SECONDS = 300  # of patience with a process
HOSTILE = "\x1b[31mevil\u202e"


def modules_after(*arguments: str) -> set[str]:
    command = [sys.executable, "-c", SHOW_IMPORTS.format(arguments=list(arguments))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)  # noqa: S603 (our own code)
    return set(done.stderr.split())


def test_help_imports_nothing_heavy():
    assert modules_after("--help") & set(HEAVY) == set()


def test_rules_imports_no_server_no_suite_and_no_validator():
    assert modules_after("rules", "finish.*") & {"pytest", "starlette", "uvicorn", "httpx", "jsonschema_rs"} == set()


@pytest.mark.parametrize("arguments", [("--help",), ("rules",), ("rules", "--format", "json")])
def test_a_fresh_process_has_little_to_do(arguments):
    command = [sys.executable, "-c", DO_LITTLE.format(arguments=list(arguments))]
    tests = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, cwd=tests, timeout=SECONDS, check=False)  # noqa: S603 (our own code)
    assert done.returncode == 0, done.stderr.decode()


def test_help_lists_every_command_of_the_table():
    result = CliRunner().invoke(main, ["-h"])
    assert result.exit_code == 0
    assert all(f"  {name} " in result.output for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_exists_under_its_name(name):
    result = CliRunner().invoke(main, [name, "-h"])
    assert result.exit_code == 0
    assert name in result.output.splitlines()[0]


def test_version():
    result = CliRunner().invoke(main, ["--version"])
    assert result.exit_code == 0
    assert result.output.startswith("kimi-conformance, version ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chek"], "No command 'chek'. Did you mean check?"),
        (["qqq"], f"Commands: {', '.join(COMMANDS)}."),
        (["check"], "Missing argument 'FILE…'"),
        (["check", "--fromat", "json", "x"], "--format"),
        (["check", "--format", "jsn", "x"], "'jsn' is no format. Did you mean json?"),
        (["check", "--protocol", "massages", "x"], "Did you mean messages?"),
        (["check", "--model", "kimi-k4", "x"], "Did you mean kimi-k3?"),
        (["check", "--basis", "zzz", "x"], "Expected one of documented, protocol."),
        (["check", "--rule", "usage", "x"], "No rule matches 'usage'. Nearest: usage.**."),
        (["check", "--rule", "\x1b[31m", "x"], "kimi-conformance rules lists them."),
        (["rules", "finish.enm"], "Nearest: finish.enum"),
        (["explain", "usage.total-is-sun"], "No rule 'usage.total-is-sun'. Nearest: usage.total-is-sum"),
        (["explain", "body"], "Nearest: body.**."),
        (["spec", "sho"], "Commands: show, list, source."),
        (["spec", "show", "chats"], "Did you mean chat?"),
        (["serve", "--port", "70000"], "0<=x<=65535"),
        (["serve", "--rpm", "0"], "x>=1"),
    ],
)
def test_a_usage_error_is_exit_2_and_names_what_is_valid(arguments, words):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert "\x1b" not in result.output


@pytest.fixture
def failing(monkeypatch):
    def install(error: BaseException) -> None:
        @click.command()
        def check() -> None:
            raise error

        monkeypatch.setattr("conformance.cli.check.check", check)

    return install


def test_an_error_of_ours_is_one_line_and_exit_4(failing, monkeypatch):
    monkeypatch.delenv(group.DEBUG, raising=False)
    failing(KeyError("lost\nkey"))
    result = CliRunner().invoke(main, ["check"])
    assert result.exit_code == 4
    assert result.output.splitlines()[0] == "internal error: KeyError: 'lost\\nkey'"
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--target", "http://127.0.0.1:9", "--key-env", HOSTILE],
        ["check", f"--{HOSTILE}"],
        ["check", "x", "--redact", f"{HOSTILE}("],
        [HOSTILE],
    ],
)
def test_what_was_typed_cannot_steer_the_terminal(arguments):
    result = CliRunner().invoke(main, arguments, color=True)
    assert result.exit_code == 2
    assert "evil\\u202e" in result.stderr
    assert not {"\x1b", "\u202e"} & set(result.stderr)


def test_an_error_of_ours_cannot_steer_the_terminal(failing):
    failing(ValueError(HOSTILE))
    result = CliRunner().invoke(main, ["check"], color=True)
    assert result.exit_code == 4
    assert "internal error: ValueError: \\x1b[31mevil\\u202e\n" in result.stderr


def test_the_traceback_is_shown_on_demand(failing, monkeypatch):
    monkeypatch.setenv(group.DEBUG, "1")
    failing(KeyError("lost"))
    result = CliRunner().invoke(main, ["check"])
    assert result.exit_code == 4
    assert "Traceback" in result.output


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupted_command_verified_nothing(failing, error):
    failing(error)
    result = CliRunner().invoke(main, ["check"])
    assert result.exit_code == 3
    assert "interrupted" in result.output


@pytest.mark.parametrize("arguments", ["faults", "rules --format json", "explain usage.total-is-sum"])
def test_a_reader_that_goes_away_is_never_told_not_conforming(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "conformance.cli", *arguments.split()]
    with os.fdopen(writer, "wb") as gone:
        done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, timeout=SECONDS, check=False)  # noqa: S603 (ours)
    assert (done.returncode, done.stderr) == (3, b"")


def shell(line: str) -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", "-c", line.replace("kimi-conformance", f"{sys.executable} -m conformance.cli")]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)  # noqa: S603 (our own line)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("arguments", ["rules", "faults --format json", "--help"])
def test_a_full_disk_is_no_error_of_ours(arguments):
    done = shell(f"kimi-conformance {arguments} > /dev/full")
    assert (done.returncode, done.stderr) == (3, "cannot write: No space left on device\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_closed_streams_change_nothing(closed):
    done = shell(f"kimi-conformance rules {closed}")
    assert (done.returncode, done.stderr) == (0, "")
