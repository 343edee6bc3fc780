"""Context caches."""

from __future__ import annotations

from conformance.models import K31
from conformance.plugin import Probe, cells
from conformance.probes import caching
from conformance.values import Protocol


def test_cold_and_warm(probe: Probe) -> None:
    probe(caching.cold_and_warm)


@cells(protocols=(Protocol.MESSAGES,), models=K31)
def test_marker_in_a_block(probe: Probe) -> None:
    probe(caching.block_markers)


@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_cache_in_both_modes(probe: Probe) -> None:
    probe(caching.both_modes)
