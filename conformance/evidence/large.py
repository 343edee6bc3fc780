"""Large files of lines (journals, JSONL logs), read in constant memory and handed out in windows.

The file is read twice. The first reading keeps eight bytes of the opening of each conversation and the offset of each
line; the second hands out windows in which exchanges that open alike stand together, in the order of the file, so that
repeats, both modes of a request, sibling models and whole conversations are judged together. Rules over more than that
(ids that repeat, a longer prompt) compare within a window only; decision record 9 says what this costs.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from conformance.evidence import entries, journal, logs
from conformance.evidence.fields import FieldMap
from conformance.evidence.recording import Unreadable
from conformance.values import Exchange

LARGE = 32 * 1024**2
"""Bytes above which a log is judged in windows."""

LARGE_JOURNAL = 256 * 1024**2
"""Bytes above which a journal is: that of a full run, which holds a few very long prompts, is judged whole."""

MANY = 16_000
"""Lines above which a journal of more than ``LARGE`` bytes is too, lest its pairs take hours to find."""

PART = 8 * 1024**2  # bytes read at a time
WINDOW = 4 * 1024**2  # bytes of lines in one window
MOST = 1_000  # exchanges in one window
LONGEST_LINE = 64 * 1024**2  # bytes; a longer line is skipped
TOO_LONG = f"a line of more than {LONGEST_LINE // 1024**2} MiB"
OPENING = 64  # characters of the first user message that bring exchanges together


def needs_windows(file: BinaryIO, size: int, *, is_journal: bool) -> bool:
    """Whether a file of lines of this size is judged in windows; the lines of a journal are counted if need be.

    Raises ``OSError``.
    """
    if size <= LARGE:
        return False
    if not is_journal or size > LARGE_JOURNAL:
        return True
    file.seek(0)
    lines = 0
    while lines <= MANY and (part := file.read(PART)):
        lines += part.count(b"\n")
    return lines > MANY


class Large:
    """A file that is judged in windows; ``skipped`` and ``cut`` as of a ``Recording``."""

    def __init__(self, path: str, form: str, fields: FieldMap) -> None:
        self.path, self.format = path, form
        self.skipped: Counter[str] = Counter()
        self.cut: str | None = None
        self._fields = fields
        self._keyed = False  # whether any request has a key, or is of a format that says so when it has none
        self._decoder = msgspec.json.Decoder(Exchange)
        self._starts, self._lines, self._keys, self._sizes = array("Q"), array("Q"), array("Q"), array("L")

    @property
    def count(self) -> int:
        """How many exchanges the file holds."""
        return len(self._starts)

    def index(self) -> None:
        """Read the file once. Raises ``Unreadable``."""
        for number, start, line, ended in _lines(self.path):
            if line is None:
                self.skipped[TOO_LONG] += 1
            elif line.strip() and not (number == 1 and self.format == "journal"):
                result = self._exchange(line, number)
                if isinstance(result, Exchange):
                    self._starts.append(start)
                    self._lines.append(number)
                    self._sizes.append(len(line))
                    self._keys.append(_key(result))
                    self._keyed = self._keyed or self.format != "jsonl" or entries.has_key(result)
                elif result == logs.NO_LINE and not ended:
                    self.cut = f"cut off at byte {start + len(line)}, in line {number}"
                elif result == logs.NO_LINE and self.format == "journal":
                    raise Unreadable(self.path, f"line {number} at byte {start} is not an exchange")
                else:
                    self.skipped[result] += 1
        if self.format == "jsonl":
            logs.refuse(self.path, self.count, self.skipped)

    def windows(self) -> Iterator[list[tuple[int, Exchange]]]:
        """The exchanges with their line numbers, those that open alike together. Raises ``Unreadable``."""
        yield from self._grouped(sorted(range(self.count), key=self._keys.__getitem__))

    def exchanges(self) -> Iterator[Exchange]:
        """The exchanges in the order of the file."""
        for window in self._grouped(range(self.count)):
            yield from (exchange for _, exchange in window)

    def _grouped(self, order: Any) -> Iterator[list[tuple[int, Exchange]]]:
        """Windows of at most ``WINDOW`` bytes; a group that fits into one is not divided between two."""
        with _opened(self.path) as file:
            window: list[tuple[int, Exchange]] = []
            size = 0
            for places in _runs(order, self._keys):
                group = sum(self._sizes[place] for place in places)
                if window and (size + group > WINDOW or len(window) + len(places) > MOST):
                    yield window
                    window, size = [], 0
                for place in places:
                    if window and (size + self._sizes[place] > WINDOW or len(window) >= MOST):
                        yield window
                        window, size = [], 0
                    file.seek(self._starts[place])
                    number = self._lines[place]
                    result = self._exchange(file.read(self._sizes[place]), number)
                    if not isinstance(result, Exchange):
                        raise Unreadable(self.path, f"line {number} changed while the file was read")
                    window.append((number, result if self._keyed else entries.with_key(result)))
                    size += self._sizes[place]
            if window:
                yield window

    def _exchange(self, line: bytes, number: int) -> Exchange | str:
        if self.format == "jsonl":
            return logs.exchange(line, str(number), self.path, self._fields)
        return journal.exchange(line, self.path, self._decoder) or logs.NO_LINE


def open_large(path: str, fields: FieldMap) -> Large:
    """A large file, indexed. Raises ``Unreadable``."""
    with _opened(path) as file:
        head = file.readline(journal.LONGEST_HEADER)
    if journal.is_journal(head):
        journal.header(head, path)
        large = Large(path, "journal", fields)
    else:
        large = Large(path, "jsonl", fields)
    large.index()
    return large


def _opened(path: str) -> Any:
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from None


def _lines(path: str) -> Iterator[tuple[int, int, bytes | None, bool]]:
    """Number, offset and bytes of each line, and whether its end is there; None for a line that is too long."""
    with _opened(path) as file:
        number = start = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            size = len(line)
            whole: bytes | None = line
            while not line.endswith(b"\n") and (line := file.readline(LONGEST_LINE)):
                whole, size = None, size + len(line)
            if whole is not None and number == 1 and whole.startswith(b"\xef\xbb\xbf"):
                whole, start, size = whole[3:], 3, size - 3
            yield number, start, whole, line.endswith(b"\n")
            start += size


def _runs(order: Any, keys: Any) -> Iterator[list[int]]:
    """Places in their order, those with one key together; runs are bounded, whatever a file repeats."""
    run: list[int] = []
    for place in order:
        if run and (keys[place] != keys[run[0]] or len(run) >= MOST):
            yield run
            run = []
        run.append(place)
    if run:
        yield run


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
