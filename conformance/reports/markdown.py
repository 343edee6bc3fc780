"""report.md: the banner, a table a surface, and the failures; also what a GitHub job summary shows."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from conformance.gate import Gate
from conformance.reports.constraints import RULE_OF, ConstraintEntry, Constraints, exercised_lines, outcome_of
from conformance.reports.curl import curl
from conformance.reports.matrix import MARKS, SURFACES, Failing, failing, matrix
from conformance.reports.safe import safe, told
from conformance.values import Exchange, Level, Outcome, Run, Verdict

MOST_FAILURES = 50  # the JSON report holds all
LARGEST_SUMMARY = 1024 * 1024  # bytes of a job summary, by GitHub's rules
LONGEST_BODY = 4_000  # bytes of a request that is shown


def markdown(
    run: Run,
    verdicts: tuple[Verdict, ...],
    gate: Gate,
    exchanges: Mapping[str, Exchange],
    *,
    constraints: Constraints | None = None,
) -> str:
    """The report as GitHub-flavoured Markdown; text from the wire stands in code spans and is escaped."""
    lines = [
        f"# Kimi API conformance: {gate.headline}",
        "",
        _reason(gate.reason),
        "",
        f"- Target: {_code(run.target)}",
        f"- Profile {run.profile}, seed {run.seed}, {run.requests} requests, {run.output_tokens} output tokens",
        f"- Version {_code(run.version)}, {run.started} to {run.finished or 'unfinished'}",
        f"- {gate.rules_exercised} rules exercised; findings: "
        + ", ".join(f"{gate.counts[level.value]} {level.value}" for level in reversed(Level)),
        "",
    ]
    entries = [entry for entry in failing(verdicts, exchanges) if entry.finding.level is not Level.INFO]
    if entries:
        lines += ["## Failures", ""]
    for entry in entries[:MOST_FAILURES]:
        lines += _failure(entry)
    if len(entries) > MOST_FAILURES:
        lines += [f"… and {len(entries) - MOST_FAILURES} more: see report.json.", ""]
    lines += _tables(verdicts)
    if constraints is not None:
        lines += _constraints(constraints)
    return "\n".join(lines)


def summarise(text: str) -> None:
    """Append to the file that GitHub Actions names in GITHUB_STEP_SUMMARY, if there is one.

    GitHub shows nothing of a larger file, so it is cut to fit. One that cannot be written is told on standard error: it
    changes nothing about what was found.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(_fitting(text, LARGEST_SUMMARY - summary.tell()) + "\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        sys.stderr.write(f"GITHUB_STEP_SUMMARY: {safe(path)} cannot be written: {reason}\n")


def _fitting(text: str, room: int) -> str:
    """The text, or as many of its lines as the bytes hold together with a word on what is left out."""
    if len(text.encode()) < room:
        return text
    said = "\n\n… cut here: report.md has the rest."
    kept = text.encode()[: max(0, room - len(said.encode()) - 1)].decode("utf-8", "ignore")
    return kept.rpartition("\n")[0] + said


def _tables(verdicts: tuple[Verdict, ...]) -> list[str]:
    whole = matrix(verdicts)
    head = [f"{protocol.value}<br>{model.removeprefix('kimi-')}" for protocol, model in whole.columns]
    lines = [
        "## Rules by family",
        "",
        "| family | " + " | ".join(head) + " |",
        "|---" * (len(head) + 1) + "|",
    ]
    for family, rows in whole.families:
        cells = []
        for place in range(len(whole.columns)):
            outcomes = [row.cells[place].outcome for row in rows if row.cells[place]]  # type: ignore[union-attr]
            counted = {outcome: outcomes.count(outcome) for outcome in Outcome if outcome is not Outcome.NOT_APPLICABLE}
            cells.append(" ".join(f"{MARKS[outcome]}{n}" for outcome, n in counted.items() if n) or "·")
        lines.append(f"| {family} | " + " | ".join(cells) + " |")
    legend = ", ".join(f"{MARKS[outcome]} {outcome.value}" for outcome in Outcome)
    return [*lines, "", f"Rules by outcome: {legend}.", ""]


def _constraints(found: Constraints) -> list[str]:
    """Counts a cell, and one line a constraint that was exercised under the rule that owns it, folded away."""
    said = ["## Constraints of the request schemas", "", "| surface | model | exercised | wrong |", "|---|---|---|---|"]
    for cell in found.cells:
        counts = f"{cell.exercised} of {cell.total} | {cell.wrong}"
        said.append(f"| {SURFACES[cell.surface]} | {cell.model} | {counts} |")
    models = tuple(dict.fromkeys(cell.model for cell in found.cells))
    for kind, rule in RULE_OF.items():
        rows, idle = exercised_lines(found, kind)
        said += ["", f"<details><summary>{rule}: {len(rows)} constraints exercised, {idle} not</summary>", ""]
        said += [f"| surface | constraint | {' | '.join(models)} |", "|---" * (len(models) + 2) + "|"]
        for row in rows:
            cells = {entry.model: _decided(entry) for entry in row.entries if entry is not None}
            decided = " | ".join(cells.get(model, "·") for model in models)
            said.append(f"| {row.surface.value} | {_code(row.name, cell=True)} | {decided} |")
        said += ["", "</details>"]
    return [*said, ""]


def _decided(entry: ConstraintEntry) -> str:
    return f"{MARKS[outcome_of(entry)]} {entry.status.value}"


def _failure(entry: Failing) -> list[str]:
    finding = entry.finding
    level, protocol = finding.level or Level.MUST, finding.protocol
    times = f" ({entry.count} times)" if entry.count > 1 else ""
    where = f"{protocol} {', '.join(entry.models)}"
    lines = [f"### {level.value}: {finding.rule} on {where}{times}", "", _quoted(entry.title), ""]
    lines += [f"- Found: {_code(finding.message)} at {_code(finding.pointer or '/')}"]
    lines += [f"- {name.capitalize()}: {_code(value)}" for name, value in told(finding)]
    lines += [f"- Exchange: {_code(finding.exchange)}"]
    if entry.citation:
        lines += [f"- Source: {entry.citation.document}, line {entry.citation.line}", ""]
        lines += _fenced(entry.citation.text, "text")
    lines += [""]
    if entry.exchange:
        again = _fenced(curl(entry.exchange, longest_body=LONGEST_BODY), "sh")
        lines += ["<details><summary>Send it again</summary>", "", *again, "", "</details>", ""]
    return lines


def _fenced(text: str, language: str) -> list[str]:
    """A code block whose fence no line of the text can end."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *text.splitlines(), fence]


def _code(value: object, *, cell: bool = False) -> str:
    """A code span; in the cell of a table a bar would end it."""
    text = safe(value) or "an empty string"
    if cell:
        text = text.replace("|", "\\|")
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


def _quoted(text: str) -> str:
    """Text of ours in which Markdown reads no markup."""
    return re.sub(r"([\\`*_\[\]|~&<>#])", r"\\\1", text)


def _reason(text: str) -> str:
    """The gate's reason as a sentence; as a code span where words of others may stand in it, with links and names."""
    plain = re.fullmatch(r"[\w ,;:()'-]+", text, re.ASCII) and "_" not in text
    return f"{text[:1].upper()}{text[1:]}." if plain else f"Reason: {_code(text)}"
