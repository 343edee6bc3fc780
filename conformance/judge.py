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
    evidence = _Evidence([read(exchange) for exchange in exchanges])
    tallies: dict[Cell, _Tally] = {}
    for entry in chosen:
        for cells, groups in evidence.subjects(entry):
            mine = {cell: tallies.get(cell) or _Tally() for cell in cells}
            if sum(_applies(entry, group, mine) for group in groups):
                tallies |= mine
    verdicts = tuple(
        _verdict(entry, protocol, model, tallies.get((entry.id, protocol, model)))
        for entry in chosen
        for protocol in protocols
        for model in models
    )
    order = {answer.exchange.id: place for place, answer in reversed(list(enumerate(evidence.answers)))}
    found = [finding for verdict in verdicts for finding in verdict.findings]
    found.sort(key=lambda finding: (order.get(finding.exchange or "", 0), -RANK[finding.level or Level.INFO]))
    return Judgement(verdicts=verdicts, findings=tuple(found))


def exercising(exchanges: Iterable[Exchange], rules: Iterable[Rule]) -> Iterator[tuple[Rule, Group]]:
    """Each rule with each exchange, pair or conversation that exercises it: its guard is met, and it can be told."""
    evidence = _Evidence([read(exchange) for exchange in exchanges])
    for entry in rules:
        for cells, groups in evidence.subjects(entry):
            for group in groups:
                mine = {cell: _Tally() for cell in cells}
                if _applies(entry, group, mine) and any(tally.exercised for tally in mine.values()):
                    yield entry, group


class _Evidence:
    """The answers of one set by their cells, and the groups that finders found among them."""

    def __init__(self, answers: list[Answer]) -> None:
        self.answers = answers
        self._single: dict[tuple[Protocol, str], list[Group]] = {}
        for answer in answers:
            self._single.setdefault((answer.protocol, answer.model), []).append((answer,))
        self._found: dict[Finder, list[Group]] = {}

    def subjects(self, entry: Rule) -> Iterator[tuple[tuple[Cell, ...], Sequence[Group]]]:
        """What the rule may look at, with the cells that it counts for: single answers are groups of one."""
        if entry.find is None:
            for (protocol, model), groups in self._single.items():
                if entry.covers(protocol, model):
                    yield ((entry.id, protocol, model),), groups
            return
        if entry.find not in self._found:
            self._found[entry.find] = list(entry.find(self.answers))
        for group in self._found[entry.find]:
            places = dict.fromkeys((answer.protocol, answer.model) for answer in group)
            cells = tuple((entry.id, *place) for place in places if entry.covers(*place))
            if cells:
                yield cells, (group,)


def _applies(entry: Rule, group: Group, mine: dict[Cell, _Tally]) -> bool:
    """Judge one group into the tallies of its cells; whether the rule's guard is met, or broken."""
    try:
        met = entry.guard is None or all(map(entry.guard, group))
    except Exception as error:  # noqa: BLE001 (a broken guard is our bug, told as such, and must not end the run)
        _failed(error, group, mine)
        return True
    if met:
        _apply(entry, group, mine)
    return met


def _apply(entry: Rule, group: Group, mine: dict[Cell, _Tally]) -> None:
    found: list[Finding] = []
    try:
        if entry.find is not None:
            found.extend(cast("Callable[[Group], Iterable[Finding]]", entry.judge)(group))
        else:
            found.extend(cast("Callable[[Answer], Iterable[Finding]]", entry.judge)(group[0]))
    except Inconclusive as reason:
        for tally in mine.values():
            tally.unsure.append(str(reason))
    except Exception as error:  # noqa: BLE001 (a rule that raises is our bug, told as such, and must not end the run)
        _failed(error, group, mine)
    else:
        for tally in mine.values():
            tally.exercised += 1
    members = {answer.exchange.id: answer for answer in reversed(group)} if found else {}
    for finding in found:
        answer = members.get(finding.exchange or "", group[-1])
        tally = mine.get((entry.id, answer.protocol, answer.model)) or next(reversed(mine.values()))
        if len(tally.findings) < MOST_FINDINGS:
            tally.findings.append(_filled(entry, finding, answer, group))


def _failed(error: Exception, group: Group, mine: dict[Cell, _Tally]) -> None:
    words = text(" ".join(str(error).split()), 200)
    for tally in mine.values():
        tally.errors.append(f"{type(error).__name__}: {words} (exchange {group[-1].exchange.id})")


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


class _Judge(ModuleType):
    """A module that may be called, so that ``conformance.judge(…)`` works whether or not the module was imported."""

    def __call__(self, exchanges: Iterable[Exchange], **options: Any) -> Judgement:
        """As the function ``judge``."""
        return judge(exchanges, **options)


sys.modules[__name__].__class__ = _Judge
