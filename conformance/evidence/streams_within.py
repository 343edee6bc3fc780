"""Event streams that stand within JSON as text, as base64 or as a list of pieces: made short while they are read.

A stream in base64 that is coded in gzip or zstd besides is decoded for that. What is no stream is kept as it is, as far
as a budget goes.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from conformance.evidence.bodies import WHOLE, Body
from conformance.evidence.codings import Unfolding
from conformance.evidence.entries import encoded, unbase64
from conformance.evidence.logged_bodies import is_event, style_of
from conformance.values import Chunk

MOST = 64 * 1024**2
"""Characters of one value that are kept."""

HEAD = 512 * 1024  # characters that tell what a long text is: more than the largest block of zstd
LONGEST_MARK = 32  # pieces that tell whether a list is a stream
_STREAM = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:(?:event|id|retry)?:|data: ?[{\[])")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+=*\s*")
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


class Budget:
    """Characters that may still be kept of one value."""

    def __init__(self, left: int) -> None:
        self.left = left

    @property
    def spent(self) -> bool:
        """Whether more was asked for than there was."""
        return self.left < 0

    def take(self, size: int) -> bool:
        """Whether so much may be kept too."""
        self.left -= size
        return self.left >= 0


def text(pieces: Iterator[str], budget: Budget, *, prose: bool) -> tuple[str | None, str | None]:
    """A text that comes in pieces, and why it is not whole; None for one that the budget does not allow.

    ``prose`` is no stream, whatever it looks like. All pieces are taken.
    """
    held: list[str] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > WHOLE:
            break
    head = "".join(held)[:HEAD]
    rest = chain(held, pieces)
    coding = None if size <= WHOLE or prose else _coding(head)
    if size <= WHOLE or prose or (coding is None and not _STREAM.match(encoded(head))):
        return _plain(rest, budget), None
    if coding is None:
        chunks, unread = _short(encoded(piece) for piece in rest)
        found = _data(chunks).decode("utf-8", "surrogateescape")
        return (found if budget.take(len(found)) else None), unread
    unfolding = Unfolding((("content-encoding", coding),))
    try:
        chunks, unread = _short(unfolding.pieces(_unbase64(rest)))
    except binascii.Error:
        budget.left = -1
        return _plain(pieces, budget), None
    found = base64.b64encode(_data(chunks)).decode()
    return (found if budget.take(len(found)) else None), unread or unfolding.problem


def array(items: Iterator[Any], budget: Budget, *, prose: bool) -> tuple[list[Any] | str | None, str | None]:
    """An array whose items come one after another, as ``text`` does it.

    The pieces of a stream, as a log keeps them, become one text; the chunks of a journal become those of the shorter
    stream.
    """
    held: list[Any] = []
    left = budget.left
    for item in items:
        held.append(item)
        if left - budget.left > WHOLE:
            break
    rest = chain(held, items)
    small = left - budget.left <= WHOLE
    style = None if small or prose else _style(held)
    if style is None or not _STREAM.match(b"".join(style(item)[0] for item in held[:LONGEST_MARK])):
        return _all(rest, budget), None
    body = Body()
    fits = True
    for item in rest:
        budget.left = left  # what counts is what is left of them
        if fits and _is_like(item, held[0]):
            body.feed(*style(item))
        else:
            fits = False
    body.feed(*style(None))
    chunks, unread = body.kept()
    if not fits or not budget.take(sum(len(chunk.data) for chunk in chunks)):
        budget.left = -1
        return None, None
    if isinstance(held[0], list):
        return [[chunk.ms, base64.b64encode(chunk.data).decode()] for chunk in chunks], unread
    return _data(chunks).decode("utf-8", "surrogateescape"), unread


Style = Callable[[Any], tuple[bytes, float]]
"""The bytes of one piece of a stream and when they came; None stands for the end."""


def _style(held: list[Any]) -> Style | None:
    if all(map(_is_chunk, held)):
        return lambda item: (b"", 0.0) if item is None else (unbase64(item[1]) or b"", float(item[0]))
    style = style_of(held)
    return None if style is None else lambda item: (encoded(style(item)), 0.0)


def _is_like(item: Any, first: Any) -> bool:
    if isinstance(first, list):
        return _is_chunk(item)
    return isinstance(item, str) if isinstance(first, str) else is_event(item)


def _is_chunk(item: Any) -> bool:
    """Whether an item is a chunk as a journal holds it: milliseconds, and bytes in base64."""
    return isinstance(item, list) and len(item) == 2 and isinstance(item[0], int | float) and isinstance(item[1], str)


def _coding(head: str) -> str | None:
    """The coding of an event stream that is written in base64: identity for none; None where it is no such stream."""
    if not _BASE64.fullmatch(head):
        return None
    compact = "".join(head.split())
    data = binascii.a2b_base64(compact[: len(compact) // 4 * 4])
    if _STREAM.match(data):
        return "identity"
    coding = next((coding for magic, coding in _MAGIC.items() if data.startswith(magic)), None)
    if coding is None:
        return None
    start = next(Unfolding((("content-encoding", coding),)).pieces((data,)), b"")
    return coding if _STREAM.match(start) else None


def _unbase64(pieces: Iterable[str]) -> Iterator[bytes]:
    """The bytes that base64 stands for. Raises ``binascii.Error`` where it is none."""
    left = ""
    for piece in pieces:
        compact = left + "".join(piece.split())
        end = len(compact) // 4 * 4
        left = compact[end:]
        yield binascii.a2b_base64(compact[:end], strict_mode=True) if end else b""
    if left:
        raise binascii.Error("incomplete")


def _short(pieces: Iterable[bytes]) -> tuple[tuple[Chunk, ...], str | None]:
    body = Body()
    for piece in pieces:
        body.feed(piece)
    return body.kept()


def _plain(pieces: Iterator[str], budget: Budget) -> str | None:
    found = _all(pieces, budget, size=len)
    return None if found is None else "".join(found)


def _all(items: Iterator[Any], budget: Budget, size: Callable[[Any], int] = lambda _: 0) -> list[Any] | None:
    """The items, all of which are taken, and kept as far as the budget goes; ``size`` is what each takes of it."""
    found: list[Any] | None = []
    for item in items:
        if budget.take(size(item)) and found is not None:
            found.append(item)
        else:
            found = None
    return found


def _data(chunks: Iterable[Chunk]) -> bytes:
    return b"".join(chunk.data for chunk in chunks)
