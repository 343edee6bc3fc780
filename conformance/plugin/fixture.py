"""The fixture ``kimi_conformance``: judges what a test's own client sent and got."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

from conformance.judge import Judgement, judge
from conformance.reports.safe import safe
from conformance.rules import RULES
from conformance.rules.patterns import NoMatch, select
from conformance.transports import AsyncConformanceTransport, ConformanceTransport
from conformance.values import Exchange, Finding, Level

T = TypeVar("T", ConformanceTransport, AsyncConformanceTransport)
MOST_SHOWN = 20  # findings


class Evidence:
    """What the clients of one test did. The test fails where it breaks a must rule that was not allowed."""

    def __init__(self) -> None:
        self._transports: list[ConformanceTransport | AsyncConformanceTransport] = []
        self._allowed: frozenset[str] = frozenset()

    def transport(self, inner: Any = None) -> ConformanceTransport:
        """A transport for an ``httpx.Client`` or ``httpx2.Client``; see ``ConformanceTransport``."""
        return self._added(ConformanceTransport(inner))

    def async_transport(self, inner: Any = None) -> AsyncConformanceTransport:
        """A transport for an ``httpx.AsyncClient`` or ``httpx2.AsyncClient``; see ``AsyncConformanceTransport``."""
        return self._added(AsyncConformanceTransport(inner))

    def allow(self, *patterns: str) -> None:
        """Let these rules be broken, as in ``allow("usage.*")``. A pattern that matches no rule fails the test."""
        try:
            self._allowed |= frozenset(select(patterns, RULES))
        except NoMatch as error:
            hint = f"; nearest: {', '.join(error.nearest)}" if error.nearest else ""
            pytest.fail(f"no rule matches {error.pattern!r}{hint}", pytrace=False)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """What passed so far, keys hidden, in the order in which it was sent."""
        found = [exchange for transport in self._transports for exchange in transport.exchanges]
        return tuple(sorted(found, key=lambda exchange: int(exchange.id)))

    def judge(self) -> Judgement:
        """What the rules say of it so far."""
        for transport in self._transports:
            transport.settle()
        return judge(self.exchanges)

    def verify(self) -> None:
        """Fail the test on findings of level must; called when the test has ended by itself without failing."""
        broken = [
            finding
            for finding in self.judge().findings
            if finding.level is Level.MUST and finding.rule not in self._allowed
        ]
        if broken:
            pytest.fail("\n".join(_lines(broken)), pytrace=False)

    def _added(self, transport: T) -> T:
        self._transports.append(transport)
        return transport


def _lines(broken: list[Finding]) -> Iterable[str]:
    yield f"{len(broken)} finding{'s' * (len(broken) > 1)} of level must in what the client got:"
    for finding in broken[:MOST_SHOWN]:
        where = f"{finding.protocol.value if finding.protocol else ''} {finding.model}, exchange {finding.exchange}"
        pairs = (("expected", finding.expected), ("actual", finding.actual))
        values = ", ".join(f"{name} {safe(value, 120)}" for name, value in pairs if value is not None)
        place = f", {safe(finding.pointer)}" if finding.pointer else ""
        yield f"  {finding.rule}: {safe(finding.message)} [{where}{place}]" + (f" {values}" if values else "")
    if len(broken) > MOST_SHOWN:
        yield f"  and {len(broken) - MOST_SHOWN} more"
