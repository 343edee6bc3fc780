"""What ``check`` prints: one JSON document, or text grouped by file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import click

from conformance.cli.check_files import Source
from conformance.cli.printable import dump, plain, style
from conformance.evidence import Large, Recording, Unreadable
from conformance.gate import Exit, Gate
from conformance.reports.document import finding_entry, verdict_entry
from conformance.reports.safe import safe
from conformance.values import RANK, Finding, Level, Outcome, Verdict

SHOWN = 5  # findings of one rule and message that text shows of a file
WINDOWS = "judged in windows: pairs and conversations are found among exchanges that open alike"
Places = Mapping[tuple[str, str], int]
COLOURS = {Level.MUST: "red", Level.SHOULD: "yellow", Level.INFO: "cyan"}


def as_json(
    sources: Sequence[Source],
    unreadable: Sequence[Unreadable],
    verdicts: Sequence[Verdict],
    gate: Gate,
    places: Places | None = None,
) -> None:
    """Print findings, verdicts, counts, and what became of each file; ``places`` orders the findings of large files."""
    dump(
        {
            "findings": [plain(finding_entry(finding)) for finding in in_order(sources, verdicts, places)],
            "verdicts": [plain(verdict_entry(verdict)) for verdict in verdicts],
            "counts": gate.counts,
            "decision": {"code": int(gate.code), "headline": gate.headline, "reason": gate.reason},
            "files": [
                {
                    "file": source.path,
                    "format": source.format,
                    "exchanges": _count(source),
                    "skipped": dict(source.skipped),
                    "cut": source.cut,
                    "windows": isinstance(source, Large),
                }
                for source in sources
            ],
            "unreadable": [{"file": error.path, "reason": error.reason} for error in unreadable],
        }
    )


def as_text(
    sources: Sequence[Source],
    verdicts: Sequence[Verdict],
    gate: Gate,
    places: Places | None = None,
    *,
    info: bool = False,
) -> None:
    """Print a section a file, then the decision; ``info`` lists the findings of that level too."""
    by_file: dict[str | None, list[Finding]] = defaultdict(list)
    for finding in in_order(sources, verdicts, places):
        by_file[finding.file].append(finding)
    for source in sources:
        _section(source, by_file[source.path], info=info)
    for verdict in verdicts:
        if verdict.outcome is Outcome.ERROR:
            click.echo(f"error in {verdict.rule} on {verdict.protocol.value} {verdict.model}: {safe(verdict.reason)}")
    counts = ", ".join(f"{gate.counts[level.value]} {level.value}" for level in (Level.MUST, Level.SHOULD))
    judged = gate.code in (Exit.CONFORMING, Exit.FAILED)
    reason = f"{counts} findings, {gate.rules_exercised} rules exercised" if judged else gate.reason
    headline = style(gate.headline, fg="green" if gate.code == 0 else "red", bold=True)
    click.echo(f"{headline}: {reason}{_observations(gate.counts[Level.INFO.value], listed=info)}")


def _observations(count: int, *, listed: bool) -> str:
    """What the closing line says of the findings of level info."""
    if not count:
        return ""
    words = f"; {count} observation{'s' * (count != 1)} (info)"
    return words if listed else f"{words}: --info lists {'it' if count == 1 else 'them'}"


def in_order(sources: Sequence[Source], verdicts: Sequence[Verdict], known: Places | None = None) -> list[Finding]:
    """All findings in the order of the files, then of the exchanges, the heaviest first within one."""
    files = {source.path: number for number, source in enumerate(sources)}
    places = dict(known or {})
    for source in sources:
        if isinstance(source, Recording):
            places |= {(source.path, exchange.id): number for number, exchange in enumerate(source.exchanges)}

    def place(finding: Finding) -> tuple[int, int, int]:
        file, name = finding.file or "", finding.exchange or ""
        entry = places.get((file, name), places.get((file, name.partition(":")[2]), 0))
        return (files.get(file, len(files)), entry, -RANK[finding.level or Level.INFO])

    return sorted((finding for verdict in verdicts for finding in verdict.findings), key=place)


def _count(source: Source) -> int:
    return source.count if isinstance(source, Large) else len(source.exchanges)


def _section(source: Source, found: Sequence[Finding], *, info: bool) -> None:
    findings = found if info else [finding for finding in found if finding.level is not Level.INFO]
    count = _count(source)
    notes = [f"{count} exchange{'s' * (count != 1)}"]
    notes += [f"{number} skipped ({safe(reason)})" for reason, number in source.skipped.items()]
    click.echo(f"{style(safe(source.path), bold=True)}: {', '.join(notes)}")
    if isinstance(source, Large):
        click.echo(f"  {WINDOWS}")
    if source.cut is not None:
        click.echo(f"  {safe(source.cut)}: judged in part")
    groups: dict[tuple[Any, ...], list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[-RANK[finding.level or Level.INFO], finding.rule, finding.message].append(finding)
    for (_, rule, message), members in sorted(groups.items()):
        level = members[0].level or Level.INFO
        click.echo(f"  {style(f'{level.value:<6}', fg=COLOURS[level])}  {rule}: {safe(message)}")
        for finding in members[:SHOWN]:
            click.echo(f"          {_place(finding)}")
        if len(members) > SHOWN:
            click.echo(f"          and {len(members) - SHOWN} more")
    if not findings:
        click.echo("  no must or should finding" if found else "  no finding")
    click.echo()


def _place(finding: Finding) -> str:
    protocol = finding.protocol.value if finding.protocol else ""
    words = f"exchange {safe(finding.exchange)}, {protocol} {finding.model}"
    if finding.pointer:
        words += f", {safe(finding.pointer)}"
    pairs = (("expected", finding.expected), ("actual", finding.actual))
    values = [f"{name} {_value(value)}" for name, value in pairs if value is not None]
    return f"{words}: {', '.join(values)}" if values else words


def _value(value: object) -> str:
    return "an empty string" if value == "" else safe(plain(value), 120)
