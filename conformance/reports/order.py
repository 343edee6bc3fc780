"""The order of findings in every report: the heaviest level first, then the most specific rule, then the place.

One fault often trips several rules. Those that hold a whole body, a whole class of requests or two whole answers at
once say that something is wrong; the others say what, and come first. How often the first one names the fault is
measured by ``benchmarks/finding_order.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.values import RANK, Finding, Level

BROAD = (  # the broadest last
    "error.envelope",
    "http.status.documented",
    "http.no-server-error",
    "request.invalid-rejected",
    "usage.output-positive",
    "stream.tools-equal-json",
    "stream.same-ending-as-json",
    "usage.stream-equals-json",
    "usage.output-plausible",
    "request.valid-accepted",
    "model.chat-features-accepted",
    "body.required-fields",
    "body.schema",
    "body.text-not-empty",
)
_BREADTH = {rule: place for place, rule in enumerate(BROAD, start=1)}


def weight(level: Level | None, rule: str) -> tuple[int, int]:
    """What findings are sorted by: the heaviest level first, and within it the most specific rule."""
    return -RANK[level or Level.INFO], _BREADTH.get(rule, 0)


def ordered(findings: Iterable[Finding], places: Mapping[str, int]) -> list[Finding]:
    """Findings by weight, then by the place of their exchange, then as they came."""

    def key(finding: Finding) -> tuple[tuple[int, int], int]:
        return weight(finding.level, finding.rule), places.get(finding.exchange or "", len(places))

    return sorted(findings, key=key)
