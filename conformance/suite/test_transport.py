"""What surrounds the body."""

from __future__ import annotations

from conformance.plugin import Probe
from conformance.probes import transport


def test_content_types(probe: Probe) -> None:
    probe(transport.content_types)


def test_base_urls(probe: Probe) -> None:
    probe(transport.base_urls)


def test_rate_limit(probe: Probe) -> None:
    probe(transport.rate_limit)
