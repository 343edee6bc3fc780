"""What differs between the models."""

from __future__ import annotations

from conformance.models import K3
from conformance.plugin import Probe, cells
from conformance.probes import sampling
from conformance.values import Protocol


@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_fixed_sampling_values(probe: Probe) -> None:
    probe(sampling.values)


@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES), models=K3)
def test_fields_unknown_to_k3(probe: Probe) -> None:
    probe(sampling.unsupported)
