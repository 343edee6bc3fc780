"""What the documents show."""

from __future__ import annotations

from conformance.plugin import Probe
from conformance.probes import documented


def test_documented_examples(probe: Probe) -> None:
    probe(documented.examples)


def test_documented_forms(probe: Probe) -> None:
    probe(documented.forms)
