"""Journals and JSONL logs, line by line; a line of any length is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from conformance.evidence import journal, logs
from conformance.evidence.entries import has_key, with_key
from conformance.evidence.fields import FieldMap
from conformance.evidence.pulling import TOO_LARGE, Broken, Reader
from conformance.evidence.recording import Unreadable
from conformance.evidence.scanning import AT_ONCE, TOO_LONG, Entry, shortened, value_at
from conformance.values import Exchange

PART = 1024**2  # bytes of a long line that are read at a time
_BOM = b"\xef\xbb\xbf"


class _Line:
    """A line that is too long to be read at once, as a file of its own."""

    def __init__(self, start: bytes, file: BinaryIO) -> None:
        self.size = len(start)
        self.ended = False
        self._start, self._file = start, file

    def read(self, _: int = PART) -> bytes:
        """The next bytes of the line."""
        part, self._start = self._start, b""
        if not part and not self.ended:
            part = self._file.readline(PART)
            self.size += len(part)
        self.ended = self.ended or part.endswith(b"\n")
        return part


class LineScan:
    """A file of lines; ``fields`` say where a log keeps its parts."""

    def __init__(self, path: str, form: str, fields: FieldMap) -> None:
        self.path, self.format = path, form
        self.cut: str | None = None
        self._fields = fields
        self._keyed = form == "journal"  # whether any request has a key, or is of a format that would say so
        self._decoder = msgspec.json.Decoder(Exchange)

    def entries(self, file: BinaryIO) -> Iterator[Entry]:
        """The lines that are not blank; those of a journal without its header."""
        start = number = 0
        while line := file.readline(AT_ONCE):
            number += 1
            if number == 1 and line.startswith(_BOM):
                line, start = line[len(_BOM) :], len(_BOM)
            if number == 1 and self.format == "journal":
                journal.header(line, self.path)
                start += len(line)
                continue
            size, ended = len(line), line.endswith(b"\n")
            if ended or size < AT_ONCE:
                found = self._exchange(line, number) if line.strip() else None
            else:
                found, size, ended = self._long(line, file, number)
            broken = isinstance(found, str) and found.startswith((logs.NO_LINE, journal.NO_EXCHANGE))
            if broken and not ended:
                self.cut = f"cut off at byte {start + size}, in line {number}"
            elif broken and self.format == "journal":
                raise Unreadable(self.path, f"line {number} at byte {start} is {found}")
            elif found is not None:
                self._keyed = self._keyed or (isinstance(found, Exchange) and has_key(found))
                yield Entry(number, start, size, found)
            start += size

    def load(self, file: BinaryIO, entry: tuple[int, int, int]) -> Exchange | str:
        """One line again."""
        number, start, size = entry
        if size < AT_ONCE:
            file.seek(start)
            return self._exchange(file.read(size), number)
        try:
            return self._of(*value_at(file, start, size), number)
        except Broken:
            return logs.NO_LINE

    def settled(self, exchange: Exchange) -> Exchange:
        """The exchange; with a key where a log holds none of any request."""
        return exchange if self._keyed else with_key(exchange)

    def _long(self, line: bytes, file: BinaryIO, number: int) -> tuple[Exchange | str, int, bool]:
        """What a long line is, with its size and whether its end is there."""
        long = _Line(line, file)
        reader = Reader(long)  # type: ignore[arg-type]  # it is read from, and nothing else
        try:
            found = self._of(reader.value(), reader.unread, number)
            reader.end()
        except Broken:
            found = logs.NO_LINE if self.format == "jsonl" else journal.NO_EXCHANGE
        while long.read():
            pass
        return found, long.size, long.ended

    def _exchange(self, line: bytes, number: int) -> Exchange | str:
        if self.format == "jsonl":
            return logs.exchange(line, str(number), self.path, self._fields)
        return journal.exchange(line, self.path, self._decoder)

    def _of(self, value: Any, unread: str | None, number: int) -> Exchange | str:
        """The exchange of a value that was read piece by piece."""
        if value is TOO_LARGE:
            return f"a line with {TOO_LONG}"
        if self.format == "jsonl":
            found = logs.exchange_of(value, str(number), self.path, self._fields)
        else:
            found = journal.exchange_of(value, self.path)
        return shortened(found, unread)
