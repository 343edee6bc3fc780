"""The tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reference import tokens

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("OK", ["OK"]),
        ("hello worlds", ["hello", " world", "s"]),
        ("1 2 345 6789", ["1", " 2", " 345", " 678", "9"]),
        ("漢字です。", ["漢", "字", "で", "す", "。"]),
        ("한국", ["한", "국"]),
        ("a,b.", ["a", ",", "b", "."]),
        ("ñandú été", ["ñandú", " été"]),
        ("😀👍🏽", ["😀", "👍", "🏽"]),
        ("a\n\n\tb", ["a", "\n\n\t", "b"]),
        ("     x", ["     ", "x"]),
        ("\u2028\u200f", ["\u2028", "\u200f"]),
    ],
)
def test_pieces_of_known_texts(text: str, pieces: list[str]) -> None:
    assert tokens.pieces(text) == pieces
    assert tokens.count(text) == len(pieces)


@given(TEXT)
def test_pieces_join_to_the_text_and_are_plausible_in_number(text: str) -> None:
    assert "".join(tokens.pieces(text)) == text
    assert len(text) / 20 <= tokens.count(text) <= len(text.encode())


@given(TEXT, TEXT)
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert tokens.count(text + more) >= tokens.count(text)


@given(TEXT, st.integers(0, 30))
def test_head_has_as_many_pieces_as_asked_for(text: str, limit: int) -> None:
    part = tokens.head(text, limit)
    assert text.startswith(part)
    assert tokens.count(part) == min(limit, tokens.count(text))
