"""Content codings (gzip, deflate, br, zstd), undone where a recorder kept the bytes of the wire."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import brotli
import zstandard

LARGEST_BODY = 256 * 1024**2
"""Bytes that a coded body which is held whole may unfold to."""

MOST_CODINGS = 4  # one upon another; a server sends one
_ROOM = 1024**2  # bytes that are unfolded at a time
_STEP = 1024  # coded bytes of zstd fed at a time, which unfold to 32 MiB at most
_PLAIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:[{\[<\"]|(?:data|event|id|retry)?:)")
_LONGEST_MARK = 16  # bytes, after white space, that tell whether a body is plain
_FAILURES = (zlib.error, brotli.error, zstandard.ZstdError)
Headers = Iterable[tuple[str, str]]


def decoded(data: bytes, headers: Headers) -> tuple[bytes, str | None]:
    """The body without the codings that its headers name, and why it is not whole."""
    unfolding = Unfolding(headers)
    parts: list[bytes] = []
    left = LARGEST_BODY
    for part in unfolding.pieces((data,)):
        parts.append(part[:left])
        left -= len(parts[-1])
        if not left:
            break
    return (b"" if unfolding.spoiled else b"".join(parts)), unfolding.problem


class Unfolding:
    """Undoes the codings that headers name, piece by piece, in bounded memory.

    Most recorders decode a body and keep the header: JSON, markup and event streams count as decoded already.
    """

    def __init__(self, headers: Headers) -> None:
        self.spoiled = False
        """Whether no piece counts: the coding is not known, or the body is not what its header says."""
        self._reason: str | None = None
        self._unfinished: list[str] = []
        named = ",".join(value for name, value in headers if name.lower() == "content-encoding")
        found = [coding.strip().lower() for coding in named.split(",") if coding.strip()]
        self._codings = [coding for coding in reversed(found[:MOST_CODINGS]) if coding != "identity"]

    @property
    def problem(self) -> str | None:
        """Why the body is not whole, once its pieces were taken."""
        if self._reason is None and self._unfinished:
            return f"the {self._unfinished[0]} body is cut off or too large"
        return self._reason

    def pieces(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """The decoded body, 32 MiB at most at a time. Nothing raises on what a body holds."""
        if not self._codings:
            yield from parts
            return
        start, rest = _beginning(parts, _LONGEST_MARK)
        if not start or _PLAIN.match(start):
            yield from chain((start,), rest)
            return
        data: Iterator[bytes] = chain((start,), rest)
        for coding in self._codings:
            if coding not in _CODINGS:
                self._spoil(f"the response body is coded as {coding[:40]}, which is not known")
                return
            data = self._layer(coding, data)
        yield from data

    def _layer(self, coding: str, parts: Iterator[bytes]) -> Iterator[bytes]:
        self._unfinished.append(coding)
        whole = False
        try:
            for data, whole in _CODINGS[coding](parts):  # noqa: B007 (what it was last is read below)
                if data:
                    yield data
        except _FAILURES:
            self._spoil(f"the response body is marked {coding} and is not")
        if whole:
            self._unfinished.remove(coding)

    def _spoil(self, reason: str) -> None:
        if not self.spoiled:
            self._reason, self.spoiled = reason, True


def _beginning(parts: Iterable[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """At least so many bytes that are no white space, where there are so many, and what follows them."""
    rest = iter(parts)
    start = b""
    for part in rest:
        start += part
        if len(start.strip()) >= size:
            break
    return start, rest


Undone = Iterator[tuple[bytes, bool]]
"""Decoded bytes, and whether the end of the coded body has come."""


def _unzipped(parts: Iterator[bytes], bits: int) -> Undone:
    reader = zlib.decompressobj(wbits=bits)
    for part in parts:
        data = part
        while data and not reader.eof:
            yield reader.decompress(data, _ROOM), reader.eof
            data = reader.unconsumed_tail
    yield reader.flush(), reader.eof


def _gunzipped(parts: Iterator[bytes]) -> Undone:
    return _unzipped(parts, 31)


def _inflated(parts: Iterator[bytes]) -> Undone:
    """With zlib's frame, as the standard says, or without, as some servers send it: the first two bytes tell."""
    start, rest = _beginning(parts, 2)
    framed = len(start) > 1 and start[0] & 15 == 8 and int.from_bytes(start[:2], "big") % 31 == 0
    return _unzipped(chain((start,), rest), 15 if framed else -15)


def _unbrotlied(parts: Iterator[bytes]) -> Undone:
    reader = brotli.Decompressor()
    for part in parts:
        data = part
        while not reader.is_finished() and (data or not reader.can_accept_more_data()):
            yield reader.process(data, output_buffer_limit=_ROOM), reader.is_finished()
            data = b""


def _unzstd(parts: Iterator[bytes]) -> Undone:
    reader = zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()
    for part in parts:
        for start in range(0, len(part), _STEP):
            if reader.eof:
                return
            yield reader.decompress(part[start : start + _STEP]), reader.eof


_CODINGS: dict[str, Callable[[Iterator[bytes]], Undone]] = {
    "gzip": _gunzipped,
    "x-gzip": _gunzipped,
    "deflate": _inflated,
    "br": _unbrotlied,
    "zstd": _unzstd,
}
