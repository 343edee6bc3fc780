"""Function tools."""

from __future__ import annotations

from conformance.models import DEFAULT
from conformance.plugin.marks import Probe, cells, exercises, smoke
from conformance.probes import tools
from conformance.values import Protocol


@exercises("finish.not-null", "finish.tool-iff-call", "tool.declared-only", "tool.no-markup-in-text")
def test_tools_offered(probe: Probe) -> None:
    probe(tools.offered)


@exercises(
    "http.stream.flag-honoured",
    "body.item-fields",
    "body.output-item-types",
    "reasoning.thinking-block-present",
    "stream.chat.one-finish",
    "stream.chat.tool-deltas",
    "stream.complete",
    "stream.messages.delta-type",
    "stream.messages.tool-json",
    "stream.responses.calls",
    "stream.same-ending-as-json",
    "stream.tools-equal-json",
    "tool.arguments-json",
    "tool.choice-required",
    "tool.ids",
    "tool.input-object",
    "tool.no-duplicates",
    "tool.type",
    "usage.output-positive",
)
@smoke(DEFAULT)
def test_call_required(probe: Probe) -> None:
    probe(tools.required)


@exercises("tool.arguments-json", "tool.arguments-match-schema", "tool.input-object")
def test_rich_arguments(probe: Probe) -> None:
    probe(tools.rich_arguments)


@exercises("tool.choice-named")
@cells(protocols=(Protocol.CHAT,))
def test_call_named(probe: Probe) -> None:
    probe(tools.named)


@exercises("tool.choice-none")
def test_calls_forbidden(probe: Probe) -> None:
    probe(tools.forbidden)


@exercises("tool.no-duplicates", "tool.round-trip", "turn.history-accepted")
def test_round_trip(probe: Probe) -> None:
    probe(tools.round_trip)


@exercises(
    "finish.tool-iff-call",
    "stream.chat.tool-deltas",
    "stream.messages.block-index",
    "stream.responses.items",
    "tool.declared-only",
    "tool.no-duplicates",
    "tool.parallel-results",
    "tool.round-trip",
)
def test_parallel_calls(probe: Probe) -> None:
    probe(tools.parallel)


@exercises("tool.no-duplicates", "tool.round-trip", "turn.history-accepted")
def test_calls_in_two_turns(probe: Probe) -> None:
    probe(tools.two_rounds)


@exercises("request.orphan-tool-result-rejected")
@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_orphan_result(probe: Probe) -> None:
    probe(tools.orphan_result)
