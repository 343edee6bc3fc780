"""A listing for people: entries under the heading of their family, within the width of the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click

from conformance.cli.printable import coloured, width, wrapped
from conformance.models import ALL, K3, K31
from conformance.reports.words import counted

INDENT = 6  # columns before what is said of an entry


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry: its name, a few facts that stand beside it, and what it says."""

    family: str
    name: str
    facts: tuple[str, ...]
    words: str
    colour: str | None = None  # of the name


def listing(entries: Iterable[Entry], noun: str) -> Iterator[str]:
    """The lines: families by name, entries of one in the order given; facts that do not fit take lines of their own."""
    families: dict[str, list[Entry]] = {}
    for entry in entries:
        families.setdefault(entry.family, []).append(entry)
    for family, members in sorted(families.items()):
        yield _styled(f"{family} ({counted(len(members), noun)})", bold=True)
        yield ""
        for entry in members:
            yield from _lines(entry)
        yield ""


def in_words(models: tuple[str, ...]) -> str:
    """Models in few words."""
    series = {ALL: "all", K31: "K3.1", K3: "kimi-k3"}
    return series.get(models, ", ".join(models))


def _lines(entry: Entry) -> Iterator[str]:
    facts = "; ".join(entry.facts)
    name = "  " + _styled(entry.name, fg=entry.colour)
    beside = len(entry.name) + len(facts) + 6 <= width()
    yield f"{name}  ({_styled(facts, dim=True)})" if facts and beside else name
    if facts and not beside:
        yield from textwrap.wrap(f"({facts})", width(), initial_indent=" " * INDENT, subsequent_indent=" " * INDENT)
    yield wrapped(entry.words, INDENT)


def _styled(text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
    return click.style(text, fg=fg, bold=bold or None, dim=dim or None) if coloured() else text
