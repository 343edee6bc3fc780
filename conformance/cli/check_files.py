"""The files that ``check`` is given: opened, or refused by name and reason."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from conformance.evidence import Large, Reading, Recording, Unreadable, open_file, read, recordings
from conformance.evidence.files import STDIN
from conformance.reports.safe import safe

Source = Recording | Large
TAKES_A_WHILE = 32 * 1024**2  # bytes of a file that is announced to whoever waits at a terminal


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
            _announce(path)
            try:
                sources.append(read(path, reading) if whole else open_file(path, reading))
            except Unreadable as error:
                unreadable.append(error)
    return sources, unreadable


def _announce(path: str) -> None:
    """Tell a person at a terminal that a large file is being judged."""
    try:
        size = 0 if path == STDIN or not sys.stderr.isatty() else Path(path).stat().st_size
    except (OSError, ValueError, AttributeError):  # named when it is read; a closed standard error is no file at all
        return
    if size > TAKES_A_WHILE:
        click.echo(f"judging {safe(path)} ({size / 1024**2:.0f} MiB), which may take a while", err=True)


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
