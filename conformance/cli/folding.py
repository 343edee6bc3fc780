"""Verdicts of several files, folded into one a case."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from conformance.values import RANK, Outcome, Protocol, Verdict

_WEIGHT = (
    Outcome.ERROR,
    Outcome.FAIL,
    Outcome.INCONCLUSIVE,
    Outcome.PASS,
    Outcome.NOT_EXERCISED,
    Outcome.NOT_APPLICABLE,
)


def fold(files: Iterable[Iterable[Verdict]], *, most: int | None = None) -> tuple[Verdict, ...]:
    """One verdict a case: the heaviest outcome, all findings, guards met in sum; in the order of the first file.

    ``most`` bounds the findings of a case; the first ones stay.
    """
    cases: dict[tuple[str, Protocol, str], Verdict] = {}
    for verdicts in files:
        for verdict in verdicts:
            key = (verdict.rule, verdict.protocol, verdict.model)
            cases[key] = _joined(cases[key], verdict, most) if key in cases else verdict
    return tuple(cases.values())


def _joined(one: Verdict, two: Verdict, most: int | None) -> Verdict:
    heavier = min(one, two, key=lambda verdict: _WEIGHT.index(verdict.outcome))
    findings = (one.findings + two.findings)[:most]
    level = max((one, two), key=lambda verdict: (bool(verdict.findings), RANK[verdict.level])).level
    return replace(heavier, findings=findings, exercised=one.exercised + two.exercised, level=level)
