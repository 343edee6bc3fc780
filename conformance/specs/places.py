"""Places in the vendored documents: the words that stand there, and YAML or JSON nodes with their offsets."""

from __future__ import annotations

import functools
from bisect import bisect_right
from typing import Any

import msgspec

from conformance.specs import documents
from conformance.specs.sentences import Span


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One stretch of a document that says something; stretches of one document never overlap."""

    place: str  # a JSON pointer into the OpenAPI part, or the page's section and field: Body/max_tokens
    text: str  # as it reads: sentences normalised, keywords as ``minimum: 1``
    start: int  # offsets into the document, in characters
    end: int


@functools.cache
def line_starts(name: str) -> tuple[int, ...]:
    """The offset at which each line of a document begins."""
    text = documents.text(name)
    return (0, *(offset + 1 for offset, char in enumerate(text) if char == "\n"))


def line_of(name: str, offset: int) -> int:
    """The 1-based line that holds an offset."""
    return bisect_right(line_starts(name), offset)


class Tree:
    """YAML (or JSON) within a document, composed, whose nodes know where they stand in the whole document."""

    def __init__(self, name: str, start: int, end: int) -> None:
        import yaml  # noqa: PLC0415 (importing the rules must not pay for it)

        text = documents.text(name)[start:end]
        self.root: Any = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self._starts = line_starts(name)
        self._line = line_of(name, start) - 1
        self._column = start - self._starts[self._line]

    def offset(self, mark: Any) -> int:
        """The offset of a mark of the parser within the document."""
        line, column = int(mark.line), int(mark.column)
        return self._starts[self._line + line] + column + (0 if line else self._column)

    def span(self, node: Any) -> Span:
        """Where a node begins and ends; the end of a block may lie on the white space that follows it."""
        return self.offset(node.start_mark), self.offset(node.end_mark)
