"""The last line of a command that judges: what the gate decided, and on how much."""

from __future__ import annotations

import click

from conformance.cli.printable import coloured
from conformance.gate import Exit, Gate
from conformance.reports.safe import safe
from conformance.reports.words import counted
from conformance.values import Level


def decided(decision: Gate, *, err: bool = False) -> None:
    """Print headline, reason and how many rules were exercised; nothing may be printed after it."""
    headline = decision.headline
    if coloured(err=err):
        headline = click.style(headline, fg="green" if decision.code is Exit.CONFORMING else "red", bold=True)
    rules = counted(decision.rules_exercised, "rule")
    click.echo(f"{headline}: {safe(decision.reason)}, {rules} exercised", err=err)


def counts_of(decision: Gate) -> str:
    """How many findings there are of each level, the heaviest first."""
    return ", ".join(f"{decision.counts[level.value]} {level.value}" for level in reversed(Level))
