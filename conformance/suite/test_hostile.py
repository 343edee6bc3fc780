"""Requests that a fragile server trips over."""

from __future__ import annotations

from conformance.plugin.marks import Probe, exercises
from conformance.probes import hostile


@exercises("request.deep-nesting-survived")
def test_hostile_request(probe: Probe) -> None:
    probe(hostile.survived)


@exercises("request.extra-properties-tolerated")
def test_unknown_property(probe: Probe) -> None:
    probe(hostile.extra_property)
