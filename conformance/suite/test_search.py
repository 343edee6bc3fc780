"""Web search."""

from __future__ import annotations

from conformance.plugin.marks import Probe, cells, exercises
from conformance.probes import search
from conformance.values import Protocol


@exercises("search.chat-*", "tool.type", "turn.history-accepted")
@cells(protocols=(Protocol.CHAT,))
def test_search_on_chat(probe: Probe) -> None:
    probe(search.chat)


@exercises(
    "finish.tool-iff-call",
    "search.end-turn",
    "search.max-uses",
    "search.messages-performed",
    "search.result-shape",
    "search.server-pairing",
    "stream.messages.tool-json",
    "turn.history-accepted",
    "usage.search-counted",
)
@cells(protocols=(Protocol.MESSAGES,))
def test_search_by_the_server(probe: Probe) -> None:
    probe(search.server)


@exercises("search.max-uses", "search.result-shape", "search.server-pairing", "usage.search-counted")
@cells(protocols=(Protocol.MESSAGES,))
def test_limited_searches(probe: Probe) -> None:
    probe(search.several)


@exercises("search.end-turn", "tool.choice-required")
@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_search_required(probe: Probe) -> None:
    probe(search.forced)


@exercises("usage.search-counted")
@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_search_not_needed(probe: Probe) -> None:
    probe(search.unused)
