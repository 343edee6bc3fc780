"""Files that are too large to be judged at once: read in constant memory and handed out in windows.

The file is read once, for eight bytes of the opening of each conversation and the place of each entry; windows are then
read from these places, in which exchanges that open alike stand together, in the order of the file, so that repeats,
both modes of a request, sibling models and whole conversations are judged together. Rules over more than that (ids that
repeat, a longer prompt) compare within a window only; decision record 9 says what this costs.
"""

from __future__ import annotations

import hashlib
import io
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, BinaryIO, TypeVar

from msgspec.structs import replace

from conformance.evidence import logs
from conformance.evidence.bodies import is_unread, unread_note
from conformance.evidence.pulling import Broken
from conformance.evidence.recording import Recording, Unreadable, opened
from conformance.evidence.scanning import AT_ONCE, Entry, Scan
from conformance.evidence.spool import Spool
from conformance.values import Exchange

LARGE = 32 * 1024**2
"""Bytes of exchanges above which a file is judged in windows."""

LARGE_JOURNAL = 256 * 1024**2
"""Bytes above which a journal is: that of a full run, which holds a few very long prompts, is judged whole."""

MANY = 16_000
"""Exchanges above which more than ``LARGE`` bytes of a journal are too, lest their pairs take hours to find."""

WINDOW = 4 * 1024**2  # bytes of entries in one window
MOST = 1_000  # exchanges in one window
OPENING = 64  # characters of the first user message that bring exchanges together
T = TypeVar("T")


def fits(size: int, count: int, *, journal: bool) -> bool:
    """Whether so many bytes in so many exchanges are judged at once."""
    return size <= LARGE or (journal and size <= LARGE_JOURNAL and count <= MANY)


class Large:
    """A file that is judged in windows; ``skipped`` and ``cut`` as of a ``Recording``.

    A ``spool`` takes the exchanges of a file that can be read once only.
    """

    def __init__(self, path: str, scan: Scan, spool: Spool | None = None) -> None:
        self.path = path
        self.skipped: Counter[str] = Counter()
        self.size = 0
        """Bytes of all exchanges; of a very long one, those that are kept."""
        self._scan, self._spool = scan, spool
        self._held: list[Exchange] | None = []
        self._unread: list[str] = []
        self._starts, self._numbers, self.keys, self.sizes = array("Q"), array("Q"), array("Q"), array("Q")

    @property
    def format(self) -> str:
        """What kind of file it is."""
        return self._scan.format

    @property
    def cut(self) -> str | None:
        """Where the file breaks off, or what of it was not read."""
        return self._scan.cut or unread_note(self._unread)

    @property
    def count(self) -> int:
        """How many exchanges the file holds."""
        return len(self._starts)

    def index(self, file: BinaryIO) -> None:
        """Read the file once, from its beginning. Raises ``Unreadable``, and ``OSError`` where the file does."""
        for entry in self._scan.entries(file):
            if isinstance(entry.found, str):
                self.skipped[entry.found] += 1
            else:
                self._add(entry, entry.found)
        if self.format == "jsonl":
            logs.refuse(self.path, self.count, self.skipped)
        elif self.format == "journal" and not self.count and self.cut is None:
            raise Unreadable(self.path, "empty: the journal has no exchange")

    def whole(self) -> Recording | None:
        """What the file holds, where that is little enough to be judged at once."""
        if self._held is None:
            return None
        exchanges = tuple(map(self._scan.settled, self._held))
        return Recording(
            path=self.path, format=self.format, exchanges=exchanges, skipped=dict(self.skipped), cut=self.cut
        )

    def windows(self) -> Iterator[list[tuple[int, Exchange]]]:
        """The exchanges with their numbers, those that open alike together. Raises ``Unreadable``."""
        order = sorted(range(self.count), key=self.keys.__getitem__)
        with self.source() as file:
            yield from grouped(order, self.keys, self.sizes, lambda place: self.load(file, place))

    def exchanges(self) -> Iterator[Exchange]:
        """The exchanges in the order of the file. Raises ``Unreadable``."""
        with self.source() as file:
            for place in range(self.count):
                yield self.load(file, place)[1]

    def source(self) -> Any:
        """What exchanges are loaded from. Raises ``Unreadable``."""
        return opened(self.path) if self._spool is None else self._spool

    def load(self, file: Any, place: int) -> tuple[int, Exchange]:
        """One exchange again, with its number. Raises ``Unreadable``."""
        number, start, size = self._numbers[place], self._starts[place], self.sizes[place]
        try:
            found = file.get(start, size) if self._spool is not None else self._scan.load(file, (number, start, size))
        except OSError as error:
            raise Unreadable(self.path, error.strerror or str(error)) from None
        except Broken:
            found = ""
        if not isinstance(found, Exchange):
            raise Unreadable(self.path, f"entry {number} changed while the file was read")
        return number, self._scan.settled(found)

    def _add(self, entry: Entry, exchange: Exchange) -> None:
        self._starts.append(entry.start)
        self._numbers.append(entry.number)
        self.sizes.append(entry.size)
        self.keys.append(_key(exchange))
        self.size += entry.size if entry.size <= AT_ONCE else weight(exchange)
        if is_unread(exchange):
            self._unread.append(exchange.id)
        if self._held is not None:
            self._held.append(exchange)
            if not fits(self.size, self.count, journal=self.format == "journal"):
                self.release()
        elif self._spool is not None:
            self._keep(self._spool, self.count - 1, exchange)

    def release(self) -> None:
        """Hold nothing any more."""
        held, self._held = self._held or [], None
        if self._spool is not None:
            for place, exchange in enumerate(held):
                self._keep(self._spool, place, exchange)

    def _keep(self, spool: Spool, place: int, exchange: Exchange) -> None:
        self._starts[place], self.sizes[place] = spool.put(exchange)


class Together:
    """Several files that are one recording and are judged in windows; ids begin with the number of their file."""

    def __init__(self, parts: Sequence[Large]) -> None:
        self._parts = parts
        self._ends = list(accumulate(part.count for part in parts))

    def windows(self) -> Iterator[list[tuple[int, Exchange]]]:
        """The exchanges with their numbers, those that open alike together. Raises ``Unreadable``."""
        keys, sizes = array("Q"), array("Q")
        for part in self._parts:
            keys.extend(part.keys)
            sizes.extend(part.sizes)
        yield from grouped(sorted(range(len(keys)), key=keys.__getitem__), keys, sizes, self._load)

    def _load(self, place: int) -> tuple[int, Exchange]:
        at = bisect_right(self._ends, place)
        part = self._parts[at]
        with part.source() as file:
            number, exchange = part.load(file, place - self._ends[at] + part.count)
        return number, renamed(exchange, at + 1)


def renamed(exchange: Exchange, place: int) -> Exchange:
    """Ids are unique within a file only: ``2:7`` is the seventh of the second file."""
    parent = None if exchange.parent is None else f"{place}:{exchange.parent}"
    return replace(exchange, id=f"{place}:{exchange.id}", parent=parent)


def spooled(recording: Recording, spool: Spool) -> Large:
    """A recording that is held no longer. Raises ``Unreadable``."""
    large = Large(recording.path, _Kept(recording), spool)
    large.skipped = Counter(recording.skipped)
    try:
        large.index(io.BytesIO())
        large.release()
    except OSError as error:
        raise Unreadable(recording.path, f"it cannot be kept ({error.strerror or error})") from None
    return large


class _Kept:
    """A recording as a scan gives it."""

    def __init__(self, recording: Recording) -> None:
        self.format, self.cut = recording.format, recording.cut
        self._exchanges = recording.exchanges

    def entries(self, file: BinaryIO) -> Iterator[Entry]:  # noqa: ARG002 (a scan's signature)
        """The exchanges, numbered from 1."""
        held, self._exchanges = self._exchanges, ()
        for number, exchange in enumerate(held, 1):
            yield Entry(number, 0, weight(exchange), exchange)

    def load(self, file: BinaryIO, entry: tuple[int, int, int]) -> str:  # noqa: ARG002 (likewise)
        """Nothing: the spool has them."""
        return "not in a file"

    def settled(self, exchange: Exchange) -> Exchange:
        """The exchange as it is."""
        return exchange


def grouped(order: Iterable[int], keys: array[int], sizes: array[int], load: Callable[[int], T]) -> Iterator[list[T]]:
    """Windows of at most ``WINDOW`` bytes; a group that fits into one is not divided between two."""
    window: list[T] = []
    size = 0
    for places in _runs(order, keys):
        group = sum(sizes[place] for place in places)
        if window and (size + group > WINDOW or len(window) + len(places) > MOST):
            yield window
            window, size = [], 0
        for place in places:
            if window and (size + sizes[place] > WINDOW or len(window) >= MOST):
                yield window
                window, size = [], 0
            window.append(load(place))
            size += sizes[place]
    if window:
        yield window


def _runs(order: Iterable[int], keys: array[int]) -> Iterator[list[int]]:
    """Places in their order, those with one key together; runs are bounded, whatever a file repeats."""
    run: list[int] = []
    for place in order:
        if run and (keys[place] != keys[run[0]] or len(run) >= MOST):
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def weight(exchange: Exchange) -> int:
    """Bytes of both bodies."""
    chunks = exchange.response.chunks if exchange.response is not None else ()
    return len(exchange.request.body) + sum(len(chunk.data) for chunk in chunks)


def _key(exchange: Exchange) -> int:
    """Eight bytes of how the conversation opens: the beginning of its first user message."""
    body = logs.record(exchange.request.body)
    turns = body.get("input" if "input" in body else "messages") if isinstance(body, dict) else None
    text = turns if isinstance(turns, str) else ""
    for turn in turns if isinstance(turns, list) else ():
        if isinstance(turn, dict) and turn.get("role") == "user":
            text = _text(turn.get("content"))
            break
    digest = hashlib.blake2b(text.strip()[:OPENING].encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            return str(part["text"])
    return ""
