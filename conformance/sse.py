"""Bytes of an event stream to events, as the WHATWG defines them, with what a conformance tool must know besides.

Offsets count bytes from the start of the stream. How the bytes were cut into chunks changes nothing but ``Event.ms``.
Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from conformance.values import Chunk

MAX_EVENT = 16 * 2**20  # bytes of one event; what is larger is reported and dropped
MAX_KEPT = 128 * 2**20  # bytes of all events that a Stream keeps
MAX_EVENTS = 2**18  # events that a Stream keeps
MAX_LINES = 256  # raw lines that an Event keeps
MAX_RAW = 64 * 2**10  # bytes of the raw lines that an Event keeps
MAX_NOTED = 1000  # problems, comments and undispatched events that a Stream keeps, each
MAX_COMMENT = 1024  # bytes of one comment
_RETRY_DIGITS = 18
_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_TERMINATORS = {b"\r": "cr", b"\n": "lf", b"\r\n": "crlf"}


class Fault(StrEnum):
    """What can be wrong with the framing of a stream."""

    INVALID_UTF8 = "invalid-utf8"
    UNKNOWN_FIELD = "unknown-field"  # a field that is none of event, data, id and retry
    STRAY_LINE = "stray-line"  # text without a colon that is no field name
    NUL_IN_ID = "nul-in-id"
    BAD_RETRY = "bad-retry"  # retry that is not all digits
    LOST_AT_END = "lost-at-end"  # the stream ends before the blank line of its last event
    TOO_LARGE = "too-large"  # an event above MAX_EVENT
    TOO_MANY = "too-many"  # events above MAX_EVENTS or MAX_KEPT are delivered, and not kept


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """A fault of the framing, and the byte where it stands; the message is safe to print."""

    kind: Fault
    offset: int
    message: str


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event as it was sent.

    ``number`` counts the dispatched events from 0; an event that is not dispatched has the number of the next one that
    is. ``lines`` are its raw lines without their ends and without comments: the first of them, where there are very
    many. ``start`` is its first byte, ``end`` the one after its blank line.
    """

    number: int
    name: str | None  # the event field; None where there was none
    data: str | None  # the data lines joined by LF; None where there was none
    id: str | None
    retry: int | None  # milliseconds
    start: int
    end: int
    ms: float | None  # when its last byte arrived
    lines: tuple[bytes, ...]
    complete: bool  # its blank line came


@dataclass(frozen=True, kw_only=True, slots=True)
class Stream:
    """A whole event stream."""

    events: tuple[Event, ...]  # dispatched: they have data and their blank line
    undispatched: tuple[Event, ...]  # blocks of fields without data, which a parser delivers to nobody
    pending: Event | None  # the last event, where its blank line never came: a parser drops it
    problems: tuple[Problem, ...]
    comments: tuple[tuple[int, str], ...]  # offset and text
    bom: bool
    terminators: frozenset[str]  # of cr, lf, crlf
    size: int  # bytes
    dropped: int  # events that were delivered, and are too many to keep


class _Block:
    """The lines of the event that is being received."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.size = 0
        self.raw: list[bytes] = []
        self.raw_size = 0
        self.data: list[bytes] = []
        self.has_data = False
        self.name: str | None = None
        self.id: str | None = None
        self.retry: int | None = None
        self.too_large = False

    def keep(self, line: bytes) -> None:
        self.raw_size += len(line)
        if len(self.raw) < MAX_LINES and self.raw_size <= MAX_RAW:
            self.raw.append(line)

    def event(self, number: int, end: int, ms: float | None, *, complete: bool) -> Event:
        return Event(
            number=number,
            name=self.name,
            data=b"\n".join(self.data).decode("utf-8", "replace") if self.has_data else None,
            id=self.id,
            retry=self.retry,
            start=self.start,
            end=end,
            ms=ms,
            lines=tuple(self.raw),
            complete=complete,
        )


class Parser:
    """Takes the bytes of one stream as they arrive; memory is bounded, and no bytes make it raise."""

    def __init__(self) -> None:
        self._offset = 0  # bytes received
        self._line = bytearray()  # the line that is being received, MAX_EVENT + 1 bytes of it at most
        self._line_start = 0
        self._line_size = 0
        self._after_cr = False  # the line ended in CR, and LF may follow
        self._first = True
        self._ms: float | None = None
        self._block: _Block | None = None
        self._ready: list[Event] = []
        self._number = 0
        self._kept = 0
        self._events: list[Event] = []
        self._undispatched: list[Event] = []
        self._problems: list[Problem] = []
        self._comments: list[tuple[int, str]] = []
        self._terminators: set[str] = set()
        self._bom = False
        self._dropped = 0

    def feed(self, data: bytes, ms: float | None = None) -> list[Event]:
        """Take the next bytes, which arrived at ``ms``; return the events that they complete."""
        if not data:
            return []
        base, position = self._offset, 0
        if self._after_cr:
            self._after_cr = False
            if data[0] == 0x0A:
                position = 1
                self._ms = ms
            self._end_line("crlf" if position else "cr", base + position)
        self._ms = ms
        for match in _LINE_END.finditer(data, position):
            self._hold(data[position : match.start()])
            position = match.end()
            if match.group() == b"\r" and position == len(data):
                self._after_cr = True
                break
            self._end_line(_TERMINATORS[match.group()], base + position)
        else:
            self._hold(data[position:])
        self._offset = base + len(data)
        ready, self._ready = self._ready, []
        return ready

    def close(self) -> Stream:
        """End the stream and return it whole."""
        if self._after_cr:
            self._after_cr = False
            self._end_line("cr", self._offset)
        if self._line_size:
            self._take_line(terminated=False)
        pending = None
        if self._block is not None:
            pending = self._block.event(self._number, self._offset, self._ms, complete=False)
            self._report(Fault.LOST_AT_END, pending.start, "the stream ends before the blank line of its last event")
            self._block = None
        return Stream(
            events=tuple(self._events),
            undispatched=tuple(self._undispatched),
            pending=pending,
            problems=tuple(self._problems),
            comments=tuple(self._comments),
            bom=self._bom,
            terminators=frozenset(self._terminators),
            size=self._offset,
            dropped=self._dropped,
        )

    def _hold(self, piece: bytes) -> None:
        self._line_size += len(piece)
        self._line += piece[: MAX_EVENT + 1 - len(self._line)]

    def _end_line(self, terminator: str, end: int) -> None:
        self._terminators.add(terminator)
        self._take_line(terminated=True, end=end)

    def _take_line(self, *, terminated: bool, end: int = 0) -> None:
        line, size, start = bytes(self._line), self._line_size, self._line_start
        self._line.clear()
        self._line_size, self._line_start = 0, end
        if self._first:
            self._first = False
            if line.startswith(_BOM):
                self._bom = True
                line, size, start = line[len(_BOM) :], size - len(_BOM), start + len(_BOM)
        if not size:
            if terminated:
                self._dispatch(end)
        elif line.startswith(b":"):
            self._comment(line, start)
        else:
            self._field(line, size, start, terminated=terminated)

    def _comment(self, line: bytes, start: int) -> None:
        text = self._text(line, start)
        if len(self._comments) < MAX_NOTED:
            self._comments.append((start, text[1 : MAX_COMMENT + 1].removeprefix(" ")))

    def _field(self, line: bytes, size: int, start: int, *, terminated: bool) -> None:
        block = self._block = self._block or _Block(start)
        block.size += size
        if block.size > MAX_EVENT:
            if not block.too_large:
                self._report(Fault.TOO_LARGE, block.start, f"an event is larger than {MAX_EVENT} bytes")
            block.too_large = True
            block.data.clear()
            return
        block.keep(line)
        field, colon, value = line.partition(b":")
        value = value.removeprefix(b" ")
        text = self._text(line, start, cut=not terminated)
        if field == b"data":
            block.has_data = True
            block.data.append(value)
        elif field == b"event":
            block.name = value.decode("utf-8", "replace")
        elif field == b"id":
            if b"\0" in value:
                self._report(Fault.NUL_IN_ID, start, "an id with NUL is ignored")
            else:
                block.id = value.decode("utf-8", "replace")
        elif field == b"retry":
            if value.isdigit() and len(value) <= _RETRY_DIGITS:
                block.retry = int(value)
            else:
                self._report(Fault.BAD_RETRY, start, f"retry is not a number of milliseconds: {_shown(text)}")
        elif colon:
            self._report(Fault.UNKNOWN_FIELD, start, f"a field that no parser knows: {_shown(text)}")
        else:
            self._report(Fault.STRAY_LINE, start, f"a line that is no field: {_shown(text)}")

    def _dispatch(self, end: int) -> None:
        block, self._block = self._block, None
        if block is None or block.too_large:
            return
        event = block.event(self._number, end, self._ms, complete=True)
        self._kept += block.size
        if not block.has_data:
            if len(self._undispatched) < MAX_NOTED and self._kept <= MAX_KEPT:
                self._undispatched.append(event)
            return
        self._number += 1
        self._ready.append(event)
        if len(self._events) < MAX_EVENTS and self._kept <= MAX_KEPT:
            self._events.append(event)
            return
        if not self._dropped:
            self._report(Fault.TOO_MANY, event.start, f"more than {MAX_EVENTS} events or {MAX_KEPT} bytes of them")
        self._dropped += 1

    def _text(self, line: bytes, start: int, *, cut: bool = False) -> str:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            # A code point that the end of the stream cuts is part of the lost event, not a fault of its own.
            if not (cut and error.reason == "unexpected end of data"):
                shown = line[error.start : error.start + 4].hex(" ")
                self._report(Fault.INVALID_UTF8, start + error.start, f"bytes that are not UTF-8: {shown}")
            return line.decode("utf-8", "replace")

    def _report(self, kind: Fault, offset: int, message: str) -> None:
        if len(self._problems) < MAX_NOTED:
            self._problems.append(Problem(kind=kind, offset=offset, message=message))


def parse(chunks: Iterable[Chunk | bytes]) -> Stream:
    """Read a whole stream; ``Chunk.ms`` becomes the arrival time of events, which is None for plain bytes."""
    parser = Parser()
    for chunk in chunks:
        if isinstance(chunk, bytes):
            parser.feed(chunk)
        else:
            parser.feed(chunk.data, chunk.ms)
    return parser.close()


def _shown(text: str) -> str:
    return ascii(text[:60]) + ("…" if len(text) > 60 else "")
