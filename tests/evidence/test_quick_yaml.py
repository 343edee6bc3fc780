"""Common YAML is read as the loader reads it, and the rest is left to the loader."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from conformance.evidence import literals, quick_yaml

WORDS = [
    *("a", "a b", "true", "True", "no", "~", "null", "", "0", "-0", "017", "1_000", "1:30", "0x1F", "1e5", "1.5e+3"),
    *("1.5", "-2.25", ".5", "1.", ".inf", ".nan", "9" * 30, "2026-01-31", "2026-01-31T10:00:00Z", "=", "<<", "-", "--"),
    *("'q'", '"q\\n"', "!!binary aGk=", "!!str 1", "&x a", "*x", "!t a", "? a", "[a, b]", "{a: 1}", "|\n  text\n"),
    *("世界 🚀", "Bearer REDACTED", "x" * 60, "1" + "0" * 60, "@", "%", "`", "# c", "a # c", "a: b", "[", "}"),
]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and one == other


def _agrees(text: str) -> bool:
    """Whether it is left to the loader, or read as the loader reads it."""
    try:
        found = quick_yaml.load(text)
    except quick_yaml.Uncommon:
        return True
    return _same(found, yaml.safe_load(text))


@given(st.lists(st.tuples(st.sampled_from(["k: ", "- ", "k:\n- ", "", "? "]), st.sampled_from(WORDS))))
def test_it_reads_as_the_loader_does_or_not_at_all(parts: list[tuple[str, str]]) -> None:
    assert _agrees("".join(f"{start}{word}\n" for start, word in parts))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("form", ["{}", "k: {}", "- {}", "[{}]", "{{k: {}}}", "{}: v"])
def test_each_word_means_what_the_loader_says(form: str, word: str) -> None:
    assert _agrees(form.format(word))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=80),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "interactions"]), values, min_size=1, max_size=3))
def test_what_is_written_is_read(value: dict[str, Any]) -> None:
    assert _agrees(literals.document(value))


def test_a_cassette_is_common() -> None:
    document = {
        "version": 1,
        "metadata": {"seed": 20, "reference": True, "limited": None},
        "interactions": [{"step": 1, "ms": 1.5, "request": {"headers": {"A": ["b"]}, "body": '{\n  "x": 1\n}'}}],
    }
    assert quick_yaml.load(literals.document(document)) == document


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\n",
        "a: !!binary aGk=\n",
        "a: 2026-01-31\n",
        "<<: {a: 1}\n",
        "1: a\n",
        "a: 1\n---\nb: 2\n",
        "a: [1\n",
        "a: \x00\n",
        "a: \udc80\n",
        "[" * 65 + "]" * 65,
        "",
    ],
)
def test_the_rest_is_left_to_the_loader(text: str) -> None:
    with pytest.raises(quick_yaml.Uncommon):
        quick_yaml.load(text)
