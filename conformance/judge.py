"""Rules over evidence: pure, and the only place that applies a guard.

One call judges one evidence set: the exchanges of a run, or of one file. Pairs and conversations are found within it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, cast

from msgspec.structs import replace

from conformance.models import ALL
from conformance.plain import plain, text
from conformance.protocols import read
from conformance.protocols.view import Answer
from conformance.rules import RULES, Inconclusive, Rule
from conformance.rules.registry import Finder, Group
from conformance.values import RANK, Exchange, Finding, Level, Outcome, Protocol, Verdict

MOST_FINDINGS = 200  # of one rule in one cell: more say nothing new, and a hostile server must not fill the disk
Cell = tuple[str, Protocol, str]


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Verdicts by rule, surface and model (in ledger order), and their findings in the order of the evidence."""

    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]


@dataclass
class _Tally:
    exercised: int = 0
    findings: list[Finding] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def judge(
    exchanges: Iterable[Exchange],
    *,
    rules: Iterable[Rule] | None = None,
    protocols: Sequence[Protocol] = tuple(Protocol),
    models: Sequence[str] = ALL,
) -> Judgement:
    """Every rule on every exchange, pair and conversation whose guard is met.

    ``protocols`` and ``models`` are the cells that verdicts are given for; a rule that does not cover one of them is
    not applicable there. A rule that raises gives outcome error and never hides the others.
    """
    chosen = list(RULES.values() if rules is None else rules)
    answers = [read(exchange) for exchange in exchanges]
    places = {id(answer): place for place, answer in enumerate(answers)}
    tallies: dict[Cell, _Tally] = {}
    groups: dict[Finder, list[Group]] = {}
    for entry in chosen:
        for group in _subjects(entry, answers, groups, tallies):
            _apply(entry, group, tallies)
    verdicts = tuple(
        _verdict(entry, protocol, model, tallies.get((entry.id, protocol, model)))
        for entry in chosen
        for protocol in protocols
        for model in models
    )
    order = {answer.exchange.id: places[id(answer)] for answer in reversed(answers)}
    found = [finding for verdict in verdicts for finding in verdict.findings]
    found.sort(key=lambda finding: (order.get(finding.exchange or "", 0), -RANK[finding.level or Level.INFO]))
    return Judgement(verdicts=verdicts, findings=tuple(found))


def exercising(exchanges: Iterable[Exchange], rules: Iterable[Rule]) -> Iterator[tuple[Rule, Group]]:
    """Each rule with each exchange, pair or conversation that exercises it: its guard is met, and it can be told."""
    answers = [read(exchange) for exchange in exchanges]
    groups: dict[Finder, list[Group]] = {}
    tallies: dict[Cell, _Tally] = {}
    for entry in rules:
        for group in _subjects(entry, answers, groups, tallies):
            before = {cell: tallies[cell].exercised if cell in tallies else 0 for cell in _cells(entry, group)}
            _apply(entry, group, tallies)
            if any(tallies[cell].exercised > count for cell, count in before.items()):
                yield entry, group


def _subjects(
    entry: Rule, answers: list[Answer], groups: dict[Finder, list[Group]], tallies: dict[Cell, _Tally]
) -> Iterator[Group]:
    """What the rule's guard is met by: single answers as groups of one."""
    if entry.find is None:
        found: Iterable[Group] = ((answer,) for answer in answers if entry.covers(answer.protocol, answer.model))
    else:
        if entry.find not in groups:
            groups[entry.find] = list(entry.find(answers))
        found = (group for group in groups[entry.find] if any(entry.covers(a.protocol, a.model) for a in group))
    for group in found:
        try:
            met = entry.guard is None or all(entry.guard(answer) for answer in group)
        except Exception as error:  # noqa: BLE001 (a broken guard is our bug, told as such, and must not end the run)
            for cell in _cells(entry, group):
                tallies.setdefault(cell, _Tally()).errors.append(_words(error, group))
            continue
        if met:
            yield group


def _apply(entry: Rule, group: Group, tallies: dict[Cell, _Tally]) -> None:
    cells = _cells(entry, group)
    mine = [tallies.setdefault(cell, _Tally()) for cell in cells]
    found: list[Finding] = []
    try:
        if entry.find is not None:
            found.extend(cast("Callable[[Group], Iterable[Finding]]", entry.judge)(group))
        else:
            found.extend(cast("Callable[[Answer], Iterable[Finding]]", entry.judge)(group[0]))
    except Inconclusive as reason:
        for tally in mine:
            tally.unsure.append(str(reason))
    except Exception as error:  # noqa: BLE001 (a rule that raises is our bug, told as such, and must not end the run)
        for tally in mine:
            tally.errors.append(_words(error, group))
    else:
        for tally in mine:
            tally.exercised += 1
    for finding in found:
        answer = _at_fault(finding, group)
        cell = (entry.id, answer.protocol, answer.model)
        tally = tallies[cell if cell in cells else cells[-1]]
        if len(tally.findings) < MOST_FINDINGS:
            tally.findings.append(_filled(entry, finding, answer, group))


def _cells(entry: Rule, group: Group) -> list[Cell]:
    cells = {(entry.id, a.protocol, a.model): None for a in group if entry.covers(a.protocol, a.model)}
    return list(cells)


def _at_fault(finding: Finding, group: Group) -> Answer:
    return next((answer for answer in group if answer.exchange.id == finding.exchange), group[-1])


def _filled(entry: Rule, finding: Finding, answer: Answer, group: Group) -> Finding:
    most = entry.level_on(answer.protocol, answer.model)
    level = finding.level if finding.level is not None and RANK[finding.level] < RANK[most] else most
    return replace(
        finding,
        message=text(finding.message),
        pointer=text(finding.pointer),
        expected=plain(finding.expected),
        actual=plain(finding.actual),
        rule=entry.id,
        level=level,
        basis=entry.basis_on(answer.protocol),
        protocol=answer.protocol,
        model=answer.model,
        exchange=answer.exchange.id,
        exchanges=tuple(member.exchange.id for member in group),
        file=answer.exchange.file,
    )


def _verdict(entry: Rule, protocol: Protocol, model: str, tally: _Tally | None) -> Verdict:
    level = entry.level_on(protocol, model)
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    exercised = 0
    if not entry.covers(protocol, model):
        outcome, reason = Outcome.NOT_APPLICABLE, "the ledger does not apply this rule here"
    elif tally is None:
        outcome = Outcome.NOT_EXERCISED
    else:
        findings, exercised = tuple(tally.findings), tally.exercised
        outcome, reason = _outcome(tally)
    return Verdict(
        rule=entry.id,
        protocol=protocol,
        model=model,
        outcome=outcome,
        level=max((f.level or level for f in findings), key=RANK.__getitem__, default=level),
        findings=findings,
        exercised=exercised,
        reason=reason,
    )


def _outcome(tally: _Tally) -> tuple[Outcome, str | None]:
    """Fold what was seen in one cell: error, fail, inconclusive, pass, not exercised, in this order."""
    if tally.errors:
        return Outcome.ERROR, tally.errors[0]
    if any(finding.level is not Level.INFO for finding in tally.findings):
        return Outcome.FAIL, None
    if tally.unsure and not tally.exercised:
        return Outcome.INCONCLUSIVE, tally.unsure[0]
    return (Outcome.PASS, None) if tally.exercised else (Outcome.NOT_EXERCISED, None)


def _words(error: Exception, group: Group) -> str:
    words = text(" ".join(str(error).split()), 200)
    return f"{type(error).__name__}: {words} (exchange {group[-1].exchange.id})"


class _Judge(ModuleType):
    """A module that may be called, so that ``conformance.judge(…)`` works whether or not the module was imported."""

    def __call__(self, exchanges: Iterable[Exchange], **options: Any) -> Judgement:
        """As the function ``judge``."""
        return judge(exchanges, **options)


sys.modules[__name__].__class__ = _Judge
