"""Judges exchanges as they come: each by itself, and pairs and conversations among the latest ones.

What is told here is told early; the report at the end judges the whole journal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from conformance.judge import judge
from conformance.rules import RULES, Rule
from conformance.values import RANK, Basis, Exchange, Finding, Level, Outcome

LATEST = 24  # exchanges among which pairs and conversations are found
MOST_BYTES = 8 * 1024**2  # of bodies that these may hold together
MOST_TOLD = 10_000  # findings over several exchanges that are remembered, so that each is told once


class Watch:
    """Remembers the latest exchanges; not to be shared between threads."""

    def __init__(self, rules: Iterable[Rule] | None = None, basis: Basis | None = None) -> None:
        chosen = tuple(RULES.values() if rules is None else rules)
        self._single = [rule for rule in chosen if rule.find is None]
        self._grouped = [rule for rule in chosen if rule.find is not None]
        self._basis = basis
        self._latest: deque[tuple[Exchange, int]] = deque()
        self._told: deque[tuple[str, ...]] = deque(maxlen=MOST_TOLD)

    def see(self, exchange: Exchange) -> tuple[tuple[Finding, ...], str | None]:
        """What is wrong with this exchange, alone and beside earlier ones; and a rule that raised, in words."""
        self._remember(exchange)
        protocols, models = (exchange.protocol,), (exchange.model,)
        alone = judge([exchange], rules=self._single, protocols=protocols, models=models)
        exchanges = [latest for latest, _ in self._latest]
        beside = judge(exchanges, rules=self._grouped, protocols=protocols, models=models)
        found = [*alone.findings, *filter(self._fresh, beside.findings)]
        found = [finding for finding in found if self._basis in (None, finding.basis)]
        found.sort(key=lambda finding: -RANK[finding.level or Level.INFO])
        broken = (v for v in (*alone.verdicts, *beside.verdicts) if v.outcome is Outcome.ERROR)
        return tuple(found), next((f"{verdict.rule}: {verdict.reason}" for verdict in broken), None)

    def _remember(self, exchange: Exchange) -> None:
        self._latest.append((exchange, _size(exchange)))
        while len(self._latest) > LATEST or (
            len(self._latest) > 1 and sum(size for _, size in self._latest) > MOST_BYTES
        ):
            self._latest.popleft()

    def _fresh(self, finding: Finding) -> bool:
        """Whether a finding over several exchanges has not been told yet."""
        mark = (finding.rule, finding.exchange or "", finding.pointer, finding.message)
        if mark in self._told:
            return False
        self._told.append(mark)
        return True


def _size(exchange: Exchange) -> int:
    chunks = exchange.response.chunks if exchange.response is not None else ()
    return len(exchange.request.body) + sum(len(chunk.data) for chunk in chunks)
