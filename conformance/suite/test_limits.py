"""Output limits and the context window."""

from __future__ import annotations

from conformance.plugin import Probe, cells
from conformance.probes import limits
from conformance.values import Protocol


def test_cut_off(probe: Probe) -> None:
    probe(limits.cut_off)


def test_call_cut_off(probe: Probe) -> None:
    probe(limits.cut_off_call)


@cells(protocols=(Protocol.CHAT,))
def test_legacy_limit(probe: Probe) -> None:
    probe(limits.alias)


def test_smallest_and_largest_limit(probe: Probe) -> None:
    probe(limits.edges)


def test_oversized_prompt(probe: Probe) -> None:
    probe(limits.oversized)
