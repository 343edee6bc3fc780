"""Function calls, web search, and the conversations that follow them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from reference_asking import CHAT, K3, MESSAGES, PRO, RESPONSES, Asker, body_of, tool_of

from conformance.protocols import BUILDERS, MISSING, Answer, Finish
from conformance.values import Protocol

SURFACES = pytest.mark.parametrize("protocol", list(Protocol))
MODES = pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
LONG = {
    "type": "object",
    "properties": {"rows": {"type": "array", "minItems": 300, "items": CITY}},
    "required": ["rows"],
}
HOMEPAGE = "Use web search to find the official Kimi homepage URL."


def tools_of(protocol: Protocol) -> list[dict[str, Any]]:
    return [
        tool_of(protocol, "get_weather", CITY, "Get the weather for a specified city"),
        tool_of(protocol, "add", NUMBERS, "Add two integers"),
    ]


def called(answer: Answer) -> list[tuple[Any, Any]]:
    return [(call.name, call.value) for call in answer.client_calls]


ASKED = [
    ("Check today's weather in Beijing.", [("get_weather", {"city": "Beijing"})]),
    (
        "Call get_weather for Paris and for Rome.",
        [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})],
    ),
    ("Call get_weather for Paris, then add.", [("get_weather", {"city": "Paris"}), ("add", {"a": 1, "b": 1})]),
    ("Call add twice.", [("add", {"a": 1, "b": 1})] * 2),
    ("Please add these two integers.", [("add", {"a": 1, "b": 1})]),
    ("Reply with OK.", []),
    ("Do not call get_weather for Paris.", []),
    ("Repeat this exactly, with nothing before or after: get_weather", []),
]


@SURFACES
@MODES
@pytest.mark.parametrize(("user", "calls"), ASKED, ids=[user for user, _ in ASKED])
def test_words_decide_on_calls(server: Asker, protocol: Protocol, stream: bool, user: str, calls: list[Any]) -> None:
    answer = server.ask(protocol, user, tools=tools_of(protocol), stream=stream)
    assert called(answer) == calls
    assert (answer.ending is Finish.TOOL) == bool(calls)
    assert bool(answer.text) != bool(calls)
    ids = [call.id for call in answer.client_calls]
    assert len(set(ids)) == len(ids)


@SURFACES
def test_choices_are_followed(server: Asker, protocol: Protocol) -> None:
    def names(kind: str, user: str, name: str | None = None) -> list[Any]:
        choice = BUILDERS[protocol].choice(kind, name)
        return [call.name for call in server.ask(protocol, user, tools=tools_of(protocol), choice=choice).client_calls]

    assert names("none", "Call get_weather for Paris.") == []
    assert names("auto", "Hello.") == []
    assert names("required", "Hello.") == ["get_weather"]
    assert names("required", "Do not call anything, just add.") == ["get_weather"]
    if protocol is not MESSAGES:
        assert names("named", "Check the weather in Rome.", "add") == ["add"]


@pytest.mark.parametrize(
    ("protocol", "change"),
    [
        (CHAT, {"tool_choice": "required"}),
        (CHAT, {"tool_choice": {"type": "function", "function": {"name": "subtract"}}}),
        (MESSAGES, {"tool_choice": {"type": "any"}}),
        (RESPONSES, {"tool_choice": "required"}),
        (RESPONSES, {"tool_choice": {"type": "function", "name": "subtract"}}),
    ],
    ids=str,
)
def test_a_choice_that_nothing_satisfies_is_refused(server: Asker, protocol: Protocol, change: dict[str, Any]) -> None:
    assert server.ask(protocol, "Hello.", **change).status == 400


@SURFACES
def test_parallel_calls_can_be_switched_off(server: Asker, protocol: Protocol) -> None:
    off: dict[str, Any] = {"parallel_tool_calls": False}
    if protocol is MESSAGES:
        off = {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}
    answer = server.ask(protocol, "Call get_weather for Paris and for Rome.", tools=tools_of(protocol), **off)
    assert len(answer.client_calls) == 1


BAD_SCHEMAS = [{"type": "nonsense"}, {"type": "object", "required": "a"}, {"type": "string"}, {"$ref": "#/nowhere"}]


@SURFACES
@pytest.mark.parametrize("schema", BAD_SCHEMAS, ids=str)
def test_a_schema_without_an_instance_is_refused(server: Asker, protocol: Protocol, schema: dict[str, Any]) -> None:
    choice = BUILDERS[protocol].choice("required")
    answer = server.ask(protocol, "Hello.", tools=[tool_of(protocol, "f", schema)], choice=choice)
    assert answer.status == 400


@SURFACES
def test_the_type_object_is_understood(server: Asker, protocol: Protocol) -> None:
    choice = BUILDERS[protocol].choice("required")
    for schema in ({}, {"properties": {"a": {"type": "null"}}, "required": ["a"]}):
        answer = server.ask(protocol, "Hello.", tools=[tool_of(protocol, "f", schema)], choice=choice)
        jsonschema.validate(answer.client_calls[0].value, {**schema, "type": "object"})


@SURFACES
@MODES
def test_results_are_used_and_the_conversation_goes_on(server: Asker, protocol: Protocol, stream: bool) -> None:
    build = BUILDERS[protocol]
    body = body_of(protocol, "Call get_weather for Paris and for Rome.", tools=tools_of(protocol), stream=stream)
    first = server.exchange(protocol, body)
    results = {call.id: f"{number} degrees" for number, call in enumerate(first.client_calls, start=17)}
    body = build.continue_with(body, first.body, results)
    second = server.exchange(protocol, body)
    assert not second.client_calls
    assert "17 degrees" in second.text
    assert "18 degrees" in second.text
    body = build.continue_with(body, second.body, "Call get_weather for Oslo.")
    third = server.exchange(protocol, body)
    assert called(third) == [("get_weather", {"city": "Oslo"})]
    assert {call.id for call in third.client_calls}.isdisjoint(results)
    body = build.continue_with(body, third.body, "Reply with exactly: never mind")
    assert server.exchange(protocol, body).text == "never mind"


@SURFACES
def test_a_required_call_stays_required_after_results(server: Asker, protocol: Protocol) -> None:
    build = BUILDERS[protocol]
    body = body_of(protocol, "Hello.", tools=tools_of(protocol), choice=build.choice("required"))
    first = server.exchange(protocol, body)
    body = build.continue_with(body, first.body, {first.client_calls[0].id: "rain"})
    assert server.exchange(protocol, body).client_calls


@SURFACES
def test_a_result_without_its_call_is_refused(server: Asker, protocol: Protocol) -> None:
    body = body_of(protocol, "Hello.", tools=tools_of(protocol), choice=BUILDERS[protocol].choice("required"))
    first = server.exchange(protocol, body)
    altered = BUILDERS[protocol].continue_with(body, first.body, {"call_of_nobody": "rain"})
    assert server.exchange(protocol, altered).status == 400


@SURFACES
@MODES
@pytest.mark.parametrize("limit", [110, 200, 600])
def test_a_call_is_cut_off_at_the_limit(server: Asker, protocol: Protocol, stream: bool, limit: int) -> None:
    choice = BUILDERS[protocol].choice("required")
    tools = [tool_of(protocol, "list", LONG)]
    answer = server.ask(protocol, "Hello.", tools=tools, choice=choice, limit=limit, stream=stream)
    assert answer.ending is Finish.LENGTH
    assert answer.usage_raw["completion_tokens" if protocol is CHAT else "output_tokens"] == limit
    call = answer.client_calls[0]
    if protocol is not MESSAGES:
        assert call.value is MISSING
    history = BUILDERS[protocol].continue_with(body_of(protocol, "Hello."), answer.body, "Reply with OK.")
    assert server.exchange(protocol, history).ok


@MODES
@pytest.mark.parametrize("model", [PRO, K3])
def test_chat_asks_for_a_search_and_answers_after_the_echo(server: Asker, stream: bool, model: str) -> None:
    body = body_of(CHAT, HOMEPAGE, tools=[{"type": "web_search"}], model=model, stream=stream)
    first = server.exchange(CHAT, body)
    call = first.client_calls[0]
    assert (call.type, call.name, first.ending) == ("builtin_function", "$web_search", Finish.TOOL)
    assert json.loads(str(call.arguments)) == {"query": "the official Kimi homepage URL"}
    second = server.exchange(CHAT, BUILDERS[CHAT].continue_with(body, first.body, {call.id: call.arguments}))
    assert not second.client_calls
    assert "https://www.kimi.com/" in second.text


@MODES
@pytest.mark.parametrize("model", [PRO, K3])
def test_messages_searches_on_the_server(server: Asker, stream: bool, model: str) -> None:
    body = body_of(MESSAGES, HOMEPAGE, tools=[BUILDERS[MESSAGES].search(1)], model=model, stream=stream)
    answer = server.exchange(MESSAGES, body)
    kinds = [block["type"] for block in answer.body["content"]]
    assert kinds == ["thinking", "server_tool_use", "web_search_tool_result", "text"]
    assert answer.ending is Finish.STOP
    assert answer.results[0].use_id == answer.calls[0].id
    assert answer.usage_raw["server_tool_use"] == {"web_search_requests": 1}
    history = BUILDERS[MESSAGES].continue_with(body, answer.body, "Reply with OK.")
    assert server.exchange(MESSAGES, history).text == "OK"


@pytest.mark.parametrize(("most", "number"), [(1, 1), (2, 2), (None, 3)])
def test_messages_keeps_to_max_uses(server: Asker, most: int | None, number: int) -> None:
    user = "Use web search three times: for the capitals of Chad, of Peru and of Nepal."
    answer = server.ask(MESSAGES, user, tools=[BUILDERS[MESSAGES].search(most)])
    assert len(answer.results) == answer.usage_raw["server_tool_use"]["web_search_requests"] == number


@pytest.mark.parametrize("protocol", [CHAT, MESSAGES])
def test_search_is_made_only_when_wanted(server: Asker, protocol: Protocol) -> None:
    build = BUILDERS[protocol]
    tools = [build.search()]
    assert not server.ask(protocol, "Reply with OK.", tools=tools).calls
    assert not server.ask(protocol, "Do not use web search. Why?", tools=tools).calls
    assert not server.ask(protocol, HOMEPAGE, tools=tools, choice=build.choice("none")).calls
    assert not server.ask(protocol, HOMEPAGE).calls
    assert server.ask(protocol, "Hello.", tools=tools, choice=build.choice("required")).calls[0].search


def test_a_search_that_does_not_fit_the_limit_is_not_made(server: Asker) -> None:
    answer = server.ask(MESSAGES, HOMEPAGE, tools=[BUILDERS[MESSAGES].search()], limit=108)
    assert answer.ending is Finish.LENGTH
    assert not answer.calls
    assert answer.usage_raw["output_tokens"] == 108


def test_calls_without_results_in_the_history_are_accepted(server: Asker) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}
    messages = [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "Reply with OK."},
    ]
    assert server.ask(CHAT, messages=messages).text == "OK"
