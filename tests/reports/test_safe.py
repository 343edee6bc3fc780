"""Hostile text cannot steer a terminal, a page or a table."""

from __future__ import annotations

import pytest

from conformance.reports.safe import safe


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain 北京 🌦", "plain 北京 🌦"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("a\nb\rc", "a\\nb\\u000dc"),
        ("\u202eevil", "\\u202eevil"),
        ("\u2028", "\\u2028"),
        ("\ud83d", "\\ud83d"),
        ({"a": [1, None, True]}, '{"a":[1,null,true]}'),
        (None, "null"),
        (1.5, "1.5"),
    ],
)
def test_control_and_bidirectional_characters_are_escaped(value, shown):
    assert safe(value) == shown


def test_long_text_is_cut_and_says_so():
    assert safe("x" * 1000) == "x" * 300 + "… (1000 characters)"


def test_a_value_that_no_json_holds_is_shown_all_the_same():
    assert "\\ud83d" in safe({"a": "\ud83d"})
