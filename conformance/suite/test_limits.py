"""Output limits and the context window."""

from __future__ import annotations

from conformance.plugin.marks import Probe, cells, exercises
from conformance.probes import limits
from conformance.values import Protocol


@exercises(
    "finish.incomplete-details",
    "finish.length-*",
    "finish.truncated-not-completed",
    "stream.responses.status",
    "stream.same-ending-as-json",
)
def test_cut_off(probe: Probe) -> None:
    probe(limits.cut_off)


@exercises("stream.messages.tool-json", "tool.cut-off-is-length")
def test_call_cut_off(probe: Probe) -> None:
    probe(limits.cut_off_call)


@exercises("request.max-tokens-alias")
@cells(protocols=(Protocol.CHAT,))
def test_legacy_limit(probe: Probe) -> None:
    probe(limits.alias)


@exercises("finish.length-at-limit", "http.no-repeated-server-error", "request.valid-accepted")
def test_smallest_and_largest_limit(probe: Probe) -> None:
    probe(limits.edges)


@exercises("request.context-exceeded")
def test_oversized_prompt(probe: Probe) -> None:
    probe(limits.oversized)
