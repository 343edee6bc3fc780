"""Answers and stream events against their schemas."""

import copy

import pytest

from conformance import specs
from conformance.models import ALL
from conformance.values import Protocol

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES


def answer(protocol, *path, value):
    whole = copy.deepcopy(specs.example_answer(protocol))
    node = whole
    for token in path[:-1]:
        node = node[token]
    node[path[-1]] = value
    return whole


CUT_OFF = {"reason": "max_output_tokens"}
CALL = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"}
CHOICE = ("choices", 0)

VALID = [
    (CHAT, ("usage", "prompt_tokens_details"), {}),
    (CHAT, (*CHOICE, "message", "content"), None),
    (CHAT, (*CHOICE, "finish_reason"), "length"),
    (CHAT, ("service_tier",), None),
    (MESSAGES, ("stop_sequence",), None),
    (MESSAGES, ("stop_reason",), None),
    (
        MESSAGES,
        ("content",),
        [{"type": "thinking", "thinking": ""}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}],
    ),
    (MESSAGES, ("content",), [{"type": "web_search_tool_result", "tool_use_id": "s", "content": {"type": "error"}}]),
    (RESPONSES, ("incomplete_details",), None),
    (RESPONSES, ("error",), None),
    (RESPONSES, ("output",), []),
    (RESPONSES, ("output",), [CALL, {"type": "web_search_call", "id": "ws"}, {"type": "reasoning", "summary": []}]),
    (RESPONSES, ("output", 0, "content", 0, "annotations"), []),
    (RESPONSES, ("output", 0, "content", 0), {"type": "refusal", "refusal": "no"}),
]

BROKEN = [
    (CHAT, ("id",), 5, "/properties/id/type", "/id"),
    (CHAT, ("created",), 1.5, "/properties/created/type", "/created"),
    (CHAT, ("choices",), {}, "/properties/choices/type", "/choices"),
    (CHAT, (*CHOICE, "finish_reason"), "stop_sequence", None, "/choices/0/finish_reason"),
    (CHAT, (*CHOICE, "message", "tool_calls"), None, "/$defs/ChatMessage/properties/tool_calls/type", None),
    (CHAT, (*CHOICE, "message"), {}, "/$defs/ChatMessage/required", "/choices/0/message"),
    (CHAT, ("usage", "total_tokens"), "12", "/$defs/ChatUsage/properties/total_tokens/type", "/usage/total_tokens"),
    (MESSAGES, ("type",), "completion", "/properties/type/enum", "/type"),
    (MESSAGES, ("stop_reason",), "stop_sequence", "/properties/stop_reason/enum", "/stop_reason"),
    (MESSAGES, ("content",), "OK", "/properties/content/type", "/content"),
    (MESSAGES, ("content", 0), {"type": "redacted"}, "/$defs/ContentBlock/oneOf", "/content/0"),
    (MESSAGES, ("content", 0), {"type": "text"}, "/$defs/TextBlock/required", "/content/0"),
    (MESSAGES, ("content", 0), {"type": "tool_use", "id": "t", "name": "f", "input": "{}"}, None, "/content/0/input"),
    (MESSAGES, ("usage", "cache_creation", "ephemeral_5m_input_tokens"), -1, None, None),
    (RESPONSES, ("object",), "chat.completion", "/properties/object/enum", "/object"),
    (RESPONSES, ("status",), "in_progress", "/properties/status/enum", "/status"),
    (RESPONSES, ("created_at",), "1792832171", "/properties/created_at/type", "/created_at"),
    (RESPONSES, ("output", 0, "role"), "user", "/$defs/MessageItem/properties/role/enum", "/output/0/role"),
    (RESPONSES, ("output", 0, "content", 0, "text"), None, None, "/output/0/content/0/text"),
    (RESPONSES, ("output", 0), {}, "/$defs/OtherItem/required", "/output/0"),
]


@pytest.mark.parametrize(("surface", "path", "value"), VALID)
def test_a_documented_variant_is_valid(surface, path, value):
    body = answer(surface, *path, value=value)
    assert all(specs.body_breaches(surface, model, body, required=True) == () for model in ALL)


@pytest.mark.parametrize(("surface", "path", "value", "constraint", "place"), BROKEN)
def test_a_broken_answer_is_named(surface, path, value, constraint, place):
    (breach,) = specs.body_breaches(surface, ALL[0], answer(surface, *path, value=value))
    assert breach.constraint == (constraint or breach.constraint)
    assert breach.path == (place or "".join(f"/{part}" for part in path))
    assert not breach.open


def test_an_empty_answer_is_valid_until_fields_are_required(protocol, model):
    assert specs.body_breaches(protocol, model, {}) == ()
    missing = specs.body_breaches(protocol, model, {}, required=True)
    assert {breach.rule for breach in missing} == {"body.required-fields"}
    assert [breach.value for breach in missing] == specs.response_schema(protocol, model, required=True)["required"]


def test_a_missing_stop_sequence_is_no_breach():
    body = specs.example_answer(MESSAGES)
    del body["stop_sequence"]
    assert specs.body_breaches(MESSAGES, ALL[0], body, required=True) == ()


def test_what_only_the_format_says_is_marked():
    body = answer(RESPONSES, "output", value=[CALL | {"arguments": {}}])
    (breach,) = specs.body_breaches(RESPONSES, ALL[0], body)
    assert breach.inferred
    assert breach.path == "/output/0/arguments"


EVENTS = [
    (CHAT, None, {"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}, "finish_reason": None}]}),
    (CHAT, None, {"choices": [], "usage": {"prompt_tokens": 1}}),
    (CHAT, "", {"error": {"message": "x", "type": "server_error", "code": None}}),
    (CHAT, None, {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ""}}]}}]}),
    (MESSAGES, "message_start", {"type": "message_start", "message": {"content": [], "stop_reason": None}}),
    (MESSAGES, "ping", {"type": "ping"}),
    (
        *(MESSAGES, "content_block_start"),
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ),
    (
        *(MESSAGES, "content_block_delta"),
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ""}},
    ),
    (
        *(MESSAGES, "content_block_delta"),
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {}}},
    ),
    (MESSAGES, "message_delta", {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}),
    (MESSAGES, "message_stop", {"type": "message_stop"}),
    (MESSAGES, "error", {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}),
    (MESSAGES, "some_new_event", {"type": "some_new_event"}),
    (RESPONSES, "response.created", {"type": "response.created", "response": {"status": "in_progress", "usage": None}}),
    (RESPONSES, "response.queued", {"type": "response.queued", "response": {"status": "queued"}}),
    (
        *(RESPONSES, "response.output_text.delta"),
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "x", "logprobs": []},
    ),
    (RESPONSES, None, {"type": "anything"}),
]

BROKEN_EVENTS = [
    (CHAT, None, {}, "required", ""),
    (CHAT, None, {"choices": None}, "type", "/choices"),
    (CHAT, None, {"choices": [{"index": 0}]}, "required", "/choices/0"),
    (CHAT, None, {"choices": [{"index": "0", "delta": {}}]}, "type", "/choices/0/index"),
    (CHAT, None, {"choices": [{"index": 0, "delta": {"role": "user"}}]}, "enum", "/choices/0/delta/role"),
    (CHAT, None, {"error": "boom"}, "type", "/error"),
    (MESSAGES, "message_start", {"type": "message_start"}, "required", ""),
    (MESSAGES, "ping", {"type": "pong"}, "enum", "/type"),
    (
        *(MESSAGES, "content_block_delta"),
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}},
        *("required", "/delta"),
    ),
    (
        *(MESSAGES, "content_block_start"),
        {"type": "content_block_start", "index": -1, "content_block": {"type": "text", "text": ""}},
        *("minimum", "/index"),
    ),
    (
        *(MESSAGES, "message_delta"),
        {"type": "message_delta", "delta": {"stop_reason": "stop_sequence"}},
        *("enum", "/delta/stop_reason"),
    ),
    (RESPONSES, "response.created", {"type": "response.created"}, "required", ""),
    (
        *(RESPONSES, "response.completed"),
        {"type": "response.completed", "response": {"status": "in_progress"}},
        *("enum", "/response/status"),
    ),
    (
        *(RESPONSES, "response.output_text.delta"),
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": None},
        *("type", "/delta"),
    ),
]


@pytest.mark.parametrize(("surface", "name", "data"), EVENTS)
def test_an_event_of_the_format_is_valid(surface, name, data):
    assert specs.event_breaches(surface, name, data) == ()


@pytest.mark.parametrize(("surface", "name", "data", "keyword", "path"), BROKEN_EVENTS)
def test_a_broken_event_is_named(surface, name, data, keyword, path):
    (breach,) = specs.event_breaches(surface, name, data)
    assert (breach.keyword, breach.path) == (keyword, path)
    assert breach.inferred


@pytest.mark.parametrize("data", [None, 5, "x", [], "[DONE]"])
def test_data_that_is_no_object_breaks_the_type(protocol, data):
    name = {CHAT: None, MESSAGES: "ping", RESPONSES: "error"}[protocol]
    assert [breach.keyword for breach in specs.event_breaches(protocol, name, data)] == ["type"]


def test_every_documented_event_name_has_a_schema():
    assert {"message_start", "content_block_start", "content_block_delta", "content_block_stop"} | {
        *("message_delta", "message_stop", "ping", "error")
    } == set(specs.event_schemas(MESSAGES))
    assert {"response.created", "response.completed", "response.incomplete", "response.failed"} <= set(
        specs.event_schemas(RESPONSES)
    )
    assert set(specs.event_schemas(CHAT)) == {"chat.completion.chunk", "error"}


@pytest.mark.parametrize("surface", [MESSAGES, RESPONSES])
def test_an_event_schema_is_for_the_name_it_stands_under(surface):
    for name, schema in specs.event_schemas(surface).items():
        assert name in schema["properties"]["type"]["enum"]
