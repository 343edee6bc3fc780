"""HAR files, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from conformance.evidence import har
from conformance.evidence.entries import with_key
from conformance.evidence.pulling import TOO_LARGE, Broken, Reader
from conformance.evidence.recording import Unreadable
from conformance.evidence.scanning import TOO_LONG, Entry, shortened, value_at
from conformance.values import Exchange


class HarScan:
    """A HAR file, in UTF-8 or UTF-16."""

    format = "har"

    def __init__(self, path: str) -> None:
        self.path = path
        self.cut: str | None = None
        self._count = 0
        self._listed = False
        self._encoding: str | None = None
        self._stripped = False  # the creator is one that takes keys away
        self._authorized = False  # an entry has a key

    def entries(self, file: BinaryIO) -> Iterator[Entry]:
        """The entries of the log."""
        reader = Reader(file)
        try:
            for name in reader.members():
                if name == "log" and reader.first() == "{":
                    yield from self._log(reader)
                else:
                    reader.value()
            reader.end()
        except Broken as error:
            if not error.cut:
                reason = f"a HAR file whose JSON is broken at byte {error.offset} ({error.message})"
                raise Unreadable(self.path, reason) from None
            if not self._count:
                reason = f"a HAR file that is cut off: its JSON ends at byte {reader.read}, inside a value"
                raise Unreadable(self.path, reason) from None
            many = "entry" if self._count == 1 else "entries"
            self.cut = f"cut off at byte {reader.read}; {self._count} whole {many} stand before it"
        if not self._listed:
            raise Unreadable(self.path, "a HAR file whose log has no list of entries")
        if not self._count:
            raise Unreadable(self.path, "empty: the HAR file has no entry")

    def load(self, file: BinaryIO, entry: tuple[int, int, int]) -> Exchange | str:
        """One entry again."""
        number, start, size = entry
        return self._exchange(*value_at(file, start, size, self._encoding), number)

    def settled(self, exchange: Exchange) -> Exchange:
        """The exchange with a key in place of the one that a browser took away."""
        return with_key(exchange) if self._stripped and not self._authorized else exchange

    def _log(self, reader: Reader) -> Iterator[Entry]:
        for name in reader.members():
            if name == "entries" and reader.first() == "[":
                self._listed = True
                for _ in reader.items():
                    start = reader.offset
                    value = reader.value()
                    self._encoding = reader.encoding
                    self._count += 1
                    found = self._exchange(value, reader.unread, self._count)
                    yield Entry(self._count, start, reader.offset - start, found)
            else:
                value = reader.value()
                self._stripped = self._stripped or (name == "creator" and har.strips_keys(value))

    def _exchange(self, value: Any, unread: str | None, number: int) -> Exchange | str:
        if value is TOO_LARGE:
            return f"an entry with {TOO_LONG}"
        self._authorized = self._authorized or har.is_authorized(value)
        return shortened(har.exchange(value, str(number), self.path), unread)
