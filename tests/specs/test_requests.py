"""What each surface and model refuses: one broken constraint a row, named where it is."""

import pytest

from conformance import specs
from conformance.models import ALL, K3, K31
from conformance.values import Protocol

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES
BASE = {
    CHAT: {"messages": [{"role": "user", "content": "Hi"}]},
    MESSAGES: {"max_tokens": 16, "messages": [{"role": "user", "content": "Hi"}]},
    RESPONSES: {"input": "Hi"},
}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {}}}
HIDDEN = object()


def user(content):
    return {"messages": [{"role": "user", "content": content}]}


def call(**changes):
    made = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}, **changes}
    return {"messages": [{"role": "assistant", "content": None, "tool_calls": [made]}]}


def body(protocol, model, changes):
    whole = {"model": model, **BASE[protocol], **changes}
    return {name: value for name, value in whole.items() if value is not HIDDEN}


def found(protocol, model, changes):
    return specs.breaches(protocol, model, body(protocol, model, changes))


ACCEPTED = [
    (CHAT, ALL, {}),
    (CHAT, ALL, {"max_completion_tokens": 1, "max_tokens": 1048576}),
    (CHAT, ALL, {"max_completion_tokens": 16.0}),
    (CHAT, ALL, {"reasoning_effort": "max", "stream": True, "unknown": {"a": [1]}}),
    (CHAT, K31, {"reasoning_effort": "none", "temperature": 2, "top_p": 0.1}),
    (CHAT, K31, {"prompt_cache_options": {"mode": "implicit", "ttl": "1h"}}),
    (CHAT, ALL, {"temperature": 1, "top_p": 0.95}),
    (CHAT, ALL, {"temperature": 1.0}),
    (CHAT, ALL, {"tools": [FUNCTION] * 127 + [{"type": "web_search"}], "tool_choice": "required"}),
    (CHAT, ALL, {"tools": [FUNCTION], "tool_choice": {"type": "function", "function": {"name": "f"}}}),
    (CHAT, ALL, {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}}}),
    (CHAT, ALL, call()),
    (CHAT, ALL, call(type="builtin_function")),
    (CHAT, ALL, {"messages": [{"role": "user"}]}),
    (CHAT, ALL, user([{"type": "image_url", "image_url": "data:,"}, {"type": "video_url", "video_url": {"url": ""}}])),
    (MESSAGES, ALL, {"system": [{"type": "text", "text": "x"}], "max_tokens": 1048576}),
    (
        MESSAGES,
        ALL,
        {"tools": [SEARCH | {"max_uses": 1}, {"name": "f", "input_schema": {}}], "tool_choice": {"type": "any"}},
    ),
    (MESSAGES, ALL, {"tools": [SEARCH | {"input_schema": {}}]}),  # fits both forms: no fault of the sender
    (MESSAGES, K31, {"stop_sequences": ["a" * 32, "你" * 10 + "ab", "b", "c", "d"]}),
    (MESSAGES, K31, {"cache_control": {"type": "ephemeral", "ttl": "5m"}, "temperature": 0}),
    (MESSAGES, K31, {"output_config": {"effort": "xhigh", "format": {"type": "json_schema", "schema": {}}}}),
    (MESSAGES, ALL, {"stop_sequences": [], "temperature": 1, "top_p": 0.95, "output_config": {"effort": "max"}}),
    (MESSAGES, ALL, user([])),
    (MESSAGES, ALL, user([{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": ""}]}])),
    (RESPONSES, ALL, {"max_output_tokens": 1048576, "reasoning": {"effort": "whatever"}, "stream": False}),
    (RESPONSES, ALL, {"input": []}),
    (RESPONSES, ALL, {"input": [{"role": "user", "content": "Hi"}, {"type": "reasoning", "summary": []}]}),
    (RESPONSES, ALL, {"tools": [{"type": "function", "name": "f"}, {"type": "other"}], "tool_choice": {"type": "x"}}),
    (RESPONSES, ALL, {"text": {"format": {"type": "json_schema", "name": "n", "schema": {}}}, "reasoning": {}}),
]

REFUSED = [
    (CHAT, ALL, {"messages": HIDDEN}, "/required", ""),
    (CHAT, ALL, {"messages": []}, "/properties/messages/minItems", "/messages"),
    (CHAT, ALL, {"messages": "Hi"}, "/properties/messages/type", "/messages"),
    (CHAT, ALL, {"messages": [5]}, "/$defs/ChatMessage/type", "/messages/0"),
    (CHAT, ALL, {"messages": [{"content": "Hi"}]}, "/$defs/ChatMessage/required", "/messages/0"),
    (CHAT, ALL, {"messages": [{"role": "bot"}]}, "/$defs/ChatMessage/properties/role/enum", "/messages/0/role"),
    (CHAT, ALL, user(7), "/$defs/ChatMessage/properties/content/oneOf", "/messages/0/content"),
    (CHAT, ALL, user([{"type": "audio"}]), "/$defs/ContentPart/oneOf", "/messages/0/content/0"),
    (CHAT, ALL, user([{"text": "x"}]), "/$defs/ContentPart/oneOf", "/messages/0/content/0"),
    (CHAT, ALL, user([{"type": "text"}]), "/$defs/ContentPart/oneOf/0/required", "/messages/0/content/0"),
    (
        *(CHAT, ALL, user([{"type": "image_url", "image_url": {}}])),
        *("/$defs/ContentPart/oneOf/1/properties/image_url/oneOf/1/required", "/messages/0/content/0/image_url"),
    ),
    (CHAT, ALL, call(id=5), "/$defs/ToolCall/properties/id/type", "/messages/0/tool_calls/0/id"),
    (CHAT, ALL, call(type="tool"), "/$defs/ToolCall/properties/type/enum", "/messages/0/tool_calls/0/type"),
    (CHAT, ALL, {"max_completion_tokens": 0}, "/properties/max_completion_tokens/minimum", "/max_completion_tokens"),
    (CHAT, ALL, {"max_tokens": 1048577}, "/properties/max_tokens/maximum", "/max_tokens"),
    (CHAT, ALL, {"max_tokens": 1.5}, "/properties/max_tokens/type", "/max_tokens"),
    (CHAT, ALL, {"max_tokens": True}, "/properties/max_tokens/type", "/max_tokens"),
    (CHAT, ALL, {"max_tokens": "16"}, "/properties/max_tokens/type", "/max_tokens"),
    (CHAT, K31, {"reasoning_effort": "ultra"}, "/properties/reasoning_effort/enum", "/reasoning_effort"),
    (CHAT, ALL, {"reasoning_effort": 1}, "/properties/reasoning_effort/type", "/reasoning_effort"),
    (CHAT, ALL, {"stream": "true"}, "/properties/stream/type", "/stream"),
    (CHAT, ALL, {"stream": 1}, "/properties/stream/type", "/stream"),
    (CHAT, ALL, {"tools": {"f": {}}}, "/properties/tools/type", "/tools"),
    (CHAT, ALL, {"tools": [FUNCTION] * 129}, "/properties/tools/maxItems", "/tools"),
    (CHAT, ALL, {"tools": [{"type": "retrieval"}]}, "/properties/tools/items/oneOf", "/tools/0"),
    (CHAT, ALL, {"tools": [{"type": "function"}]}, "/$defs/FunctionTool/required", "/tools/0"),
    (
        *(CHAT, ALL, {"tools": [{"type": "function", "function": {"name": "f"}}]}),
        *("/$defs/FunctionTool/properties/function/required", "/tools/0/function"),
    ),
    (CHAT, ALL, {"tool_choice": "maybe"}, "/properties/tool_choice/oneOf/0/enum", "/tool_choice"),
    (
        CHAT,
        ALL,
        {"tool_choice": {"type": "tool", "function": {"name": "f"}}},
        "/$defs/NamedToolChoice/properties/type/enum",
        "/tool_choice/type",
    ),
    (CHAT, ALL, {"tool_choice": 3}, "/properties/tool_choice/oneOf", "/tool_choice"),
    (
        *(CHAT, K31, {"prompt_cache_options": {"mode": "explicit"}}),
        *("/properties/prompt_cache_options/properties/mode/enum", "/prompt_cache_options/mode"),
    ),
    (
        *(CHAT, ALL, {"response_format": {"type": "xml"}}),
        *("/properties/response_format/properties/type/enum", "/response_format/type"),
    ),
    (
        *(CHAT, ALL, {"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}}),
        *("/properties/response_format/properties/json_schema/required", "/response_format/json_schema"),
    ),
    (MESSAGES, ALL, {"max_tokens": HIDDEN}, "/required", ""),
    (MESSAGES, ALL, {"max_tokens": -1}, "/properties/max_tokens/minimum", "/max_tokens"),
    (MESSAGES, ALL, {"max_tokens": 10**30}, "/properties/max_tokens/maximum", "/max_tokens"),
    (MESSAGES, ALL, {"max_tokens": None}, "/properties/max_tokens/type", "/max_tokens"),
    (MESSAGES, ALL, {"messages": [{"role": "user"}]}, "/$defs/Message/required", "/messages/0"),
    (
        *(MESSAGES, ALL, {"messages": [{"role": "tool", "content": ""}]}),
        *("/$defs/Message/properties/role/enum", "/messages/0/role"),
    ),
    (MESSAGES, ALL, {"system": 7}, "/properties/system/oneOf", "/system"),
    (MESSAGES, ALL, {"system": [{"type": "text"}]}, "/$defs/MessagesTextBlockParam/required", "/system/0"),
    (MESSAGES, ALL, user([{"type": "audio"}]), "/$defs/ContentBlock/oneOf", "/messages/0/content/0"),
    (MESSAGES, ALL, user([{"type": "thinking"}]), "/$defs/ThinkingBlock/required", "/messages/0/content/0"),
    (
        *(MESSAGES, ALL, user([{"type": "image", "source": {"type": "base64", "media_type": "image/bmp"}}])),
        *("/$defs/ImageBlock/properties/source/properties/media_type/enum", "/messages/0/content/0/source/media_type"),
    ),
    (
        *(MESSAGES, ALL, user([{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "thinking"}]}])),
        *("/$defs/ToolResultBlock/properties/content/oneOf/1/items/oneOf", "/messages/0/content/0/content/0"),
    ),
    (MESSAGES, ALL, {"tools": [{"name": "f"}]}, "/$defs/Tool/required", "/tools/0"),
    (
        *(MESSAGES, ALL, {"tools": [SEARCH | {"max_uses": 0}]}),
        *("/$defs/WebSearchTool/properties/max_uses/minimum", "/tools/0/max_uses"),
    ),
    (MESSAGES, ALL, {"tool_choice": "any"}, "/$defs/ToolChoice/type", "/tool_choice"),
    (MESSAGES, ALL, {"tool_choice": {}}, "/$defs/ToolChoice/required", "/tool_choice"),
    (MESSAGES, K31, {"cache_control": {"ttl": "1h"}}, "/properties/cache_control/required", "/cache_control"),
    (
        *(MESSAGES, K31, {"cache_control": {"type": "ephemeral", "ttl": "2h"}}),
        *("/properties/cache_control/properties/ttl/enum", "/cache_control/ttl"),
    ),
    (MESSAGES, K31, {"stop_sequences": "x"}, "/properties/stop_sequences/type", "/stop_sequences"),
    (MESSAGES, K31, {"stop_sequences": [1]}, "/properties/stop_sequences/items/type", "/stop_sequences/0"),
    (
        *(MESSAGES, K31, {"output_config": {"format": {"type": "json_schema"}}}),
        *("/properties/output_config/properties/format/required", "/output_config/format"),
    ),
    (RESPONSES, ALL, {"model": HIDDEN}, "/required", ""),
    (RESPONSES, ALL, {"input": HIDDEN}, "/required", ""),
    (RESPONSES, ALL, {"input": 5}, "/properties/input/oneOf", "/input"),
    (RESPONSES, ALL, {"max_output_tokens": 0}, "/properties/max_output_tokens/minimum", "/max_output_tokens"),
    (RESPONSES, ALL, {"max_output_tokens": 1048577}, "/properties/max_output_tokens/maximum", "/max_output_tokens"),
    (RESPONSES, ALL, {"reasoning": "high"}, "/properties/reasoning/type", "/reasoning"),
    (RESPONSES, ALL, {"stream": "yes"}, "/properties/stream/type", "/stream"),
]

OWNED = [
    (CHAT, K3, {"temperature": 0.5}, "model.k3.temperature-rejected"),
    (CHAT, K3, {"top_p": 1}, "model.k3.top-p-rejected"),
    (CHAT, K3, {"reasoning_effort": "low"}, "model.k3.effort-only-max"),
    (CHAT, K3, {"reasoning_effort": "ultra"}, "model.k3.effort-only-max"),
    (CHAT, K3, {"prompt_cache_options": {}}, "model.k3.prompt-cache-options-rejected"),
    (CHAT, K3, {"prompt_cache_options": {"ttl": "9h"}}, "model.k3.prompt-cache-options-rejected"),
    (CHAT, K3, {"prompt_cache_options": 5}, "model.k3.prompt-cache-options-rejected"),
    (MESSAGES, K3, {"temperature": 0}, "model.k3.temperature-rejected"),
    (MESSAGES, K3, {"top_p": 0.9}, "model.k3.top-p-rejected"),
    (MESSAGES, K3, {"output_config": {"effort": "none"}}, "model.k3.effort-only-max"),
    (MESSAGES, K3, {"output_config": {"format": {"type": "xml"}}}, "model.k3.output-format-rejected"),
    (MESSAGES, K3, {"cache_control": {"ttl": "2h"}}, "model.k3.cache-control-rejected"),
    (MESSAGES, K3, {"stop_sequences": ["a"]}, "model.k3.stop-sequences-rejected"),
    (MESSAGES, K3, {"stop_sequences": [1] * 6}, "model.k3.stop-sequences-rejected"),
    (MESSAGES, K31, {"stop_sequences": list("abcdef")}, "request.edge.stop-sequence-count"),
    (MESSAGES, K31, {"stop_sequences": ["a" * 33]}, "request.edge.stop-sequence-bytes"),
    (MESSAGES, K31, {"stop_sequences": ["你" * 11]}, "request.edge.stop-sequence-bytes"),
    (
        *(MESSAGES, ALL, {"messages": [{"role": "system", "content": ""}]}),
        "request.role-system-in-messages-rejected",
    ),
    (CHAT, ALL, {"model": "gpt-4o"}, "request.unknown-model-rejected"),
    (MESSAGES, ALL, {"model": "kimi-k2"}, "request.unknown-model-rejected"),
    (RESPONSES, ALL, {"model": ""}, "request.unknown-model-rejected"),
]

OPEN = [
    (CHAT, ALL, {"model": HIDDEN}),
    (MESSAGES, ALL, {"model": HIDDEN}),
    (CHAT, ALL, {"messages": [{"role": "developer", "content": "x"}]}),
    (CHAT, ALL, {"temperature": None}),
    (MESSAGES, ALL, {"top_p": None}),
    (CHAT, K31, {"temperature": "hot"}),
    (MESSAGES, K31, {"top_p": [1]}),
    (MESSAGES, ALL, {"tool_choice": {"type": "tool", "name": "f"}}),
    (RESPONSES, ALL, {"reasoning": {"effort": 5}}),
    (RESPONSES, ALL, {"tools": {}}),
    (RESPONSES, ALL, {"tool_choice": "maybe"}),
    (RESPONSES, ALL, {"text": {"format": {}}}),
    (RESPONSES, ALL, {"input": [5]}),
    (RESPONSES, ALL, {"input": [{"role": "user", "content": 5}]}),
]


def rows(table):
    return [
        pytest.param(row[0], model, *row[2:], id=f"{row[0]}-{model}-{number}")
        for number, row in enumerate(table)
        for model in row[1]
    ]


@pytest.mark.parametrize(("surface", "name", "changes"), rows(ACCEPTED))
def test_an_allowed_request_breaks_nothing(surface, name, changes):
    assert found(surface, name, changes) == ()


@pytest.mark.parametrize(("surface", "name", "changes", "constraint", "path"), rows(REFUSED))
def test_a_broken_constraint_is_named(surface, name, changes, constraint, path):
    (breach,) = found(surface, name, changes)
    assert (breach.constraint, breach.path) == (constraint, path)
    assert breach.keyword == constraint.rsplit("/", 1)[1]
    assert breach.rule is None
    assert not breach.open
    assert breach.constraint in {row.pointer for row in specs.constraints(surface, name)}


@pytest.mark.parametrize(("surface", "name", "changes", "rule"), rows(OWNED))
def test_what_a_rule_names_belongs_to_that_rule_alone(surface, name, changes, rule):
    (breach,) = found(surface, name, changes)
    assert breach.rule == rule
    assert not breach.open


@pytest.mark.parametrize(("surface", "name", "changes"), rows(OPEN))
def test_what_the_documents_leave_open_is_marked(surface, name, changes):
    breaches = found(surface, name, changes)
    assert breaches
    assert all(breach.open and breach.rule is None for breach in breaches)


def test_every_breach_of_a_body_is_reported():
    breaches = specs.breaches(
        MESSAGES, "kimi-k3.1-pro", {"model": 1, "max_tokens": 0, "messages": [{"role": "x"}, 5], "stream": "no"}
    )
    assert {(breach.path, breach.keyword) for breach in breaches} == {
        ("/model", "type"),
        ("/max_tokens", "minimum"),
        ("/messages/0/role", "enum"),
        ("/messages/0", "required"),
        ("/messages/1", "type"),
        ("/stream", "type"),
    }


def test_every_missing_property_is_one_breach():
    breaches = specs.breaches(MESSAGES, "kimi-k3", {})
    assert [(breach.value, breach.open) for breach in breaches] == [
        ("model", True),
        ("max_tokens", False),
        ("messages", False),
    ]
    assert "max_tokens" in breaches[1].message


@pytest.mark.parametrize("whole", [None, 5, "x", [], True])
def test_a_body_that_is_no_object_breaks_the_type(protocol, model, whole):
    (breach,) = specs.breaches(protocol, model, whole)
    assert (breach.constraint, breach.path) == ("/type", "")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_tokens": 0}, "must be at least 1, not 0"),
        ({"max_tokens": "16"}, "must be integer, not '16'"),
        ({"stream": None}, "must be boolean, not null"),
        ({"messages": []}, "must have at least 1 entries, not 0"),
        ({"stop_sequences": ["你" * 11]}, "must have at most 32 bytes of UTF-8, not 33"),
        ({"tool_choice": {"type": "x\u202e"}}, r"must be one of 'auto', 'any', 'none', not 'x\u202e'"),
        ({"system": {}}, "fits none of the allowed forms: {}"),
        ({"tools": [{}]}, "lacks the required 'name'"),
    ],
)
def test_a_message_says_what_was_expected_and_what_came(changes, message):
    assert found(MESSAGES, "kimi-k3.1-pro", changes)[0].message == message
