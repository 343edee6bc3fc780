"""Going through a file of evidence once from its beginning, and back to single entries: what every format does for it.

A scan reads forwards only, so that a pipe can be read too; ``load`` needs a file that can be read at any place.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol

from msgspec.structs import replace

from conformance.evidence.bodies import unread_of
from conformance.evidence.pulling import Reader
from conformance.evidence.recording import Recording
from conformance.values import Exchange, Failure

AT_ONCE = 8 * 1024**2
"""Bytes of an entry that is read at once; a longer one is looked into piece by piece."""

TOO_LONG = "more than 64 MiB that are no event stream"
"""Why an entry is left out."""


class Entry(NamedTuple):
    """One entry of a file: its number, which is its exchange's id, where it stands, and what it is."""

    number: int
    start: int
    size: int
    found: Exchange | str  # the reason why it is no exchange, where it is none


class Scan(Protocol):
    """One pass over a file."""

    format: str
    cut: str | None  # where the file breaks off, once the pass is over

    def entries(self, file: BinaryIO) -> Iterator[Entry]:
        """The entries in their order. Raises ``Unreadable``, and ``OSError`` where the file does."""

    def load(self, file: BinaryIO, entry: tuple[int, int, int]) -> Exchange | str:
        """One entry again, by its number, start and size."""

    def settled(self, exchange: Exchange) -> Exchange:
        """An exchange as the pass over the whole file, which is over, shows it."""


def recording(path: str, scan: Scan, file: BinaryIO) -> Recording:
    """What a file holds, all of it. Raises ``Unreadable``."""
    found: list[Exchange] = []
    skipped: Counter[str] = Counter()
    for entry in scan.entries(file):
        if isinstance(entry.found, str):
            skipped[entry.found] += 1
        else:
            found.append(entry.found)
    return Recording(
        path=path,
        format=scan.format,
        exchanges=tuple(map(scan.settled, found)),
        skipped=dict(skipped),
        cut=scan.cut or unread_of(found),
    )


def value_at(file: BinaryIO, start: int, size: int, encoding: str | None = None) -> tuple[Any, str | None]:
    """The JSON value at a place of a file, and why it is not whole. Raises ``Broken``."""
    file.seek(start)
    reader = Reader(file if size > AT_ONCE else io.BytesIO(file.read(size)), start=start, encoding=encoding)
    return reader.value(), reader.unread


def shortened(found: Exchange | str, unread: str | None) -> Exchange | str:
    """An exchange that says why its answer is not whole."""
    if unread is None or isinstance(found, str):
        return found
    return replace(found, failure=Failure(kind="cut", message=unread))
