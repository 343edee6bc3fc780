"""Requests that a fragile server trips over."""

from __future__ import annotations

from conformance.plugin import Probe
from conformance.probes import hostile


def test_hostile_request(probe: Probe) -> None:
    probe(hostile.survived)


def test_unknown_property(probe: Probe) -> None:
    probe(hostile.extra_property)
