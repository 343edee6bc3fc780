"""Content codings undone chunk by chunk, so that each piece keeps the time at which it arrived."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import Protocol

import brotli
import zstandard

from conformance.evidence.codings import LARGEST_BODY, MOST_CODINGS
from conformance.values import Chunk

_STEP = 1024  # coded bytes fed to zstd at a time, which unfold to 32 MiB at most
_FAILURES = (zlib.error, brotli.error, zstandard.ZstdError)


class _Decoder(Protocol):
    @property
    def whole(self) -> bool:
        """Whether the end of the coded body has come."""

    def feed(self, data: bytes, room: int) -> bytes:
        """What the data unfolds to, about ``room`` bytes at most. Raises one of ``_FAILURES``."""


class Unfolder:
    """Undoes the codings that headers name, but for those that are not known, one part of the body after the other."""

    def __init__(self, headers: Iterable[tuple[str, str]]) -> None:
        named = ",".join(value for name, value in headers if name.lower() == "content-encoding")
        codings = [coding.strip().lower() for coding in named.split(",") if coding.strip()]
        self.codings = tuple(coding for coding in codings[:MOST_CODINGS] if coding != "identity")
        self.unknown = next((coding for coding in self.codings if coding not in _DECODERS), None)
        self._decoders = [_DECODERS[coding]() for coding in reversed(self.codings) if coding in _DECODERS]

    @property
    def name(self) -> str:
        """The codings in words, bounded."""
        return ", ".join(self.codings)[:80]

    @property
    def whole(self) -> bool:
        """Whether the end of the coded body has come."""
        return all(decoder.whole for decoder in self._decoders)

    def feed(self, data: bytes, room: int) -> bytes:
        """What the next part unfolds to, about ``room`` bytes at most. Raises ``ValueError`` for no such code."""
        try:
            for decoder in self._decoders:
                data = decoder.feed(data, room)
        except _FAILURES:
            raise ValueError(f"the body is marked {self.name} and is not") from None
        return data


def unfolded(
    chunks: Iterable[Chunk], headers: Iterable[tuple[str, str]], *, largest: int = LARGEST_BODY
) -> tuple[tuple[Chunk, ...], str | None]:
    """The chunks without the codings that the headers name, and why they are not the whole body.

    Chunks that unfold to nothing yet are left out. What was decoded before a fault is kept.
    """
    unfolder = Unfolder(headers)
    if not unfolder.codings:
        return tuple(chunks), None
    if unfolder.unknown is not None:
        return (), f"the body is coded as {unfolder.unknown[:40]}, which is not known"
    plain: list[Chunk] = []
    size = fed = 0
    for chunk in chunks:
        fed += len(chunk.data)
        try:
            data = unfolder.feed(chunk.data, largest - size)
        except ValueError as error:
            return tuple(plain), str(error)
        size += len(data)
        if data:
            plain.append(Chunk(ms=chunk.ms, data=data))
        if size >= largest:
            return tuple(plain), f"the body unfolds to more than {largest} bytes"
    whole = not fed or unfolder.whole
    return tuple(plain), None if whole else f"the {unfolder.name} body is cut off"


class _Zlib:
    def __init__(self, bits: int) -> None:
        self._reader = zlib.decompressobj(wbits=bits)

    @property
    def whole(self) -> bool:
        return self._reader.eof

    def feed(self, data: bytes, room: int) -> bytes:
        return self._reader.decompress(self._reader.unconsumed_tail + data, max(room, 1))


class _Deflate:
    """With zlib's frame, as the standard says, or without, as some servers send it: the first two bytes tell."""

    def __init__(self) -> None:
        self._inner: _Zlib | None = None
        self._start = b""

    @property
    def whole(self) -> bool:
        return self._inner is not None and self._inner.whole

    def feed(self, data: bytes, room: int) -> bytes:
        if self._inner is None:
            self._start += data
            if len(self._start) < 2:
                return b""
            data = self._start
            framed = data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inner = _Zlib(15 if framed else -15)
        return self._inner.feed(data, room)


class _Brotli:
    def __init__(self) -> None:
        self._reader = brotli.Decompressor()

    @property
    def whole(self) -> bool:
        return bool(self._reader.is_finished())

    def feed(self, data: bytes, room: int) -> bytes:
        if self.whole:
            return b""
        plain: bytes = self._reader.process(data, output_buffer_limit=max(room, 1))
        return plain


class _Zstd:
    def __init__(self) -> None:
        self._reader = zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()

    @property
    def whole(self) -> bool:
        return bool(self._reader.eof)

    def feed(self, data: bytes, room: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        for start in range(0, len(data), _STEP):
            if self.whole or size > room:
                break
            parts.append(self._reader.decompress(data[start : start + _STEP]))
            size += len(parts[-1])
        return b"".join(parts)


_DECODERS: dict[str, Callable[[], _Decoder]] = {
    "gzip": lambda: _Zlib(31),
    "x-gzip": lambda: _Zlib(31),
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}
