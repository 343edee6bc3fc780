"""Every constraint of the request schemas: broken alone, and at its allowed edges."""

from __future__ import annotations

from conformance.plugin.marks import Probe, exercises
from conformance.probes import constraints


@exercises("request.edge.stop-sequence-*", "request.invalid-rejected", "request.unknown-model-rejected")
def test_each_constraint_broken(probe: Probe) -> None:
    probe(constraints.broken)


@exercises("finish.length-at-limit", "request.edge.stop-sequence-*", "request.valid-accepted")
def test_each_allowed_edge(probe: Probe) -> None:
    probe(constraints.allowed)
