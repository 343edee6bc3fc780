"""Sentences: where each begins and ends in a text, and how it reads without markup and line breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = re.compile(r"(?<=[.!?])\s+|(?<=[a-z]\.)(?=[A-Z])")  # the pages glue some sentences together
_BLANK = re.compile(r"\n[ \t]*\n")
_MARKS = re.compile(r"^(?:>\s?|#+\s|-\s|\|\s)+|\*\*|`|\s\|$")
_WORD = re.compile(r"\w")

Span = tuple[int, int]


def normalised(text: str) -> str:
    """The words of a sentence on one line, without Markdown's marks: quote, heading, bullet, bold, code."""
    return " ".join(_MARKS.sub("", text.strip()).split())


def trimmed(text: str, span: Span) -> Span | None:
    """The span without white space at its ends; None where it holds no word."""
    start, end = span
    piece = text[start:end]
    if _WORD.search(piece) is None:
        return None
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _split(text: str, span: Span, border: re.Pattern[str]) -> Iterator[Span]:
    start, end = span
    for found in border.finditer(text, start, end):
        yield start, found.start()
        start = found.end()
    yield start, end


def sentences(text: str, span: Span) -> Iterator[Span]:
    """The sentences of one part of a text: a blank line ends one, and so does a full stop before white space."""
    for paragraph in _split(text, span, _BLANK):
        for sentence in _split(text, paragraph, _END):
            kept = trimmed(text, sentence)
            if kept is not None:
                yield kept
