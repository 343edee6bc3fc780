"""Stop sequences of messages."""

from __future__ import annotations

from conformance.models import K31
from conformance.plugin import Probe, cells
from conformance.probes import stops
from conformance.values import Protocol


@cells(protocols=(Protocol.MESSAGES,), models=K31)
def test_match(probe: Probe) -> None:
    probe(stops.matched)


@cells(protocols=(Protocol.MESSAGES,), models=K31)
def test_near_miss(probe: Probe) -> None:
    probe(stops.near_misses)


@cells(protocols=(Protocol.MESSAGES,), models=K31)
def test_size_and_number(probe: Probe) -> None:
    probe(stops.edges)
