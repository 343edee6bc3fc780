"""Function tools."""

from __future__ import annotations

from conformance.plugin import Probe, cells
from conformance.probes import tools
from conformance.values import Protocol


def test_tools_offered(probe: Probe) -> None:
    probe(tools.offered)


def test_call_required(probe: Probe) -> None:
    probe(tools.required)


def test_rich_arguments(probe: Probe) -> None:
    probe(tools.rich_arguments)


@cells(protocols=(Protocol.CHAT,))
def test_call_named(probe: Probe) -> None:
    probe(tools.named)


def test_calls_forbidden(probe: Probe) -> None:
    probe(tools.forbidden)


def test_round_trip(probe: Probe) -> None:
    probe(tools.round_trip)


def test_parallel_calls(probe: Probe) -> None:
    probe(tools.parallel)


def test_calls_in_two_turns(probe: Probe) -> None:
    probe(tools.two_rounds)


@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_orphan_result(probe: Probe) -> None:
    probe(tools.orphan_result)


@cells(protocols=(Protocol.CHAT,))
def test_most_tools(probe: Probe) -> None:
    probe(tools.many)
