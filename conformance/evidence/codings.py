"""Content codings (gzip, deflate, br, zstd), undone where a recorder kept the bytes of the wire."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable

import brotli
import zstandard

LARGEST_BODY = 256 * 1024**2
"""Bytes that a coded body may unfold to."""

MOST_CODINGS = 4  # one upon another; a server sends one
_STEP = 1024  # coded bytes of zstd fed at a time, which unfold to 32 MiB at most
_PLAIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:[{\[<\"]|(?:data|event|id|retry)?:)")
_FAILURES = (zlib.error, brotli.error, zstandard.ZstdError)


def decoded(data: bytes, headers: tuple[tuple[str, str], ...]) -> tuple[bytes, str | None]:
    """The body without the codings that its headers name, and why it is not whole.

    Most recorders decode a body and keep the header: JSON, markup and event streams count as decoded already.
    """
    value = ",".join(value for name, value in headers if name.lower() == "content-encoding")
    codings = [coding.strip().lower() for coding in value.split(",") if coding.strip()]
    if not data or not codings or _PLAIN.match(data):
        return data, None
    for coding in reversed(codings[:MOST_CODINGS]):
        if coding == "identity":
            continue
        unfold = _CODINGS.get(coding)
        if unfold is None:
            return b"", f"the response body is coded as {coding[:40]}, which is not known"
        try:
            data, whole = unfold(data)
        except _FAILURES:
            return b"", f"the response body is marked {coding} and is not"
        if not whole:
            return data, f"the {coding} body is cut off or too large"
    return data, None


def _unzipped(data: bytes, bits: int) -> tuple[bytes, bool]:
    reader = zlib.decompressobj(wbits=bits)
    plain = reader.decompress(data, LARGEST_BODY)
    return plain, reader.eof


def _gunzipped(data: bytes) -> tuple[bytes, bool]:
    return _unzipped(data, 31)


def _inflated(data: bytes) -> tuple[bytes, bool]:
    """With zlib's frame, as the standard says, or without, as some servers send it."""
    try:
        return _unzipped(data, 15)
    except zlib.error:
        return _unzipped(data, -15)


def _unbrotlied(data: bytes) -> tuple[bytes, bool]:
    reader = brotli.Decompressor()
    plain = reader.process(data, output_buffer_limit=LARGEST_BODY)
    return plain, reader.is_finished()


def _unzstd(data: bytes) -> tuple[bytes, bool]:
    reader = zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()
    parts: list[bytes] = []
    size = 0
    for start in range(0, len(data), _STEP):
        parts.append(reader.decompress(data[start : start + _STEP]))
        size += len(parts[-1])
        if reader.eof or size > LARGEST_BODY:
            break
    return b"".join(parts), reader.eof


_CODINGS: dict[str, Callable[[bytes], tuple[bytes, bool]]] = {
    "gzip": _gunzipped,
    "x-gzip": _gunzipped,
    "deflate": _inflated,
    "br": _unbrotlied,
    "zstd": _unzstd,
}
