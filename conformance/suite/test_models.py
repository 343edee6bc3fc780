"""What differs between the models."""

from __future__ import annotations

from conformance.models import K3
from conformance.plugin.marks import Probe, cells, exercises
from conformance.probes import sampling
from conformance.values import Protocol


@exercises(
    "model.k3.temperature-*", "model.k3.top-p-rejected", "model.k31.temperature-ignored", "model.k31.top-p-ignored"
)
@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_fixed_sampling_values(probe: Probe) -> None:
    probe(sampling.values)


@exercises(
    "model.k3.cache-control-rejected",
    "model.k3.output-format-rejected",
    "model.k3.prompt-cache-options-rejected",
    "model.k3.stop-sequences-rejected",
)
@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES), models=K3)
def test_fields_unknown_to_k3(probe: Probe) -> None:
    probe(sampling.unsupported)
