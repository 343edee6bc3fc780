"""Values from the wire as JSON and on a terminal."""

from __future__ import annotations

import json
import os

import pytest

from conformance.cli import check as _check  # noqa: F401 (the commands load as they do in use)
from conformance.cli import checked, printable
from conformance.cli.listing import Entry, listing
from conformance.cli.printable import plain
from conformance.cli.tables import table
from conformance.reports.words import counted
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


@pytest.mark.parametrize(
    ("terminal", "columns", "width"),
    [(True, "100", 100), (True, "300", 120), (True, "10", 40), (True, "0", 80), (False, "100", 80)],
)
def test_text_takes_the_width_of_a_terminal_within_reason(monkeypatch, terminal, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((0, 0)))
    assert printable.width() == width


def test_text_is_wrapped_at_words_only():
    words = f"{'long-' * 30}word and some more"
    assert printable.wrapped(words, 2).splitlines() == [f"  {'long-' * 30}word", "  and some more"]
    assert printable.hanging("x " * 60).splitlines() == [("x " * 40).strip(), "    " + ("x " * 20).strip()]


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [(1, ("file",), "1 file"), (0, ("file",), "0 files"), (2, ("entry", "entries"), "2 entries")],
)
def test_a_number_has_its_noun(number, words, said):
    assert counted(number, *words) == said


def test_a_terminal_gets_a_listing_in_colour(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    entry = Entry(family="usage", name="usage.present", facts=("must",), words="There is usage.", colour="red")
    assert list(listing([entry], "rule")) == [
        "\x1b[1musage (1 rule)\x1b[0m",
        "",
        "  \x1b[31musage.present\x1b[0m  (\x1b[2mmust\x1b[0m)",
        "      There is usage.",
        "",
    ]


def test_facts_that_do_not_fit_beside_the_name_stand_below_it():
    entry = Entry(family="f", name="n" * 60, facts=("a" * 10, "b" * 10), words="Words.")
    assert list(listing([entry], "rule"))[2:] == [
        "  " + "n" * 60,
        "      (aaaaaaaaaa; bbbbbbbbbb)",
        "      Words.",
        "",
    ]


def test_a_table_has_numbers_to_the_right():
    assert list(table([("name", "count"), ("a", "1,000"), ("longer", "7")])) == [
        "name    count",
        "a       1,000",
        "longer      7",
    ]


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
