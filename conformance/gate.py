"""The one gate: verdicts in, one outcome and one exit code out. Every report and the command read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from conformance.values import Basis, Level, Outcome, Verdict


class Exit(IntEnum):
    """The exit codes of the command."""

    CONFORMING = 0
    FAILED = 1  # a must rule failed (with strict also a should rule)
    USAGE = 2
    NOT_VERIFIED = 3  # nothing ran, the run is partial, or target or key is unusable
    INTERNAL = 4


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What the verdicts add up to."""

    code: Exit
    headline: str  # conforming, not conforming, not verified, internal error
    reason: str
    counts: dict[str, int]  # verdicts by outcome; "must", "should" and "info" count findings
    rules_exercised: int


def gate(
    verdicts: Iterable[Verdict],
    *,
    strict: bool = False,
    basis: Basis | None = None,
    unverified: str | None = None,
    partial: str | None = None,
) -> Gate:
    """Decide.

    ``strict`` makes should count as must; ``basis`` documented leaves findings out that only the format supports.
    ``unverified`` says why nothing could be verified at all, ``partial`` why the run is not whole: neither is ever
    conforming, and a must finding of a partial run still fails it.
    """
    verdicts = list(verdicts)
    counts = Counter({outcome.value: 0 for outcome in Outcome})
    counts.update(verdict.outcome.value for verdict in verdicts)
    weights = Counter({level.value: 0 for level in Level})
    weights.update(
        (finding.level or verdict.level).value
        for verdict in verdicts
        for finding in verdict.findings
        if (basis is None or finding.basis is basis) and verdict.known is None
    )
    exercised = len({v.rule for v in verdicts if v.outcome not in (Outcome.NOT_EXERCISED, Outcome.NOT_APPLICABLE)})
    code, headline, reason = _decide(verdicts, counts, weights, strict=strict, unverified=unverified, partial=partial)
    return Gate(code=code, headline=headline, reason=reason, counts={**counts, **weights}, rules_exercised=exercised)


def _decide(
    verdicts: list[Verdict],
    counts: Counter[str],
    weights: Counter[str],
    *,
    strict: bool,
    unverified: str | None,
    partial: str | None,
) -> tuple[Exit, str, str]:
    if unverified is not None:
        return Exit.NOT_VERIFIED, "not verified", unverified
    if counts[Outcome.ERROR.value]:
        broken = next(v for v in verdicts if v.outcome is Outcome.ERROR)
        return Exit.INTERNAL, "internal error", f"{broken.rule}: {broken.reason}"
    breaking = weights[Level.MUST.value] + (weights[Level.SHOULD.value] if strict else 0)
    if breaking:
        kinds = "must or should" if strict else "must"
        cut = f"; the run is partial: {partial}" if partial is not None else ""
        return Exit.FAILED, "not conforming", f"{breaking} {kinds} finding{'s' * (breaking > 1)}{cut}"
    if partial is not None:
        return Exit.NOT_VERIFIED, "not verified", f"partial run: {partial}"
    if not counts[Outcome.PASS.value] + counts[Outcome.FAIL.value]:
        return Exit.NOT_VERIFIED, "not verified", "no rule was exercised"
    warnings = weights[Level.SHOULD.value]
    return Exit.CONFORMING, "conforming", f"{warnings} warning{'s' * (warnings != 1)}" if warnings else "no failure"
