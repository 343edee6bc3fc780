"""A failure sent again, request for request, and judged anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.fuzzing.bench import Bench, SpentError, Tally
from conformance.gate import Exit
from conformance.generators.failure import Failure
from conformance.rules import RULES
from conformance.values import Exchange, Finding


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """What became of a failure: exit 1 where the rule is still broken, 0 where it holds, 3 where nobody can tell."""

    code: Exit
    words: str
    finding: Finding | None = None


def replay(failure: Failure, bench: Bench) -> Replayed:
    """Send the requests of a failure again and judge them."""
    if failure.rule not in RULES:
        return Replayed(code=Exit.NOT_VERIFIED, words=f"there is no rule {failure.rule[:80]!r} in this version")
    cures = failure.kind in ("valid", "conversation")
    try:
        found = bench.findings(failure.requests, cures=cures) or ()
        exchanges = bench.exchanges(failure.requests, cures=cures) or ()
    except SpentError as error:
        return Replayed(code=Exit.NOT_VERIFIED, words=str(error))
    finding = next((finding for finding in found if finding.rule == failure.rule), None)
    if finding is not None:
        return Replayed(code=Exit.FAILED, words="it still fails", finding=finding)
    tally = bench.tallies.get(failure.rule, Tally())
    if tally.error is not None:
        return Replayed(code=Exit.INTERNAL, words=tally.error)
    if tally.exercised:
        return Replayed(code=Exit.CONFORMING, words="the rule holds now")
    return Replayed(code=Exit.NOT_VERIFIED, words=tally.unsure or _untold(exchanges))


def _untold(exchanges: Sequence[Exchange]) -> str:
    """Why the rule could not be judged at all."""
    last = exchanges[-1] if exchanges else None
    if last is None or last.response is None:
        return f"no answer: {last.failure.message if last and last.failure else 'nothing was sent'}"
    return f"the rule does not apply to what came back (HTTP {last.response.status})"
