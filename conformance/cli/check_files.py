"""The files that ``check`` is given: opened one after another, or refused by name and reason."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from conformance.evidence import Large, Reading, Recording, Unreadable, open_file, recordings
from conformance.evidence.files import STDIN
from conformance.reports.safe import safe

Source = Recording | Large
TAKES_A_WHILE = 32 * 1024**2  # bytes of a file that is announced to whoever waits at a terminal


def expanded(names: Iterable[str]) -> tuple[list[str], list[Unreadable]]:
    """The paths that the names stand for, directories expanded, each file once, and what could not be looked into."""
    paths: list[str] = []
    unreadable: list[Unreadable] = []
    seen: set[Path | str] = set()
    for name in names:
        for path in _inside(name, unreadable):
            identity = _identity(path)
            if identity in seen:
                click.echo(f"{safe(path)} is given twice and judged once", err=True)
                continue
            seen.add(identity)
            paths.append(path)
    return paths, unreadable


def opened(paths: Iterable[str], reading: Reading, unreadable: list[Unreadable]) -> Iterator[Source]:
    """Each file, opened when it is asked for; the list is told of those that cannot be read."""
    for path in paths:
        _announce(path)
        try:
            yield open_file(path, reading)
        except Unreadable as error:
            unreadable.append(error.with_traceback(None))  # whose frames hold the file


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


def _inside(name: str, unreadable: list[Unreadable]) -> list[str]:
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
