"""Stop sequences of messages."""

from __future__ import annotations

from conformance.models import K31
from conformance.plugin.marks import Probe, cells, exercises
from conformance.probes import stops
from conformance.values import Protocol


@exercises(
    "finish.stop-sequence-as-end-turn",
    "finish.stop-sequence-null",
    "finish.stop-sequence-omitted",
    "finish.stop-sequence-prefix",
    "finish.stop-sequence-stops",
    "stream.same-ending-as-json",
)
@cells(protocols=(Protocol.MESSAGES,), models=K31)
def test_match(probe: Probe) -> None:
    probe(stops.matched)


@exercises("finish.stop-sequence-exact")
@cells(protocols=(Protocol.MESSAGES,), models=K31)
def test_near_miss(probe: Probe) -> None:
    probe(stops.near_misses)


@exercises("request.edge.*")
@cells(protocols=(Protocol.MESSAGES,), models=K31)
def test_size_and_number(probe: Probe) -> None:
    probe(stops.edges)
