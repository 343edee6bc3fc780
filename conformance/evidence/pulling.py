"""JSON read from a file piece by piece: what is small is parsed at once, what is large is looked into.

A document of any size is read in the memory of its largest value that is kept. Long event streams within a value are
made short on the way (``streams_within``).
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # named in its documentation's source only
from typing import Any, BinaryIO, Final

from conformance.evidence import streams_within
from conformance.evidence.broken import SCRAP, ends_inside
from conformance.evidence.streams_within import Budget

PIECE = 1024**2
"""Bytes that are read at a time, and characters above which a value is looked into."""

DEEPEST = 100  # levels that are looked into
PROSE = frozenset({"messages", "input", "system", "instructions", "prompt", "tools"})
"""Names below which no text is taken for a stream: it belongs to a request."""

_SPACE = re.compile(r"[ \t\n\r]*")
_ESCAPES = 12  # characters that two escapes take
_HIGH = re.compile(r"\\u[dD][89abAB]")
_BOMS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_decode = json.JSONDecoder().raw_decode


class _TooLarge:
    def __repr__(self) -> str:
        return "TOO_LARGE"


TOO_LARGE: Final = _TooLarge()
"""Stands for a value of more characters than are kept."""


class Broken(Exception):
    """The text is no JSON at byte ``offset``; ``cut`` where it just ends inside a value."""

    def __init__(self, message: str, offset: int, *, cut: bool = False) -> None:
        super().__init__(message)
        self.message, self.offset, self.cut = message, offset, cut


class Reader:
    """A JSON text in a file that is open for reading bytes; ``offset`` is that of the next character in the file.

    ``members`` and ``items`` stand still at each value, which the caller takes with ``value``, ``members`` or ``items``
    before it asks for the next one. All raise ``Broken``, and ``OSError`` where the file does.
    """

    def __init__(self, file: BinaryIO, *, start: int = 0, encoding: str | None = None) -> None:
        self.offset = start
        self.encoding = encoding or "utf-8"
        """That of the file: UTF-8, or UTF-16 where it begins so."""
        self.unread: str | None = None
        """Why the last value holds only the beginning of a stream."""
        self._file = file
        self._decoder: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder(encoding)() if encoding else None
        self._text = ""
        self._place = 0
        self._ended = False
        self._read = start
        self._budget = Budget(0)

    def first(self) -> str:
        """The first character of the next value, space passed over; empty at the end of the text."""
        while True:
            self._fill(1)
            end = _SPACE.match(self._text, self._place).end()  # type: ignore[union-attr]  # it matches the empty text too
            self._move(end)
            if end < len(self._text) or self._ended:
                return self._text[end : end + 1]

    def members(self) -> Iterator[str]:
        """The names of an object, each with the reader at its value."""
        for _ in self._inside("{", "}"):
            if self.first() != '"':
                raise self._broken("expected a name in double quotes")
            self._fill(PIECE)
            try:
                name, end = scanstring(self._text, self._place + 1)
            except ValueError as error:
                raise self._failed(error) from None
            self._move(end)
            if self.first() != ":":
                raise self._broken("expected a colon")
            self._move(self._place + 1)
            self.first()
            yield name

    def items(self) -> Iterator[None]:
        """The items of an array, each with the reader at it."""
        for _ in self._inside("[", "]"):
            self.first()
            yield None

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self.first():
            raise self._broken("Extra data")

    @property
    def read(self) -> int:
        """Bytes of the file up to the end of what was read."""
        return self._read

    def value(self) -> Any:
        """The next value; ``TOO_LARGE`` where it is, and was read over."""
        self._budget, self.unread = Budget(streams_within.MOST), None
        value = self._value(())
        return TOO_LARGE if self._budget.spent else value

    def _inside(self, opening: str, closing: str) -> Iterator[None]:
        if self.first() != opening:
            raise self._broken(f"expected {opening}")
        self._move(self._place + 1)
        if self.first() == closing:
            self._move(self._place + 1)
            return
        while True:
            yield None
            mark = self.first()
            if mark not in (",", closing):
                raise self._broken("expected a comma")
            self._move(self._place + 1)
            if mark == closing:
                return

    def _value(self, path: tuple[str, ...]) -> Any:
        first = self.first()
        self._fill(PIECE)
        try:
            value, end = _decode(self._text, self._place)
        except RecursionError:
            raise self._broken("nested too deeply") from None
        except ValueError as error:
            if self._ended or first not in ("{", "[", '"') or len(path) > DEEPEST:
                raise self._failed(error) from None
        else:
            if first not in ("{", "[", '"') and end == len(self._text) and not self._ended:
                raise self._broken("a number of this length is none")
            kept = self._budget.take(end - self._place)
            self._move(end)
            return value if kept else None
        inside = not PROSE.isdisjoint(path)
        if first == '"':
            value, unread = streams_within.text(self._string(), self._budget, prose=inside)
        elif first == "[":
            value, unread = streams_within.array(self._values((*path, "-")), self._budget, prose=inside)
        else:
            value, unread = {name: self._value((*path, name)) for name in self.members()}, None
        self.unread = self.unread or unread
        return value

    def _values(self, path: tuple[str, ...]) -> Iterator[Any]:
        for _ in self.items():
            yield self._value(path)

    def _string(self) -> Iterator[str]:
        """The pieces of a string."""
        self._move(self._place + 1)
        while True:
            self._fill(PIECE)
            end = len(self._text) if self._ended else _safe(self._text, self._place)
            try:
                piece, after = scanstring(self._text[self._place : end] + '"', 0)
            except ValueError as error:
                raise self._failed(error) from None
            closed = after <= end - self._place
            if not closed and self._ended:
                raise self._broken("unterminated string", cut=True)
            self._move(self._place + after - (not closed))
            yield piece
            if closed:
                return

    def _fill(self, least: int) -> None:
        """Have so many characters, where the text goes on for so long."""
        while len(self._text) - self._place < least and not self._ended:
            data = self._file.read(PIECE)
            self._ended = not data
            if self._decoder is None:
                data = self._begun(data)
            try:
                more = self._decoder.decode(data, not data)  # type: ignore[union-attr]  # made when the text began
            except UnicodeDecodeError as error:
                where = self._read - (len(error.object) - len(data)) + error.start
                raise Broken("no text in UTF-8", where, cut=not data) from None
            self._read += len(data)
            self._text = self._text[self._place :] + more
            self._place = 0

    def _begun(self, data: bytes) -> bytes:
        """The first bytes without their mark, which tells the encoding."""
        mark = next((mark for mark in _BOMS if data.startswith(mark)), b"")
        self.encoding = _BOMS.get(mark, self.encoding)
        self._decoder = codecs.getincrementaldecoder(self.encoding)()
        self._read = self.offset = self.offset + len(mark)
        return data[len(mark) :]

    def _move(self, place: int) -> None:
        self.offset += self._size(self._text[self._place : place])
        self._place = place

    def _size(self, text: str) -> int:
        if self.encoding == "utf-8" and text.isascii():
            return len(text)
        return len(text.encode(self.encoding, "surrogatepass"))

    def _broken(self, message: str, *, cut: bool = False) -> Broken:
        scrap = self._text[self._place : self._place + SCRAP + 1].strip() if self._ended else "}"
        cut = cut or (len(scrap) <= SCRAP and not scrap.endswith("}"))
        return Broken(message, self.offset, cut=cut)

    def _failed(self, error: ValueError) -> Broken:
        """What the parser found, at its place in the file."""
        if not isinstance(error, json.JSONDecodeError):
            return Broken(str(error)[:120], self.offset)
        cut = self._ended and ends_inside(self._text, error)
        return Broken(error.msg, self.offset + self._size(self._text[self._place : error.pos]), cut=cut)


def _safe(text: str, start: int) -> int:
    """The last place where a string can be divided: not within an escape, nor between two that make one character."""
    place = text.find("\\", max(start, len(text) - _ESCAPES))
    if place < 0:
        return len(text)
    if place - 6 >= start and _HIGH.match(text, place - 6):
        place -= 6
    backslashes = place - start - len(text[start:place].rstrip("\\"))
    return place - backslashes % 2


def names(head: bytes) -> list[str]:
    """The names of the members of an object, as far as its beginning holds them whole."""
    reader = Reader(io.BytesIO(head))
    found: list[str] = []
    try:
        for name in reader.members():
            found.append(name)
            reader.value()
    except Broken:
        pass
    return found
