"""``faults``: the fault catalogue of the reference server, as a table or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click

from conformance.cli.options import format_option
from conformance.cli.printable import dump
from conformance.reference.faults import FAULTS, Fault
from conformance.rules.patterns import NoMatch, select

HEADINGS = ("fault", "surfaces", "modes", "caught by", "what the server does wrong")


@click.command()
@click.argument("patterns", nargs=-1, metavar="[PATTERN]…")
@format_option
def faults(patterns: tuple[str, ...], *, output: str) -> None:
    """List the faults that the reference server can be given: serve --fault ID makes it break one promise."""
    listed = chosen_faults(patterns)
    if output == "json":
        dump([entry(fault) for fault in listed])
        return
    rows = [HEADINGS, *map(_row, listed)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    click.echo(f"{len(listed)} faults, {sum(len(fault.combinations) for fault in listed)} combinations")


def chosen_faults(patterns: Sequence[str]) -> list[Fault]:
    """The faults that the patterns match, all without a pattern; a usage error names the nearest valid ones."""
    if not patterns:
        return list(FAULTS.values())
    try:
        return [FAULTS[name] for name in select(patterns, FAULTS)]
    except NoMatch as error:
        nearest = error.nearest or get_close_matches(error.pattern, FAULTS, n=3, cutoff=0.4)
        hint = f"Nearest: {', '.join(nearest)}." if nearest else "kimi-conformance faults lists them."
        raise click.UsageError(f"No fault matches {error.pattern!r}. {hint}") from None


def entry(fault: Fault) -> dict[str, Any]:
    """One fault as JSON."""
    return {
        "id": fault.id,
        "sentence": fault.sentence,
        "stage": fault.stage,
        "protocols": [protocol.value for protocol in fault.protocols],
        "modes": list(fault.modes),
        "models": list(fault.models),
        "caught_by": list(fault.caught_by),
        "seen": list(fault.seen),
    }


def _row(fault: Fault) -> tuple[str, ...]:
    surfaces = ", ".join(protocol.value for protocol in fault.protocols)
    return (fault.id, surfaces, ", ".join(fault.modes), ", ".join(fault.caught_by), fault.sentence)
