"""The journals of a run's processes, joined into one in the suite's own order: one line in memory at a time.

The joined journal is written beside the one that it replaces, so that a run that is killed meanwhile loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from conformance.evidence.journal import FORMAT, VERSION, Header
from conformance.values import Exchange

JOINED = ".journal.new"


@dataclass(frozen=True, kw_only=True, order=True)
class _Line:
    """Where an exchange belongs, and where it stands."""

    place: int  # of its probe in the suite
    probe: str
    number: int
    attempt: int
    journal: int
    start: int
    size: int


def join(journals: Sequence[Path], to: Path, places: Mapping[str, int]) -> str | None:
    """Join journals into the file ``to``, which may be one of them, and remove the others.

    ``places`` are those of the probes, by name with surface and model. Returns why not all that was sent is there, in
    one line. Raises ``OSError``.
    """
    lines: list[_Line] = []
    lost: list[str] = []
    for number, journal in enumerate(journals):
        try:
            lines += _indexed(journal, number, places, lost)
        except FileNotFoundError:
            lost.append(f"{journal.name} is gone")
    ordered = sorted(lines)
    if list(journals) != [to] or ordered != lines or lost:
        _write(ordered, journals, to)
    for journal in journals:
        if journal != to:
            journal.unlink(missing_ok=True)
    more = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
    return f"the journal is not whole: {lost[0]}{more}" if lost else None


def recorded(journal: Path) -> Iterator[Exchange]:
    """The exchanges of a journal in its order; a line that is none is left out. Raises ``OSError``."""
    return (found for _, _, found in _lines(journal) if found is not None)


def _indexed(journal: Path, number: int, places: Mapping[str, int], lost: list[str]) -> Iterator[_Line]:
    for start, size, exchange in _lines(journal):
        name, _, step = exchange.id.rpartition("/") if exchange else ("", "", "")
        step = step.partition(".")[0]
        if exchange is None or not step.isdecimal():
            lost.append(f"{journal.name} holds no exchange at byte {start}")
            continue
        yield _Line(
            place=places.get(name, len(places)),
            probe=name,
            number=int(step),
            attempt=exchange.attempt,
            journal=number,
            start=start,
            size=size,
        )


def _lines(journal: Path) -> Iterator[tuple[int, int, Exchange | None]]:
    """Offset, bytes and exchange of each line after the header."""
    decoder = msgspec.json.Decoder(Exchange)
    with journal.open("rb") as file:
        start = len(file.readline())
        for line in file:
            try:
                found = decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                found = None
            yield start, len(line), found
            start += len(line)


def _write(lines: Iterable[_Line], journals: Sequence[Path], to: Path) -> None:
    beside = to.with_name(JOINED)
    sources: dict[int, BinaryIO] = {}
    try:
        with ExitStack() as stack:
            file = stack.enter_context(beside.open("wb"))
            file.write(msgspec.json.encode(Header(format=FORMAT, version=VERSION)) + b"\n")
            for line in lines:
                if line.journal not in sources:
                    sources[line.journal] = stack.enter_context(journals[line.journal].open("rb"))
                source = sources[line.journal]
                source.seek(line.start)
                file.write(source.read(line.size).rstrip(b"\n") + b"\n")
        beside.replace(to)
    finally:
        beside.unlink(missing_ok=True)
