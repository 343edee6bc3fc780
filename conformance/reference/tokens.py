"""The reference tokenizer: text into pieces that join to the same text again.

A piece is one CJK character, up to five letters of another script or three digits with the space before them, a run
of white space, or a single other character (punctuation, one code point of an emoji).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LETTER = "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0300-\u10ff\u1200-\u1fff"
_PIECE = re.compile(rf" ?[{_LETTER}]{{1,5}}| ?[0-9]{{1,3}}| {{1,16}}|[\t\r\n]{{1,16}}|.", re.DOTALL)


def matches(text: str) -> Iterator[re.Match[str]]:
    """Each piece of a text with its place."""
    return _PIECE.finditer(text)


def pieces(text: str) -> list[str]:
    """The pieces of a text, in order; joined they are the text."""
    return _PIECE.findall(text)


def count(text: str) -> int:
    """The number of pieces."""
    return sum(1 for _ in _PIECE.finditer(text))


def head(text: str, limit: int) -> str:
    """The first ``limit`` pieces of a text."""
    if limit <= 0:
        return ""
    for number, match in enumerate(_PIECE.finditer(text), start=1):
        if number == limit:
            return text[: match.end()]
    return text
