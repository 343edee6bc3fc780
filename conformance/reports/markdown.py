"""report.md: the banner, a table a surface, and the failures; also what a GitHub job summary shows."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from conformance.gate import Gate
from conformance.reports.constraints import RULE_OF, ConstraintEntry, Constraints, outcome_of
from conformance.reports.constraints import lines as constraint_lines
from conformance.reports.curl import curl
from conformance.reports.matrix import MARKS, SURFACES, Failing, failing, matrix
from conformance.reports.safe import safe
from conformance.values import Exchange, Level, Outcome, Run, Verdict

MOST_FAILURES = 50  # a job summary is bounded; the JSON report holds all


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
        f"{_quoted(gate.reason[:1].upper() + gate.reason[1:])}.",
        "",
        f"- Target: {_code(run.target)}",
        f"- Profile {run.profile}, seed {run.seed}, {run.requests} requests, {run.output_tokens} output tokens",
        f"- {_code(run.version)}, {run.started} to {run.finished or 'unfinished'}",
        f"- {gate.rules_exercised} rules exercised; findings: "
        + ", ".join(f"{gate.counts[level.value]} {level.value}" for level in reversed(Level)),
        "",
    ]
    lines += _tables(verdicts)
    entries = [entry for entry in failing(verdicts, exchanges) if entry.finding.level is not Level.INFO]
    if entries:
        lines += ["## Failures", ""]
    for entry in entries[:MOST_FAILURES]:
        lines += _failure(entry)
    if len(entries) > MOST_FAILURES:
        lines += [f"… and {len(entries) - MOST_FAILURES} more: see report.json.", ""]
    if constraints is not None:
        lines += _constraints(constraints)
    return "\n".join(lines)


def summarise(text: str) -> None:
    """Append to the file that GitHub Actions names in GITHUB_STEP_SUMMARY, if there is one.

    One that cannot be written is told on standard error: it changes nothing about what was found.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(text + "\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        sys.stderr.write(f"GITHUB_STEP_SUMMARY: {safe(path)} cannot be written: {reason}\n")


def _tables(verdicts: tuple[Verdict, ...]) -> list[str]:
    whole = matrix(verdicts)
    head = [f"{SURFACES[protocol]} {model}" for protocol, model in whole.columns]
    lines = [
        "## Families",
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
    """Counts a cell, and one line a constraint under the rule that owns it, folded away."""
    said = ["## Constraints of the request schemas", "", "| surface | model | exercised | wrong |", "|---|---|---|---|"]
    for cell in found.cells:
        counts = f"{cell.exercised} of {cell.total} | {cell.wrong}"
        said.append(f"| {SURFACES[cell.surface]} | {cell.model} | {counts} |")
    models = tuple(dict.fromkeys(cell.model for cell in found.cells))
    for kind, rule in RULE_OF.items():
        rows = constraint_lines(found, kind)
        said += ["", f"<details><summary>{rule}: {len(rows)} constraints</summary>", ""]
        said += [f"| surface | constraint | {' | '.join(models)} |", "|---" * (len(models) + 2) + "|"]
        for row in rows:
            cells = {entry.model: _decided(entry) for entry in row.entries if entry is not None}
            told = " | ".join(cells.get(model, "·") for model in models)
            said.append(f"| {row.surface.value} | {_code(row.name)} | {told} |")
        said += ["", "</details>"]
    return [*said, ""]


def _decided(entry: ConstraintEntry) -> str:
    return f"{MARKS[outcome_of(entry)]} {entry.status.value}"


def _failure(entry: Failing) -> list[str]:
    finding = entry.finding
    level, protocol = finding.level or Level.MUST, finding.protocol
    times = f" ({entry.count} times)" if entry.count > 1 else ""
    where = f"{protocol} {', '.join(entry.models)}"
    lines = [f"### {level.value}: {finding.rule} on {where}{times}", "", safe(entry.title), ""]
    if entry.citation:
        lines += [f"> {_quoted(line)}  " for line in entry.citation.text.splitlines()]
        lines += [">", f"> {entry.citation.document}:{entry.citation.line}", ""]
    lines += [f"- Found: {_code(finding.message)} at {_code(finding.pointer or '/')}"]
    lines += [f"- Expected {_code(finding.expected)}, actual {_code(finding.actual)}"]
    lines += [f"- Exchange {_code(finding.exchange)}", ""]
    if entry.exchange:
        lines += ["```sh", curl(entry.exchange).replace("```", "'``'\\`"), "```", ""]
    return lines


def _code(value: object) -> str:
    text = safe(value).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


def _quoted(text: str) -> str:
    return re.sub(r"([\\`*_\[\]|~])", r"\\\1", safe(text).replace("<", "&lt;"))
