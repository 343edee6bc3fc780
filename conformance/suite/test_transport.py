"""What surrounds the body."""

from __future__ import annotations

from conformance.plugin.marks import Probe, exercises
from conformance.probes import transport


@exercises("http.request-charset-accepted")
def test_content_types(probe: Probe) -> None:
    probe(transport.content_types)


@exercises("http.base-urls.agree")
def test_base_urls(probe: Probe) -> None:
    probe(transport.base_urls)


@exercises("error.envelope", "error.status-fits-type", "error.type-fits-status", "http.rate-limit.retry-after")
def test_rate_limit(probe: Probe) -> None:
    probe(transport.rate_limit)
