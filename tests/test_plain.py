"""Whatever came from the wire, a report can be written."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.plain import LONGEST_TEXT, plain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(categories=["L", "Cs", "Cc"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(categories=["L", "Cs"])), inner),
)


@given(JSON)
def test_every_value_can_be_written(value):
    msgspec.json.decode(msgspec.json.encode(plain(value)))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\ud83d", "a\\ud83d"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        ((1, 2.5, None, True), [1, 2.5, None, True]),
        (2**70, str(2**70)),
        ([[[[[[[1]]]]]]], [[[[[["…"]]]]]]),
    ],
)
def test_what_json_cannot_hold_is_spelled_out(value, shown):
    assert plain(value) == shown


def test_text_and_arrays_are_bounded():
    assert len(plain("x" * 10_000)) < LONGEST_TEXT + 30
    assert len(plain(list(range(1000)))) == 51
    assert len(plain({str(n): n for n in range(1000)})) == 51


def test_values_that_are_no_json_are_described():
    assert plain(object).startswith("<class")
