"""Conversations."""

from __future__ import annotations

from conformance.plugin import Probe
from conformance.probes import turns


def test_history(probe: Probe) -> None:
    probe(turns.history)
