"""The conversation machine: every kind of step is taken, histories hold together, and the line is obeyed."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from rare_faults import K31, benches, refuse

from conformance.fuzzing import Order, fuzz
from conformance.fuzzing.hunt import CONVERSATION
from conformance.generators.failure import sent
from conformance.generators.machine import machine
from conformance.generators.shrinking import FoundError, run_machine
from conformance.probes.cell import encode
from conformance.protocols import Answer, ask, read
from conformance.reference import Hooks
from conformance.rules.past_turns import orphans
from conformance.values import Protocol, Request


class Recorder:
    """A line in front of the reference server that keeps what is said through it, and judges nothing."""

    def __init__(self, protocol: Protocol, hooks: Hooks | None = None, most: int | None = None) -> None:
        (self.bench,) = benches(hooks, [(protocol, K31)])
        self.bodies: list[dict[str, Any]] = []
        self.steps: list[tuple[bool, bool]] = []
        self.most = most

    def send(self, body: dict[str, Any], *, goes_on: bool, keep: bool) -> Answer | None:
        if self.most is not None and len(self.bodies) >= self.most:
            return None
        self.bodies.append(body)
        self.steps.append((goes_on, keep))
        exchanges = self.bench.exchanges((sent(encode(body)),))
        assert exchanges is not None
        return read(exchanges[-1])


def talked(protocol: Protocol, runs: int = 60, **options: Any) -> Recorder:
    recorder = Recorder(protocol, **options)
    assert run_machine(machine(protocol, K31, lambda: recorder), examples=runs, seed=6) is None
    return recorder


@functools.cache
def long_talk(protocol: Protocol) -> Recorder:
    return talked(protocol)


@pytest.mark.parametrize("protocol", Protocol)
def test_conversations_hold_together(protocol):
    recorder = long_talk(protocol)
    assert {(False, True), (True, True), (False, False)} <= set(recorder.steps)
    for body in recorder.bodies:
        asked = ask(protocol, Request(method="POST", url="http://x/v1", body=encode(body)))
        assert asked.breaches == ()
        if protocol is not Protocol.RESPONSES:
            assert orphans(asked) == []


@pytest.mark.parametrize(
    ("protocol", "marks"),
    [
        (Protocol.CHAT, ('"role": "tool"', '"$web_search"', '"stream": true', '"reasoning_effort"', '"tool_choice"')),
        (Protocol.MESSAGES, ('"tool_result"', '"web_search_tool_result"', '"stream": true', '"output_config"')),
        (Protocol.RESPONSES, ('"function_call_output"', '"stream": true', '"reasoning"', '"tool_choice"')),
    ],
)
def test_every_step_is_taken(protocol, marks):
    said = json.dumps(long_talk(protocol).bodies)
    assert [mark for mark in marks if mark not in said] == []


def test_nothing_is_sent_once_the_line_has_had_enough():
    assert len(talked(Protocol.CHAT, most=5).bodies) == 5


def test_a_refused_conversation_is_not_continued():
    hooks = Hooks(problems=lambda _context, found: refuse(found, "messages"))
    recorder = talked(Protocol.CHAT, runs=20, hooks=hooks)
    assert not any(goes_on for goes_on, _ in recorder.steps)


def test_a_machine_shrinks_to_its_shortest_conversation():
    class Strict(Recorder):
        def send(self, body: dict[str, Any], *, goes_on: bool, keep: bool) -> Answer | None:
            if body.get("stream") and goes_on:
                raise FoundError("streams", body)
            return super().send(body, goes_on=goes_on, keep=keep)

    line = Strict(Protocol.CHAT)
    error = run_machine(machine(Protocol.CHAT, K31, lambda: line), examples=60, seed=1)
    assert error is not None
    assert error.rule == "streams"
    assert [turn["role"] for turn in error.evidence["messages"][:2]] == ["user", "assistant"]
    assert len(error.evidence["messages"]) == 3


def test_a_fault_of_a_continued_conversation_is_found():
    def forgets(context: Any, body: dict[str, Any]) -> dict[str, Any]:
        turns = (context.body or {}).get("messages", ())
        return {**body, "id": "chatcmpl-same"} if len(turns) >= 3 else body

    order = Order(examples=80, seed=2, kinds=(CONVERSATION,), shrink_calls=40, most_failures=1)
    done = fuzz(benches(Hooks(body=forgets), [(Protocol.CHAT, K31)]), order)
    assert [failure.rule for failure in done.failures] == ["body.id-unique"]
    assert len(done.failures[0].requests) == 2
