"""Failures that a model's choice may have brought about: they count when two of three askings show them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec.structs import replace

from conformance.rules.choices import BY_CHOICE
from conformance.values import Exchange, Finding, Level, Outcome, Protocol, Verdict

TRIALS = 3
ENOUGH = 2  # failing askings of these

_Place = tuple[str | None, Protocol, str]  # a probe and its cell


def confirmed(verdicts: Iterable[Verdict], exchanges: Iterable[Exchange]) -> tuple[Verdict, ...]:
    """The verdicts with what was not confirmed as info, and how many tries each took.

    Evidence that was never asked again (recorded traffic, deterministic rules) counts as it is. Where the askings ended
    undecided, since the run was stopped, the verdict is inconclusive.
    """
    by_id = {exchange.id: exchange for exchange in exchanges}
    trials: dict[_Place, int] = defaultdict(lambda: 1)
    for exchange in by_id.values():
        trials[_place(exchange)] = max(trials[_place(exchange)], exchange.trial)
    if not any(number > 1 for number in trials.values()):
        return tuple(verdicts)
    return tuple(_weighed(verdict, by_id, trials) if verdict.rule in BY_CHOICE else verdict for verdict in verdicts)


def _place(exchange: Exchange) -> _Place:
    return exchange.probe, exchange.protocol, exchange.model


def _weighed(verdict: Verdict, by_id: dict[str, Exchange], trials: dict[_Place, int]) -> Verdict:
    failing: dict[_Place, set[int]] = defaultdict(set)
    for finding in verdict.findings:
        exchange = by_id.get(finding.exchange or "")
        if exchange is not None and finding.level is Level.MUST:
            failing[_place(exchange)].add(exchange.trial)
    if not failing:
        return verdict
    tries = max(trials[place] for place in failing)
    lowered = {place for place, found in failing.items() if trials[place] > 1 and len(found) < ENOUGH}
    undecided = any(trials[place] < TRIALS for place in lowered)
    findings = tuple(_lowered(finding, by_id, lowered, trials) for finding in verdict.findings)
    if any(finding.level is not Level.INFO for finding in findings):
        return replace(verdict, findings=findings, tries=tries)
    if undecided:
        reason = "a failure that the model's choice may have brought about could not be asked again often enough"
        return replace(verdict, findings=findings, outcome=Outcome.INCONCLUSIVE, reason=reason, tries=tries)
    return replace(verdict, findings=findings, outcome=Outcome.PASS, tries=tries)


def _lowered(finding: Finding, by_id: dict[str, Exchange], lowered: set[_Place], trials: dict[_Place, int]) -> Finding:
    exchange = by_id.get(finding.exchange or "")
    if exchange is None or finding.level is not Level.MUST or _place(exchange) not in lowered:
        return finding
    words = f"{finding.message} (in 1 of {trials[_place(exchange)]} tries)"
    return replace(finding, level=Level.INFO, message=words)
