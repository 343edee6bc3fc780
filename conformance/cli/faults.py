"""``faults``: the fault catalogue of the reference server, by family or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import click
import msgspec

from conformance.cli.listing import Entry, in_words, listing
from conformance.cli.options import format_option
from conformance.cli.printable import dump
from conformance.models import ALL
from conformance.reference.faults import FAULTS, Fault
from conformance.reports.words import counted
from conformance.rules.patterns import NoMatch, select
from conformance.values import Protocol


@click.command()
@click.argument("patterns", nargs=-1, metavar="[PATTERN]…")
@format_option
def faults(patterns: tuple[str, ...], *, output: str) -> None:
    """List the faults that the reference server can be given: serve --fault ID makes it break one promise."""
    listed = chosen_faults(patterns)
    if output == "json":
        dump(msgspec.to_builtins([entry(fault) for fault in listed]))
        return
    for line in listing(map(_listed, listed), "fault"):
        click.echo(line)
    combinations = sum(len(fault.combinations) for fault in listed)
    click.echo(f"{counted(len(listed), 'fault')}, {counted(combinations, 'combination')} of surface and mode")


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


class FaultEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One fault, as ``faults --format json`` lists it."""

    id: str
    sentence: str
    stage: str
    protocols: tuple[Protocol, ...]
    modes: tuple[str, ...]
    models: tuple[str, ...]
    caught_by: tuple[str, ...]
    seen: tuple[str, ...]  # public reports, "owner/repository#number"


def entry(fault: Fault) -> FaultEntry:
    """One fault as JSON has it."""
    return FaultEntry(**{name: getattr(fault, name) for name in FaultEntry.__struct_fields__})


def _listed(fault: Fault) -> Entry:
    """The fault for people, under the family of the rule that names it best; facts are what is not the usual."""
    facts = []
    if len(fault.protocols) < len(Protocol):
        facts.append(", ".join(protocol.value for protocol in fault.protocols))
    if len(fault.modes) == 1:
        facts.append(f"{fault.modes[0]} only")
    if fault.models != ALL:
        facts.append(in_words(fault.models))
    words = f"{fault.sentence} Caught by {', '.join(fault.caught_by)}."
    return Entry(family=fault.caught_by[0].partition(".")[0], name=fault.id, facts=tuple(facts), words=words)
