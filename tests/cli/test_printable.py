"""Values from the wire as JSON and on a terminal."""

from __future__ import annotations

import json

import pytest

from conformance.cli import check as _check  # noqa: F401 (the commands load as they do in use)
from conformance.cli import checked, printable, rules
from conformance.cli.printable import plain
from conformance.rules import RULES
from conformance.values import Finding, Level, Protocol


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (2**70, "an integer of 71 bits"),
        pytest.param(10**6000, "an integer of 19932 bits", id="6000 digits"),
        (1.5, 1.5),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        ("x", "x"),
        ("x" * 2001, "x" * 2000 + "… (2001 characters)"),
        (Level.MUST, "must"),
        ((1, {2}), [1, [2]]),
        ({1: b"a"}, {"1": "b'a'"}),
        ([0] * 3000, [0] * 2000),
    ],
)
def test_a_value_becomes_bounded_json(value, shown):
    assert plain(value) == shown
    json.dumps(plain(value), allow_nan=False)


def test_a_struct_becomes_an_object():
    assert plain(Finding(message="m", level=Level.INFO))["level"] == "info"


def test_depth_is_bounded():
    text = json.dumps(plain(nested(500)))
    assert text.count("[") == printable.DEEPEST


def test_json_is_ascii(capsys):
    printable.dump({"a": "北\u202e\ud800\x1b"})
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert json.loads(printed) == {"a": "北\u202e\ud800\x1b"}


@pytest.mark.parametrize(
    ("terminal", "environment", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": ""}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_colour_needs_a_terminal_that_wants_it(monkeypatch, terminal, environment, coloured):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    assert printable.coloured() is coloured
    assert ("\x1b[" in printable.style("x", fg="red")) is coloured


def test_a_terminal_gets_a_table(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    some = [rule for name, rule in RULES.items() if name.startswith("usage.")]
    rules._table(some)
    printed = capsys.readouterr().out
    assert all(rule.id in printed for rule in some)
    assert f"{len(some)} rules" in printed


@pytest.mark.parametrize(
    ("expected", "actual", "words"),
    [
        (None, None, "exchange 1, chat m, /a"),
        (None, 0, "exchange 1, chat m, /a: actual 0"),
        ("text", "", "exchange 1, chat m, /a: expected text, actual an empty string"),
        ([1], {"a": None}, 'exchange 1, chat m, /a: expected [1], actual {"a":null}'),
    ],
)
def test_a_finding_says_where_and_what(expected, actual, words):
    finding = Finding(
        message="x", pointer="/a", expected=expected, actual=actual, exchange="1", protocol=Protocol.CHAT, model="m"
    )
    assert checked._place(finding) == words
