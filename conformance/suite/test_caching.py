"""Context caches."""

from __future__ import annotations

from conformance.models import K31
from conformance.plugin.marks import Probe, cells, exercises
from conformance.probes import caching
from conformance.values import Protocol


@exercises(
    "cache.chat-ttl-writes",
    "cache.no-read-when-cold",
    "cache.read-after-write",
    "cache.ttl-category",
    "usage.cache-creation-is-sum",
    "usage.cached-within-input",
    "usage.input-exclusive",
    "usage.non-negative-integers",
    "usage.prompt-stable",
    "usage.total-is-sum",
)
def test_cold_and_warm(probe: Probe) -> None:
    probe(caching.cold_and_warm)


@exercises(
    "cache.no-read-when-cold",
    "cache.ttl-category",
    "usage.cache-creation-is-sum",
    "usage.cached-within-input",
    "usage.input-exclusive",
    "usage.non-negative-integers",
    "usage.prompt-stable",
    "usage.total-is-sum",
)
def test_cold_and_warm_streams(probe: Probe) -> None:
    probe(caching.streamed)


@exercises("cache.block-marker-does-not-set-ttl")
@cells(protocols=(Protocol.MESSAGES,), models=K31)
def test_marker_in_a_block(probe: Probe) -> None:
    probe(caching.block_markers)


@exercises("cache.no-read-when-cold", "usage.modes-agree-on-cache")
@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_cache_in_both_modes(probe: Probe) -> None:
    probe(caching.both_modes)
