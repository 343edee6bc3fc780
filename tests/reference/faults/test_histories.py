"""What a history holds, on each surface."""

from __future__ import annotations

import pytest

from conformance.reference.faults import histories
from conformance.reference.hooks import Context
from conformance.values import Protocol

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CHAT = [
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": None, "reasoning_content": "b", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "d"},
]
MESSAGES = [
    {"role": "user", "content": "a"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "b", "signature": "s"},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {"type": "tool_use", "id": "c", "name": "f", "input": {}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "d"}]},
]
RESPONSES = [
    {"role": "user", "content": "a"},
    {"type": "reasoning", "summary": []},
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "d"},
]
TURNS = {Protocol.CHAT: CHAT, Protocol.MESSAGES: MESSAGES, Protocol.RESPONSES: RESPONSES}


def context(protocol, turns):
    name = "input" if protocol is Protocol.RESPONSES else "messages"
    return Context(protocol=protocol, method="POST", path="/", headers={}, body={name: turns})


@pytest.mark.parametrize("protocol", Protocol)
def test_calls_results_and_reasoning_are_found(protocol):
    found = context(protocol, TURNS[protocol])
    assert len(histories.results(found)) == 1
    assert len(list(histories.called(found))) == 1
    assert histories.reasoned(found)
    assert histories.searched(found) == (protocol is Protocol.MESSAGES)


@pytest.mark.parametrize("protocol", Protocol)
def test_only_results_at_the_end_count(protocol):
    found = context(protocol, [*TURNS[protocol], {"role": "user", "content": "e"}])
    assert histories.results(found) == []


@pytest.mark.parametrize("protocol", Protocol)
@pytest.mark.parametrize("turns", ["a", None, [], [{"role": "user", "content": "a"}], ["a"]])
def test_a_first_message_has_no_history(protocol, turns):
    found = context(protocol, turns)
    assert histories.said(found) == histories.results(found) == []
    assert not histories.reasoned(found)


def test_a_problem_is_added_unless_something_else_is_accepted():
    assert histories.unless([], True, "no") == []
    assert [problem.message for problem in histories.unless([], False, "no")] == ["no"]
