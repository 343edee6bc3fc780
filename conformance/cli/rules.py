"""``rules``: the ledger as it is implemented, as a table or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from conformance import specs
from conformance.cli.options import format_option, model_option, protocol_option
from conformance.cli.printable import coloured, dump
from conformance.cli.selection import chosen
from conformance.models import ALL, K3, K31
from conformance.rules import Rule
from conformance.values import Protocol

HEADINGS = ("rule", "level", "basis", "over", "surfaces", "models", "source", "what must hold")


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
        dump([entry(rule) for rule in listed])
    elif coloured():
        _table(listed)
    else:
        _lines(listed)


def entry(rule: Rule) -> dict[str, Any]:
    """One rule as JSON; ``source`` is that of its first surface, ``sources`` has one for each."""
    sources = {protocol.value: _source(rule, protocol) for protocol in rule.protocols}
    return {
        "id": rule.id,
        "title": rule.statement,
        "level": rule.level.value,
        "basis": rule.basis.value,
        "over": rule.over.value,
        "protocols": [protocol.value for protocol in rule.protocols],
        "models": list(rule.models),
        "by_analogy": sorted(protocol.value for protocol in rule.by_analogy),
        "should_on": sorted(f"{protocol.value}/{model}" for protocol, model in rule.should_on),
        "applies": rule.applies,
        "source": sources[rule.protocols[0].value],
        "sources": sources,
    }


def models_of(rule: Rule) -> str:
    """The models of a rule in few words."""
    series = {ALL: "all", K31: "K3.1", K3: "kimi-k3"}
    return series.get(rule.models, ", ".join(rule.models))


def _source(rule: Rule, protocol: Protocol) -> dict[str, Any]:
    source = rule.sources[protocol]
    found = specs.citation(source)
    return {
        "document": source.document,
        "anchor": source.anchor,
        "file": found.file,
        "line": found.line,
        "text": found.text,
    }


def _row(rule: Rule) -> tuple[str, ...]:
    source = _source(rule, rule.protocols[0])
    surfaces = "all" if len(rule.protocols) == len(Protocol) else ", ".join(p.value for p in rule.protocols)
    return (
        rule.id,
        rule.level.value,
        rule.basis.value,
        rule.over.value,
        surfaces,
        models_of(rule),
        f"{source['document']}:{source['line']}",
        rule.statement,
    )


def _lines(listed: Sequence[Rule]) -> None:
    rows = [HEADINGS, *map(_row, listed)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _table(listed: Sequence[Rule]) -> None:
    from rich.console import Console  # noqa: PLC0415 (only a terminal pays for it)
    from rich.table import Table  # noqa: PLC0415 (likewise)
    from rich.text import Text  # noqa: PLC0415 (likewise)

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold", no_wrap=heading == "level")
    weights = {"must": "red", "should": "yellow", "info": "cyan"}
    for row in map(_row, listed):
        table.add_row(*(Text(cell, style=weights.get(cell, "")) for cell in row))
    Console().print(table)
    click.echo(f"{len(listed)} rules")
