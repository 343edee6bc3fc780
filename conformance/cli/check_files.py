"""The files that ``check`` is given: opened, or refused by name and reason."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from conformance.evidence import Large, Reading, Recording, Unreadable, open_file, read, recordings
from conformance.evidence.files import STDIN
from conformance.reports.safe import safe

Source = Recording | Large


def gather(names: Iterable[str], reading: Reading, *, whole: bool) -> tuple[list[Source], list[Unreadable]]:
    """What the names stand for, directories expanded, each file once; ``whole`` reads large files into memory too."""
    sources: list[Source] = []
    unreadable: list[Unreadable] = []
    seen: set[Path | str] = set()
    for name in names:
        for path in _expanded(name, unreadable):
            identity = _identity(path)
            if identity in seen:
                click.echo(f"{safe(path)} is given twice and judged once", err=True)
                continue
            seen.add(identity)
            try:
                sources.append(read(path, reading) if whole else open_file(path, reading))
            except Unreadable as error:
                unreadable.append(error)
    return sources, unreadable


def _identity(path: str) -> Path | str:
    """What tells files apart: the place that a name leads to, or the name itself where it leads nowhere."""
    try:
        return path if path == STDIN else Path(path).resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links is a RuntimeError before Python 3.13
        return path


def _expanded(name: str, unreadable: list[Unreadable]) -> list[str]:
    try:
        if name == STDIN or not Path(name).is_dir():
            return [name]
        inside, refused = recordings(name)
    except (OSError, ValueError) as error:
        unreadable.append(Unreadable(name, getattr(error, "strerror", None) or "no such file"))
        return []
    except Unreadable as error:
        unreadable.append(error)
        return []
    unreadable += refused
    if not inside and not refused:
        unreadable.append(Unreadable(name, "a directory without .har or .jsonl files or cassettes in it or below"))
    return inside
