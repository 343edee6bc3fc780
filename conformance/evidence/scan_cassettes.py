"""Cassettes of vcrpy and go-vcr, interaction by interaction.

YAML has no borders that could be found without reading it, but recorders write one interaction a list entry, each
beginning on a line of its own with a dash at the same indentation. Each is parsed by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from conformance.evidence import beside, cassettes, replayable
from conformance.evidence.entries import has_key, part, with_key
from conformance.evidence.pulling import TOO_LARGE, Broken, Reader
from conformance.evidence.recording import Unreadable
from conformance.evidence.scanning import TOO_LONG, Entry, shortened, value_at
from conformance.values import Exchange

LARGEST_ENTRY = 64 * 1024**2
"""Bytes of YAML that one interaction may have; a larger one is left out."""

PART = 1024**2  # bytes of a line that are read at a time
LONGEST_START = 1024**2  # bytes before the first interaction
TOO_LONG_YAML = f"an interaction of more than {LARGEST_ENTRY // 1024**2} MiB in YAML, which is parsed whole"
_LIST = re.compile(rb"(?:\xef\xbb\xbf)?interactions:\s*\Z")
_DASH = re.compile(rb"( *)- ")


class _CassetteScan:
    """What both forms share."""

    def __init__(self, path: str) -> None:
        self.path, self.format = path, "vcrpy"
        self.cut: str | None = None
        self._count = 0
        self._ours = self._keyed = False
        self._kept: dict[int, beside.Line] = {}
        self._model: str | None = None

    def settled(self, exchange: Exchange) -> Exchange:
        """The exchange; with a key where a recorder took those of all requests away."""
        return exchange if self._ours or self._keyed else with_key(exchange)

    def _exchange(self, value: Any, number: int) -> Exchange | str:
        if "url" in part(value, "request"):
            self.format = "go-vcr"
        kept = self._kept if self._ours else None
        found = cassettes.exchange(value, number, self.path, kept=kept, model=self._model)
        self._keyed = self._keyed or (isinstance(found, Exchange) and has_key(found))
        return found

    def _told(self, error: str, read: int, *, cut: bool) -> None:
        """Say where the file breaks off. Raises ``Unreadable`` where it is broken, or holds nothing before."""
        if not cut or not self._count:
            raise Unreadable(self.path, error) from None
        self.cut = cassettes.cut_at(read, self._count)


class JsonCassetteScan(_CassetteScan):
    """A cassette in JSON."""

    def entries(self, file: BinaryIO) -> Iterator[Entry]:
        """The interactions."""
        reader = Reader(file)
        listed = False
        try:
            for name in reader.members():
                if name == "interactions" and reader.first() == "[":
                    listed = True
                    for _ in reader.items():
                        start = reader.offset
                        value = reader.value()
                        self._count += 1
                        found = self._of(value, reader.unread, self._count)
                        yield Entry(self._count, start, reader.offset - start, found)
                else:
                    reader.value()
            reader.end()
        except Broken as error:
            reason = f"a cassette whose JSON is broken at byte {error.offset} ({error.message})"
            self._told(reason, reader.read, cut=error.cut)
        if not listed:
            raise Unreadable(self.path, "a cassette without a list of interactions")
        if not self._count:
            raise Unreadable(self.path, "empty: the cassette has no interaction")

    def load(self, file: BinaryIO, entry: tuple[int, int, int]) -> Exchange | str:
        """One interaction again."""
        number, start, size = entry
        return self._of(*value_at(file, start, size), number)

    def _of(self, value: Any, unread: str | None, number: int) -> Exchange | str:
        if value is TOO_LARGE:
            return f"an interaction with {TOO_LONG}"
        return shortened(self._exchange(value, number), unread)


class YamlCassetteScan(_CassetteScan):
    """A cassette in YAML."""

    def entries(self, file: BinaryIO) -> Iterator[Entry]:
        """The interactions."""
        for item in _items(file, self._begun(file), self.path):
            found = self._parsed(item, self._count + 1)
            if found is not None:
                self._count += 1
                yield Entry(self._count, item.start, item.size, found)
        if not self._count:
            raise Unreadable(self.path, "empty: the cassette has no interaction")

    def load(self, file: BinaryIO, entry: tuple[int, int, int]) -> Exchange | str:
        """One interaction again."""
        number, start, size = entry
        file.seek(start)
        return self._parsed(_Item(start, size, file.read(size), whole=True), number) or TOO_LONG_YAML

    def _begun(self, file: BinaryIO) -> int:
        """Read up to the list of interactions; return where it begins."""
        before: list[bytes] = []
        size = 0
        while line := file.readline(LONGEST_START):
            size += len(line)
            if _LIST.match(line):
                document, _ = cassettes.loaded(b"".join(before).decode("utf-8-sig", "surrogateescape"))
                self._ours = replayable.is_ours(document)
                self._kept = replayable.kept_beside(document, self.path)
                self._model = replayable.model_of(document)
                return size
            before.append(line)
            if size > LONGEST_START:
                break
        raise Unreadable(self.path, "a cassette without a list of interactions")

    def _parsed(self, item: _Item, number: int) -> Exchange | str | None:
        """What an item is; None for the last one where the file breaks off in it. Raises ``Unreadable``."""
        if item.data is None:
            return TOO_LONG_YAML
        text = item.data.decode("utf-8", "surrogateescape")
        value, problem = cassettes.loaded(text)
        listed = isinstance(value, list) and len(value) == 1
        lacking = not item.whole and cassettes.lacks_its_end({"interactions": value}, text)
        if problem is None and listed and not lacking:
            return self._exchange(value[0], number)
        reason = f"a cassette whose YAML is broken in interaction {number} ({problem or 'it is no list entry'})"
        self._told(reason, item.start + item.size, cut=not item.whole)
        return None


@dataclass(frozen=True, slots=True)
class _Item:
    """An entry of a list in YAML: its bytes, None where they are too many, and whether anything follows it."""

    start: int
    size: int
    data: bytes | None
    whole: bool


def _items(file: BinaryIO, start: int, path: str) -> Iterator[_Item]:
    """The entries of the list that begins here, up to a line that is not indented as they are."""
    dash: bytes | None = None
    held: list[bytes] = []
    size = 0
    begins = True
    while piece := file.readline(PART):
        if begins and piece.strip() and not piece.startswith(b"#"):
            dash = dash or _dash(piece, path)
            following = piece.startswith(dash)
            ends = not following and len(piece) - len(piece.lstrip(b" ")) < len(dash) - 1
            if size and (ends or following):
                yield _Item(start, size, _joined(held, size), whole=True)
                start, size, held = start + size, 0, []
            if ends:
                return
        begins = piece.endswith(b"\n")
        if dash is None:
            start += len(piece)
            continue
        size += len(piece)
        held.append(piece)
        if size > LARGEST_ENTRY:
            held.clear()
    if size:
        yield _Item(start, size, _joined(held, size), whole=False)


def _dash(line: bytes, path: str) -> bytes:
    """How an entry of the list begins. Raises ``Unreadable`` where the line is none."""
    found = _DASH.match(line)
    if found is None:
        raise Unreadable(path, "a cassette without a list of interactions")
    return found.group()


def _joined(held: list[bytes], size: int) -> bytes | None:
    return b"".join(held) if size <= LARGEST_ENTRY else None
