"""``rules``: the ledger as it is implemented, by family or as JSON."""

from __future__ import annotations

from collections import Counter

import click
import msgspec

from conformance import specs
from conformance.cli.listing import Entry, in_words, listing
from conformance.cli.options import format_option, model_option, protocol_option
from conformance.cli.printable import dump
from conformance.cli.selection import chosen
from conformance.models import ALL
from conformance.reports.words import counted
from conformance.rules import Rule
from conformance.values import Basis, Level, Over, Protocol

COLOURS = {Level.MUST: "red", Level.SHOULD: "yellow", Level.INFO: "cyan"}


@click.command()
@click.argument("patterns", nargs=-1, metavar="[PATTERN]…")
@format_option
@protocol_option
@model_option
def rules(patterns: tuple[str, ...], *, output: str, protocols: tuple[str, ...], models: tuple[str, ...]) -> None:
    """List the rules: what must hold, how much it weighs, and where a document says it.

    A pattern such as usage.* or stream.** narrows the list; * stays between two dots, ** does not.
    """
    surfaces = [Protocol(name) for name in protocols] or list(Protocol)
    listed = [
        rule
        for rule in chosen(patterns)
        if any(rule.covers(protocol, model) for protocol in surfaces for model in models or ALL)
    ]
    if output == "json":
        dump(msgspec.to_builtins([entry(rule) for rule in listed]))
        return
    for line in listing(map(_listed, listed), "rule"):
        click.echo(line)
    weights = Counter(rule.level for rule in listed)
    click.echo(
        f"{counted(len(listed), 'rule')}: " + ", ".join(f"{weights[level]} {level.value}" for level in reversed(Level))
    )


class SourceEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Where a document says it."""

    document: str
    anchor: str
    file: str
    line: int
    text: str


class RuleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One rule, as ``rules --format json`` lists it."""

    id: str
    title: str
    level: Level
    basis: Basis
    over: Over
    protocols: tuple[Protocol, ...]
    models: tuple[str, ...]
    by_analogy: tuple[Protocol, ...]  # surfaces on which the basis is the format
    should_on: tuple[str, ...]  # "surface/model" on which a must rule weighs should
    applies: str
    source: SourceEntry  # that of the first surface
    sources: dict[Protocol, SourceEntry]


def entry(rule: Rule) -> RuleEntry:
    """One rule as JSON has it."""
    sources = {protocol: _source(rule, protocol) for protocol in rule.protocols}
    return RuleEntry(
        id=rule.id,
        title=rule.statement,
        level=rule.level,
        basis=rule.basis,
        over=rule.over,
        protocols=rule.protocols,
        models=rule.models,
        by_analogy=tuple(sorted(rule.by_analogy)),
        should_on=tuple(sorted(f"{protocol.value}/{model}" for protocol, model in rule.should_on)),
        applies=rule.applies,
        source=sources[rule.protocols[0]],
        sources=sources,
    )


def _source(rule: Rule, protocol: Protocol) -> SourceEntry:
    source = rule.sources[protocol]
    found = specs.citation(source)
    return SourceEntry(
        document=source.document, anchor=source.anchor, file=found.file, line=found.line, text=found.text
    )


def _listed(rule: Rule) -> Entry:
    """The rule for people: the level and where it stands, then only what is not the usual."""
    source = _source(rule, rule.protocols[0])
    facts = [rule.level.value, f"{source.document}:{source.line}"]
    if rule.basis is not Basis.DOCUMENTED:
        facts.append("by the format")
    if len(rule.protocols) < len(Protocol):
        facts.append(", ".join(protocol.value for protocol in rule.protocols))
    if rule.models != ALL:
        facts.append(in_words(rule.models))
    words, colour = rule.statement, COLOURS[rule.level]
    return Entry(family=rule.family, name=rule.id, facts=tuple(facts), words=words, colour=colour)
