"""Faults reach the same thing in JSON and in streams, and leave an answer standing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.models import K31
from conformance.reference.application import Server
from conformance.reference.faults import FAULTS, Fault
from conformance.reference.faults.places import PLACES
from conformance.reference.faults.stages import hooks_of
from conformance.reference.hooks import Context, Hooks
from conformance.reference.settings import DEFAULT_KEY, Settings
from conformance.values import Protocol

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES
PATHS = {CHAT: "/v1/chat/completions", MESSAGES: "/v1/messages", RESPONSES: "/v1/responses"}
FAMILIES = {"body", "finish", "usage", "reasoning", "cache"}
PROMPTS = ("Reply with OK.", "Fail in the middle of the stream.", "End with the status failed.")
BREAKING = [fault for fault in FAULTS.values() if fault.caught_by[0].split(".")[0] in FAMILIES]


def asked(hooks: Hooks, protocol: Protocol, user: str, *, stream: bool, model: str = K31[0]) -> tuple[int, bytes]:
    name, limit = ("input", "max_output_tokens") if protocol is RESPONSES else ("messages", "max_tokens")
    words: object = user if protocol is RESPONSES else [{"role": "user", "content": user}]
    raw = json.dumps({"model": model, name: words, limit: 512, "stream": stream}).encode()
    headers = [("Content-Type", "application/json"), ("Authorization", f"Bearer {DEFAULT_KEY}")]
    head, wire = Server(Settings(), hooks).respond("POST", PATHS[protocol], headers, raw)
    return head.status, b"".join(part for part in wire if isinstance(part, bytes))


def visited(stage: str, protocol: Protocol, *, stream: bool) -> list[Any]:
    """What a fault on the stage gets to see of one short answer."""
    seen: list[Any] = []

    def note(_: Context, value: Any) -> Any:
        seen.append(value)
        return value

    status, _ = asked(hooks_of(stage, note, lambda _: True), protocol, "Reply with OK.", stream=stream)
    assert status == 200
    return seen


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("protocol", "named"),
    [
        (CHAT, {"id", "object", "created", "model", "choices"}),
        (MESSAGES, {"id", "role"}),
        (RESPONSES, {"id", "output"}),
    ],
)
def test_identity_is_what_carries_the_id(protocol: Protocol, named: set[str], *, stream: bool) -> None:
    seen = visited("identity", protocol, stream=stream)
    assert seen
    assert all(named <= value.keys() for value in seen)
    assert len({value["id"] for value in seen}) == 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("protocol", "name", "reason"),
    [(CHAT, "finish_reason", "stop"), (MESSAGES, "stop_reason", "end_turn"), (RESPONSES, "status", "completed")],
)
def test_ending_is_met_once(protocol: Protocol, name: str, reason: str, *, stream: bool) -> None:
    assert [value[name] for value in visited("ending", protocol, stream=stream)] == [reason]


@pytest.mark.parametrize("stream", [False, True])
def test_message_holds_role_reasoning_and_text(*, stream: bool) -> None:
    seen = visited("message", CHAT, stream=stream)
    assert [value["role"] for value in seen if "role" in value] == ["assistant"]
    assert "".join(value.get("content") or "" for value in seen) == "OK"
    assert any(value.get("reasoning_content") for value in seen)


@pytest.mark.parametrize("stream", [False, True])
def test_block_is_met_once_each(*, stream: bool) -> None:
    assert [value["type"] for value in visited("block", MESSAGES, stream=stream)] == ["thinking", "text"]


def test_item_is_met_wherever_it_is_carried() -> None:
    assert [value["type"] for value in visited("item", RESPONSES, stream=False)] == ["reasoning", "message"]
    streamed = [value["type"] for value in visited("item", RESPONSES, stream=True)]
    assert streamed == ["reasoning", "reasoning", "message", "message", "reasoning", "message"]


@pytest.mark.parametrize("stage", sorted(PLACES))
@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("prompt", PROMPTS[1:])
def test_places_are_found_in_streams_that_fail(stage: str, protocol: Protocol, prompt: str) -> None:
    hooks = hooks_of(stage, lambda _, value: value, lambda _: True)
    assert asked(hooks, protocol, prompt, stream=True)[0] == 200


@pytest.mark.parametrize("fault", BREAKING, ids=lambda fault: fault.id)
def test_fault_breaks_the_answer_and_not_the_server(fault: Fault) -> None:
    for protocol, mode in fault.combinations:
        hooks = fault.hooks(protocols=(protocol,), modes=(mode,))
        for prompt in PROMPTS:
            assert asked(hooks, protocol, prompt, stream=mode == "stream", model=fault.models[0])[0] == 200


@pytest.mark.parametrize("fault", BREAKING, ids=lambda fault: fault.id)
def test_fault_says_what_is_wrong(fault: Fault) -> None:
    assert fault.sentence.endswith(".")
    assert len(fault.sentence) > 15
