"""What ``check`` prints: one JSON document, or text grouped by file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import click

from conformance.cli.printable import dump, plain, style
from conformance.evidence import Recording, Unreadable
from conformance.gate import Exit, Gate
from conformance.reports.document import finding_entry, verdict_entry
from conformance.reports.safe import safe
from conformance.values import RANK, Finding, Level, Outcome, Verdict

SHOWN = 5  # findings of one rule and message that text shows of a file
COLOURS = {Level.MUST: "red", Level.SHOULD: "yellow", Level.INFO: "cyan"}


def as_json(
    recordings: Sequence[Recording], unreadable: Sequence[Unreadable], verdicts: Sequence[Verdict], gate: Gate
) -> None:
    """Print findings, verdicts, counts, and what became of each file."""
    dump(
        {
            "findings": [plain(finding_entry(finding)) for finding in in_order(recordings, verdicts)],
            "verdicts": [plain(verdict_entry(verdict)) for verdict in verdicts],
            "counts": gate.counts,
            "decision": {"code": int(gate.code), "headline": gate.headline, "reason": gate.reason},
            "files": [
                {
                    "file": recording.path,
                    "format": recording.format,
                    "exchanges": len(recording.exchanges),
                    "skipped": dict(recording.skipped),
                }
                for recording in recordings
            ],
            "unreadable": [{"file": error.path, "reason": error.reason} for error in unreadable],
        }
    )


def as_text(recordings: Sequence[Recording], verdicts: Sequence[Verdict], gate: Gate) -> None:
    """Print a section a file, then the decision."""
    by_file: dict[str | None, list[Finding]] = defaultdict(list)
    for finding in in_order(recordings, verdicts):
        by_file[finding.file].append(finding)
    for recording in recordings:
        _section(recording, by_file[recording.path])
    for verdict in verdicts:
        if verdict.outcome is Outcome.ERROR:
            click.echo(f"error in {verdict.rule} on {verdict.protocol.value} {verdict.model}: {safe(verdict.reason)}")
    counts = ", ".join(f"{gate.counts[level.value]} {level.value}" for level in (Level.MUST, Level.SHOULD, Level.INFO))
    judged = gate.code in (Exit.CONFORMING, Exit.FAILED)
    reason = f"{counts} findings, {gate.rules_exercised} rules exercised" if judged else gate.reason
    headline = style(gate.headline, fg="green" if gate.code == 0 else "red", bold=True)
    click.echo(f"{headline}: {reason}")


def in_order(recordings: Sequence[Recording], verdicts: Sequence[Verdict]) -> list[Finding]:
    """All findings in the order of the files, then of the exchanges, the heaviest first within one."""
    places = {
        (recording.path, exchange.id): (file, entry)
        for file, recording in enumerate(recordings)
        for entry, exchange in enumerate(recording.exchanges)
    }

    def place(finding: Finding) -> tuple[int, int, int]:
        name = finding.exchange or ""
        file, entry = places.get((finding.file or "", name)) or places.get(
            (finding.file or "", name.partition(":")[2]), (len(recordings), 0)
        )
        return (file, entry, -RANK[finding.level or Level.INFO])

    return sorted((finding for verdict in verdicts for finding in verdict.findings), key=place)


def _section(recording: Recording, findings: Sequence[Finding]) -> None:
    count = len(recording.exchanges)
    notes = [f"{count} exchange{'s' * (count != 1)}"]
    notes += [f"{number} skipped ({reason})" for reason, number in recording.skipped.items()]
    click.echo(f"{style(safe(recording.path), bold=True)}: {', '.join(notes)}")
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
        click.echo("  no finding")
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
