from __future__ import annotations

import copy
from types import ModuleType
from typing import Any

import pytest
from view_wire import BODIES, CHAT, EVENTS, MESSAGES, RESPONSES, answer, streamed

from conformance.models import MODELS
from conformance.protocols import BUILDERS, NoAnswerError, ask, surface
from conformance.values import Protocol, Request

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@pytest.mark.parametrize("protocol", list(Protocol))
def test_the_path_belongs_to_its_surface(protocol: Protocol) -> None:
    assert surface("POST", f"http://127.0.0.1:1{BUILDERS[protocol].path}") is protocol


def test_a_small_body_is_the_documented_example() -> None:
    assert BUILDERS[CHAT].body("kimi-k3", user="Reply with OK.", limit=1024, effort="low", stream=True) == {
        "model": "kimi-k3",
        "messages": [{"role": "user", "content": "Reply with OK."}],
        "max_completion_tokens": 1024,
        "reasoning_effort": "low",
        "stream": True,
    }
    assert BUILDERS[MESSAGES].body("kimi-k3", user="Reply with OK.", effort="low") == {
        "model": "kimi-k3",
        "max_tokens": 1024,
        "messages": [{"role": "user", "content": "Reply with OK."}],
        "output_config": {"effort": "low"},
    }
    assert BUILDERS[RESPONSES].body("kimi-k3", user="Reply with OK.") == {
        "model": "kimi-k3",
        "input": "Reply with OK.",
    }


def full(builder: ModuleType, **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = builder.body(
        "kimi-k3.1-pro",
        user="Weather in Beijing?",
        system="Be short.",
        limit=500,
        stream=False,
        effort="max",
        tools=[builder.tool("weather", SCHEMA, "Get the weather.")],
        choice=builder.choice("auto"),
        **more,
    )
    return body


@pytest.mark.parametrize("protocol", list(Protocol))
def test_what_is_built_reads_back(protocol: Protocol) -> None:
    import json

    body = full(BUILDERS[protocol], metadata={"a": 1})
    view = ask(protocol, Request(method="POST", url="/", body=json.dumps(body).encode()))
    assert (view.model, view.limit, view.effort, view.stream, view.choice) == (
        "kimi-k3.1-pro",
        500,
        "max",
        False,
        "auto",
    )
    assert view.last_user == "Weather in Beijing?"
    assert "Be short." in view.prompt
    assert [(tool.name, tool.schema) for tool in view.tools] == [("weather", SCHEMA)]
    assert view.body["metadata"] == {"a": 1}


@pytest.mark.parametrize("protocol", [CHAT, MESSAGES])
@pytest.mark.parametrize("model", MODELS)
def test_what_is_built_keeps_the_request_schema(protocol: Protocol, model: str) -> None:
    import json

    builder = BUILDERS[protocol]
    body = {**full(builder), "model": model}
    view = ask(protocol, Request(method="POST", url="/", body=json.dumps(body).encode()))
    assert view.breaches == ()


def test_an_effort_joins_the_rest_of_its_object() -> None:
    form = {"type": "json_schema", "schema": SCHEMA}
    body = BUILDERS[MESSAGES].body("kimi-k3", user="a", effort="low", output_config={"format": form})
    assert body["output_config"] == {"effort": "low", "format": form}
    body = BUILDERS[RESPONSES].body("kimi-k3", user="a", effort="low", reasoning={"summary": "auto"})
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}


@pytest.mark.parametrize("name", [name for name in BODIES if "calls" in name])
@pytest.mark.parametrize("mode", ["json", "stream"])
def test_a_conversation_goes_on_with_the_answer_unchanged(name: str, mode: str) -> None:
    protocol, body = BODIES[name]
    builder = BUILDERS[protocol]
    view = answer(protocol, body) if mode == "json" else streamed(protocol, EVENTS[protocol](body))
    assert view.body is not None
    request = full(builder)
    before = copy.deepcopy((request, view.body))
    ids = [str(call.id) for call in view.client_calls]
    following = builder.continue_with(request, view.body, dict.fromkeys(ids, "Sunny."))
    assert (request, view.body) == before
    turns = following["input" if protocol is RESPONSES else "messages"]
    if protocol is CHAT:
        assert turns[2] == body["choices"][0]["message"]
        assert turns[3:] == [{"role": "tool", "tool_call_id": call, "content": "Sunny."} for call in ids]
    elif protocol is MESSAGES:
        assert turns[1] == {"role": "assistant", "content": body["content"]}
        results = [{"type": "tool_result", "tool_use_id": call, "content": "Sunny."} for call in ids]
        assert turns[2:] == [{"role": "user", "content": results}]
    else:
        assert turns[0] == {"role": "user", "content": "Weather in Beijing?"}
        assert turns[1:3] == body["output"]
        assert turns[3:] == [{"type": "function_call_output", "call_id": call, "output": "Sunny."} for call in ids]
    assert following["model"] == request["model"]


@pytest.mark.parametrize("name", ["chat text", "messages text", "responses text"])
def test_a_conversation_goes_on_with_text_or_turns_of_its_own(name: str) -> None:
    protocol, body = BODIES[name]
    builder = BUILDERS[protocol]
    key = "input" if protocol is RESPONSES else "messages"
    turn = {"role": "user", "content": "And then?"}
    by_text = builder.continue_with(builder.body("kimi-k3", user="a"), body, "And then?")
    by_turn = builder.continue_with(builder.body("kimi-k3", user="a"), body, [turn])
    assert by_text == by_turn
    assert by_text[key][-1] == turn
    again = builder.continue_with(by_text, body, "More.")
    assert again[key][: len(by_text[key])] == by_text[key]


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("body", [{}, {"choices": [], "content": "a", "output": {}}, {"choices": [{"message": None}]}])
def test_nothing_to_go_on_from_is_refused(protocol: Protocol, body: dict[str, Any]) -> None:
    with pytest.raises(NoAnswerError):
        BUILDERS[protocol].continue_with({"messages": []}, body, "a")
