"""Conversations."""

from __future__ import annotations

from conformance.plugin.marks import Probe, exercises
from conformance.probes import turns


@exercises("turn.history-accepted")
def test_history(probe: Probe) -> None:
    probe(turns.history)
