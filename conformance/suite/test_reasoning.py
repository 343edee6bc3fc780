"""Reasoning efforts."""

from __future__ import annotations

from conformance.models import K3, K31
from conformance.plugin.marks import Probe, cells, exercises
from conformance.probes import reasoning
from conformance.values import Protocol


@exercises("reasoning.tokens-counted", "request.responses-effort-accepted", "request.valid-accepted")
def test_efforts(probe: Probe) -> None:
    probe(reasoning.efforts)


@exercises("model.k3.effort-only-max", "model.k31.effort-*")
def test_effort_aliases(probe: Probe) -> None:
    probe(reasoning.aliases)


@exercises("model.k3.effort-only-max")
@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES), models=K3)
def test_efforts_unknown_to_k3(probe: Probe) -> None:
    probe(reasoning.only_max)


@exercises("reasoning.effort-increases")
@cells(models=K31)
def test_low_against_max(probe: Probe) -> None:
    probe(reasoning.low_and_max)
