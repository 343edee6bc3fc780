"""The file beside a cassette: where each stream was split and when its parts came, which vcrpy cannot keep.

One header line, then one line for each interaction with more than one part. It also holds, compressed, the events of
long streams that the cassette does not show.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import msgspec

from conformance.evidence import shown
from conformance.evidence.recording import Unreadable
from conformance.values import Chunk

FORMAT = "kimi-conformance-chunks"
VERSION = 1
LONGEST_HEADER = 4096  # bytes
LARGEST = 64 * 1024**2
"""Bytes that the file, or the omitted part of one stream, may have."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line: what the file is."""

    format: str
    version: int


class Omitted(msgspec.Struct, frozen=True, kw_only=True):
    """Events that the cassette does not show: where they stood, and they themselves, deflated."""

    at: int
    deflated: bytes


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One stream: microseconds from each part to the next, the first from the request; and bytes of each."""

    interaction: int  # from 1
    us: tuple[int, ...]
    sizes: tuple[int, ...]
    omitted: Omitted | None = None


def path_of(cassette: Path) -> Path:
    """Where the file beside a cassette is."""
    return cassette.with_suffix(".jsonl")


def is_beside(data: bytes) -> bool:
    """Whether the first line is the header of such a file, of whatever version."""
    return f'"{FORMAT}"'.encode() in data[:LONGEST_HEADER].partition(b"\n")[0]


def belongs_to_a_cassette(path: Path) -> bool:
    """Whether a file is the one beside a cassette that is there. Raises ``OSError``."""
    return is_one(path) and path.with_suffix(".yaml").is_file()


def is_one(path: Path) -> bool:
    """Whether a regular file begins as such a file does. Raises ``OSError``."""
    with path.open("rb") as file:
        return is_beside(file.read(LONGEST_HEADER))


def line(number: int, chunks: Sequence[Chunk]) -> tuple[Line, bytes]:
    """What is kept of a stream, and the bytes that the cassette shows of it."""
    data = b"".join(chunk.data for chunk in chunks)
    times = [round(chunk.ms * 1000) for chunk in chunks]
    omitted = None
    cut = shown.middle(data)
    if cut is not None:
        hidden = data[slice(*cut)]
        omitted = Omitted(at=cut[0], deflated=zlib.compress(hidden, 9))
        data = data[: cut[0]] + shown.omission(hidden) + data[cut[1] :]
    us = tuple(later - earlier for earlier, later in pairwise([0, *times]))
    kept = Line(interaction=number, us=us, sizes=tuple(len(chunk.data) for chunk in chunks), omitted=omitted)
    return kept, data


def written(lines: Sequence[Line]) -> bytes:
    """The file."""
    encoder = msgspec.json.Encoder()
    return b"".join(encoder.encode(one) + b"\n" for one in (Header(format=FORMAT, version=VERSION), *lines))


def read(path: Path) -> dict[int, Line]:
    """The lines by interaction; empty where there is no such file. Raises ``Unreadable``."""
    try:
        if not path.is_file():
            return {}
        if path.stat().st_size > LARGEST:
            raise Unreadable(str(path), f"larger than {LARGEST} bytes")
        head, *rest = path.read_bytes().splitlines() or [b""]
        header = msgspec.json.decode(head, type=Header)
        decoder = msgspec.json.Decoder(Line)
        found = [decoder.decode(one) for one in rest if one.strip()]
    except OSError as error:
        raise Unreadable(str(path), error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(path), f"no file of chunks ({str(error)[:120]})") from None
    if (header.format, header.version) != (FORMAT, VERSION):
        raise Unreadable(str(path), f"expected {FORMAT} of version {VERSION}")
    return {one.interaction: one for one in found}


def whole(data: bytes, kept: Line) -> bytes | None:
    """The bytes of the wire; None where the cassette no longer fits to what is kept beside it."""
    if kept.omitted is None:
        return data
    try:
        reader = zlib.decompressobj()
        hidden = reader.decompress(kept.omitted.deflated, LARGEST)
    except zlib.error:
        return None
    mark, at = shown.omission(hidden), kept.omitted.at
    if not reader.eof or data[at : at + len(mark)] != mark:
        return None
    return data[:at] + hidden + data[at + len(mark) :]


def chunks(data: bytes, kept: Line) -> tuple[Chunk, ...] | None:
    """A body in the parts that it came in; None where they do not add up to it."""
    if len(kept.us) != len(kept.sizes) or sum(kept.sizes) != len(data) or min(kept.sizes, default=0) < 0:
        return None
    ends = list(accumulate(kept.sizes))
    return tuple(
        Chunk(ms=us / 1000, data=data[end - size : end])
        for us, size, end in zip(accumulate(kept.us), kept.sizes, ends, strict=True)
    )
