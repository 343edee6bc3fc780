"""The bodies of answers, kept within bounds whatever came: what a rule needs of them costs many times their size.

An event stream above ``WHOLE`` is made short without loss (``condensing``), which a comment after its first event
tells. Where that is still too long, and where a body is too long that is no stream, its beginning is kept and the
answer counts as cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from conformance.evidence.condensing import END, Condenser
from conformance.values import Chunk, Exchange, Failure

WHOLE = 8 * 1024**2
"""Bytes of an event stream that stays as it came."""

LINES = 100_000
"""Lines that such a stream may have."""

DEAREST = 200 * 1024**2
"""Bytes of memory that a longer stream, made short, may take while it is judged: 50 MiB of text, or 70,000 events."""

_BYTE, _WIDE, _EVENT = 4, 9, 2_200
"""Bytes of memory that a byte and an event take, by measurement; a byte of text with emoji takes more."""

LARGEST_PLAIN = 64 * 1024**2
"""Bytes of any other body; what is longer cannot be judged as a whole, and stands by its beginning."""

BEGINNING = 64 * 1024  # bytes
PIECE = 1024**2  # bytes that are taken in at a time
STREAM = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:data|event|id|retry)?:")
UNREAD = "the answer is too long to be read whole: "
"""How the message of the failure begins that stands for the rest of such an answer."""

_MARK = b": made short by kimi-conformance, "
_MARKED = re.compile(rb"[\r\n]%s(\d{1,15}) bytes" % _MARK)


class Body:
    """Takes the bytes of one answer as they come, and keeps what can be judged."""

    def __init__(self) -> None:
        self.size = self._lines = 0
        self._chunks: list[Chunk] = []
        self._condenser: Condenser | None = None
        self._cut: str | None = None

    def feed(self, data: bytes, ms: float = 0.0) -> None:
        """Take the next bytes, which arrived at ``ms``."""
        for start in range(0, len(data), PIECE):
            self._take(data[start : start + PIECE], ms)

    def _take(self, data: bytes, ms: float) -> None:
        self.size += len(data)
        if self._cut is not None:
            return
        if self._condenser is not None:
            self._condense(self._condenser, data, ms)
            return
        self._chunks.append(Chunk(ms=ms, data=data))
        self._lines += data.count(b"\n") + data.count(b"\r")
        if self.size <= WHOLE and self._lines <= LINES:
            return
        if STREAM.match(b"".join(chunk.data for chunk in self._chunks[:2])):
            held, self._chunks, self._condenser = self._chunks, [], Condenser()
            for chunk in held:
                self._condense(self._condenser, chunk.data, chunk.ms)
        elif self.size > LARGEST_PLAIN:
            self._cut = f"only the first {BEGINNING} bytes were"
            start = b"".join(chunk.data for chunk in self._chunks)[:BEGINNING]
            self._chunks = [Chunk(ms=self._chunks[0].ms, data=start)]

    def _condense(self, condenser: Condenser, data: bytes, ms: float) -> None:
        if self._cut is not None:
            return
        condenser.feed(data, ms)
        each = _WIDE if condenser.wide else _BYTE
        if each * (condenser.size + condenser.waiting) + _EVENT * condenser.kept > DEAREST:
            self._cut = f"{condenser.events} events were"
            self._chunks = list(condenser.close(whole=False))

    def kept(self) -> tuple[tuple[Chunk, ...], str | None]:
        """The body as it is judged, once it has come, and why it is not whole."""
        if self._cut is not None:
            return tuple(self._chunks), f"{UNREAD}{self._cut}, of {self.size} bytes"
        if self._condenser is None:
            return tuple(self._chunks), None
        chunks = self._condenser.close()
        if self._condenser.kept == self._condenser.events:
            return chunks, None
        text = b"%s%d bytes, %d events\n\n" % (_MARK, self.size, self._condenser.events)
        first = chunks[0]
        end = END.search(first.data)
        place = len(first.data) if end is None else end.end()
        return (replace(first, data=first.data[:place] + text + first.data[place:]), *chunks[1:]), None


def kept(chunks: Iterable[Chunk]) -> tuple[tuple[Chunk, ...], str | None]:
    """The chunks of an answer within bounds, and why they are not all of it; those of an ordinary one as they are."""
    listed = tuple(chunks)
    size = sum(len(chunk.data) for chunk in listed)
    if size <= WHOLE and sum(chunk.data.count(b"\n") + chunk.data.count(b"\r") for chunk in listed) <= LINES:
        return listed, None
    body = Body()
    for chunk in listed:
        body.feed(chunk.data, chunk.ms)
    return body.kept()


def bounded(exchange: Exchange) -> Exchange:
    """An exchange whose answer is within bounds; one that had to be shortened is cut there."""
    if exchange.response is None:
        return exchange
    chunks, missing = kept(exchange.response.chunks)
    if chunks is exchange.response.chunks:
        return exchange
    failure = exchange.failure if missing is None else Failure(kind="cut", message=missing)
    return replace(exchange, response=replace(exchange.response, chunks=chunks), failure=failure)


def is_unread(exchange: Exchange) -> bool:
    """Whether the answer is known by its beginning only, since it is too long."""
    return exchange.failure is not None and exchange.failure.message.startswith(UNREAD)


def unread_of(exchanges: Iterable[Exchange]) -> str | None:
    """What a file of these exchanges says of answers that are known by their beginnings only."""
    return unread_note([exchange.id for exchange in exchanges if is_unread(exchange)])


def unread_note(names: Sequence[str]) -> str | None:
    """What a file says of exchanges whose answers are known by their beginnings only."""
    if not names:
        return None
    more = f", and those of {len(names) - 1} more" if len(names) > 1 else ""
    return f"the answer of exchange {names[0]}{more} is too long to be read whole"


def is_condensed(exchange: Exchange) -> bool:
    """Whether the answer is a stream that was made short."""
    chunks = exchange.response.chunks if exchange.response is not None else ()
    return bool(chunks) and _MARK in chunks[0].data and _MARKED.search(chunks[0].data) is not None


def size(chunks: Iterable[Chunk]) -> int:
    """Bytes of an answer as it came, before it was made short."""
    listed = tuple(chunks)
    found = _MARKED.search(listed[0].data) if listed else None
    return sum(len(chunk.data) for chunk in listed) if found is None else int(found.group(1))
