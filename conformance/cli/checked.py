"""What ``check`` prints: one JSON document, or text about the files in which something was found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from conformance.cli.banner import counts_of, decided
from conformance.cli.check_verdicts import File, Judged
from conformance.cli.printable import dump, printed, style
from conformance.evidence import Unreadable
from conformance.gate import Gate
from conformance.reports.document import (
    Decision,
    FindingEntry,
    VerdictEntry,
    decision_entry,
    finding_entry,
    verdict_entry,
)
from conformance.reports.order import weight
from conformance.reports.safe import safe, told
from conformance.reports.words import counted
from conformance.values import Finding, Level, Outcome, Verdict

SHOWN = 5  # findings of one rule and message that text shows of a file
WINDOWS = "judged in windows: pairs and conversations are found among exchanges that open alike"
SHORT = "pieces of one text that follow each other count as one event"
COLOURS = {Level.MUST: "red", Level.SHOULD: "yellow", Level.INFO: "cyan"}
SILENT = (Outcome.NOT_EXERCISED, Outcome.NOT_APPLICABLE)


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one file."""

    file: str
    format: str
    exchanges: int
    skipped: dict[str, int]  # entries that were left out, by reason
    cut: str | None  # where the file breaks off
    windows: bool  # too large to be judged whole


class UnreadableEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be read."""

    file: str
    reason: str


class CheckDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``check --format json`` prints."""

    schema: str = "urn:kimi-conformance:check:1"
    findings: tuple[FindingEntry, ...]
    verdicts: tuple[VerdictEntry, ...]  # those that the evidence decided; with --verbose all
    not_exercised: tuple[str, ...]  # rules whose guard no exchange met, on any surface and model
    counts: dict[str, int]  # verdicts by outcome, findings by level
    condensed: int  # very long streams in which pieces of one text that follow each other count as one event
    decision: Decision
    files: tuple[FileEntry, ...]
    unreadable: tuple[UnreadableEntry, ...]


def as_json(
    judged: Judged,
    unreadable: Sequence[Unreadable],
    verdicts: Sequence[Verdict],
    gate: Gate,
    *,
    verbose: bool = False,
) -> None:
    """Print findings, verdicts, counts, and what became of each file."""
    heard = {verdict.rule for verdict in verdicts if verdict.outcome not in SILENT}
    silent = dict.fromkeys(verdict.rule for verdict in verdicts if verdict.outcome is Outcome.NOT_EXERCISED)
    document = CheckDocument(
        findings=tuple(finding_entry(finding) for finding in in_order(judged, verdicts)),
        verdicts=tuple(verdict_entry(each) for each in verdicts if verbose or each.outcome not in SILENT),
        not_exercised=tuple(rule for rule in silent if rule not in heard),
        counts=gate.counts,
        condensed=judged.condensed,
        decision=decision_entry(gate),
        files=tuple(map(_file, judged.files)),
        unreadable=tuple(UnreadableEntry(file=error.path, reason=error.reason) for error in unreadable),
    )
    dump(printed(document))


def sections(
    judged: Judged,
    verdicts: Sequence[Verdict],
    *,
    info: bool = False,
    verbose: bool = False,
) -> None:
    """Print what was found, skipped or left unread, file by file; ``info`` lists the findings of that level too.

    A file of which there is nothing to say has a line only where ``verbose`` asks for it.
    """
    by_file: dict[str | None, list[Finding]] = defaultdict(list)
    for finding in in_order(judged, verdicts):
        by_file[finding.file].append(finding)
    for source in judged.files:
        _section(source, by_file[source.path], info=info, verbose=verbose)


def closing(
    judged: Judged,
    unreadable: Sequence[Unreadable],
    verdicts: Sequence[Verdict],
    gate: Gate,
    *,
    info: bool = False,
) -> None:
    """Print how much was judged and found, what was skipped for which reason, and, last, the decision."""
    for verdict in verdicts:
        if verdict.outcome is Outcome.ERROR:
            click.echo(f"error in {verdict.rule} on {verdict.protocol.value} {verdict.model}: {safe(verdict.reason)}")
    unread = f", {len(unreadable)} of them unreadable" if unreadable else ""
    click.echo(
        f"{counted(len(judged.files) + len(unreadable), 'file')}{unread}, {counted(judged.counted, 'exchange')} judged"
    )
    skipped = sum((Counter(source.skipped) for source in judged.files), Counter[str]())
    for reason, number in skipped.most_common():
        click.echo(f"{counted(number, 'entry', 'entries')} skipped: {safe(reason)}")
    if judged.condensed:
        click.echo(f"{counted(judged.condensed, 'stream')} made short: {SHORT}")
    unlisted = gate.counts[Level.INFO.value] and not info
    click.echo(f"findings: {counts_of(gate)}" + (" (--info lists these)" if unlisted else ""))
    decided(gate)


def in_order(judged: Judged, verdicts: Sequence[Verdict]) -> list[Finding]:
    """All findings in the order of the files, then of the exchanges; within one by weight (``reports.order``)."""
    files = {source.path: number for number, source in enumerate(judged.files)}

    def place(finding: Finding) -> tuple[int, int, tuple[int, int]]:
        file = finding.file or ""
        entry = judged.places.get((file, finding.exchange or ""), 0)
        return (files.get(file, len(files)), entry, weight(finding.level, finding.rule))

    return sorted((finding for verdict in verdicts for finding in verdict.findings), key=place)


def _file(source: File) -> FileEntry:
    return FileEntry(
        file=source.path,
        format=source.format,
        exchanges=source.count,
        skipped=dict(source.skipped),
        cut=source.cut,
        windows=source.windows,
    )


def _section(source: File, found: Sequence[Finding], *, info: bool, verbose: bool) -> None:
    findings = found if info else [finding for finding in found if finding.level is not Level.INFO]
    if not (findings or source.skipped or source.cut is not None or source.windows or verbose):
        return
    notes = [counted(source.count, "exchange")]
    notes += [f"{number} skipped ({safe(reason)})" for reason, number in source.skipped.items()]
    if source.count and not findings:
        notes.append("no must or should finding" if found else "no finding")
    click.echo(f"{style(safe(source.path), bold=True)}: {', '.join(notes)}")
    if source.windows:
        click.echo(f"  {WINDOWS}")
    if source.cut is not None:
        click.echo(f"  {safe(source.cut)}: judged in part")
    groups: dict[tuple[Any, ...], list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[weight(finding.level, finding.rule), finding.rule, finding.message].append(finding)
    for (_, rule, message), members in sorted(groups.items(), key=lambda group: group[0][0]):
        level = members[0].level or Level.INFO
        click.echo(f"  {style(f'{level.value:<6}', fg=COLOURS[level])}  {rule}: {safe(message)}")
        for finding in members[:SHOWN]:
            click.echo(f"          {_place(finding)}")
        if len(members) > SHOWN:
            click.echo(f"          and {len(members) - SHOWN} more")
    if findings:
        click.echo()


def _place(finding: Finding) -> str:
    protocol = finding.protocol.value if finding.protocol else ""
    words = f"exchange {safe(finding.exchange)}, {protocol} {finding.model}"
    if finding.pointer:
        words += f", {safe(finding.pointer)}"
    values = ", ".join(f"{name} {value}" for name, value in told(finding, 120))
    return f"{words}: {values}" if values else words
