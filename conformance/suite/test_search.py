"""Web search."""

from __future__ import annotations

from conformance.plugin import Probe, cells
from conformance.probes import search
from conformance.values import Protocol


@cells(protocols=(Protocol.CHAT,))
def test_search_on_chat(probe: Probe) -> None:
    probe(search.chat)


@cells(protocols=(Protocol.MESSAGES,))
def test_search_by_the_server(probe: Probe) -> None:
    probe(search.server)


@cells(protocols=(Protocol.MESSAGES,))
def test_limited_searches(probe: Probe) -> None:
    probe(search.several)


@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_search_required(probe: Probe) -> None:
    probe(search.forced)


@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_search_not_needed(probe: Probe) -> None:
    probe(search.unused)
