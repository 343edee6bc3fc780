"""The matrix of rules by surface and model, and the words and order that every report shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from conformance import specs
from conformance.reports.order import ordered
from conformance.rules import RULES, Rule
from conformance.values import RANK, Exchange, Finding, Level, Outcome, Protocol, Source, Verdict

SURFACES = {
    Protocol.CHAT: "Chat Completions",
    Protocol.MESSAGES: "Messages",
    Protocol.RESPONSES: "Responses",
}
MARKS = {
    Outcome.PASS: "✓",
    Outcome.FAIL: "✗",
    Outcome.INCONCLUSIVE: "?",
    Outcome.NOT_EXERCISED: "○",
    Outcome.NOT_APPLICABLE: "·",
    Outcome.ERROR: "!",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One rule and its verdicts, in the order of the columns; None where there is no verdict."""

    rule: str
    title: str
    level: Level
    cells: tuple[Verdict | None, ...]


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Rules down, surfaces and models across."""

    columns: tuple[tuple[Protocol, str], ...]
    families: tuple[tuple[str, tuple[Row, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class Citation:
    """Where a rule stands in the documents."""

    document: str
    line: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Failing:
    """One distinct breach: findings alike but for the model and the exchange are one entry with a count."""

    finding: Finding  # the first of them
    models: tuple[str, ...]
    count: int
    title: str
    citation: Citation | None
    exchange: Exchange | None


def matrix(verdicts: Iterable[Verdict]) -> Matrix:
    """Arrange verdicts; columns are the cells that occur, rows keep the order of the verdicts within a family."""
    verdicts = list(verdicts)
    columns = tuple(dict.fromkeys((v.protocol, v.model) for v in verdicts))
    by_rule: dict[str, dict[tuple[Protocol, str], Verdict]] = {}
    for verdict in verdicts:
        by_rule.setdefault(verdict.rule, {})[verdict.protocol, verdict.model] = verdict
    families: dict[str, list[Row]] = {}
    for name, cells in by_rule.items():
        known = RULES.get(name)
        row = Row(
            rule=name,
            title=known.statement if known else "",
            level=known.level if known else max((v.level for v in cells.values()), key=RANK.__getitem__),
            cells=tuple(cells.get(column) for column in columns),
        )
        families.setdefault(name.split(".", 1)[0], []).append(row)
    return Matrix(columns=columns, families=tuple((name, tuple(rows)) for name, rows in families.items()))


def failing(verdicts: Iterable[Verdict], exchanges: Mapping[str, Exchange]) -> Iterator[Failing]:
    """Distinct findings in the order of every report, with citation and an exchange that shows it.

    The exchanges are in the order of the evidence, which gives findings their places.
    """
    places = {name: place for place, name in enumerate(exchanges)}
    found: dict[tuple[str, ...], list[Finding]] = {}
    for finding in ordered((finding for verdict in verdicts for finding in verdict.findings), places):
        key = (finding.rule, str(finding.protocol), str(finding.level), finding.message)
        found.setdefault(key, []).append(finding)
    for alike in found.values():
        finding = alike[0]
        known = RULES.get(finding.rule)
        yield Failing(
            finding=finding,
            models=tuple(dict.fromkeys(each.model for each in alike)),
            count=len(alike),
            title=known.statement if known else "",
            citation=citation(known, finding.protocol),
            exchange=exchanges.get(finding.exchange or ""),
        )


def citation(rule: Rule | None, protocol: Protocol | None) -> Citation | None:
    """The cited line of a rule on a surface; None where the rule is not known to this version."""
    if rule is None:
        return None
    source: Source | None = rule.sources.get(protocol) if protocol else next(iter(rule.sources.values()), None)
    if source is None:
        return None
    found = specs.citation(source)
    return Citation(document=found.file, line=found.line, text=found.text)
