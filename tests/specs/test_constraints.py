"""Every constraint that is counted can be broken, and nothing else is ever reported."""

import copy

import pytest

from conformance import specs
from conformance.models import ALL
from conformance.values import Protocol

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
PARTS = [
    {"type": "text", "text": "x"},
    {"type": "image_url", "image_url": {"url": "data:,"}},
    {"type": "video_url", "video_url": {"url": "data:,"}},
]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "", "url": ""}}
TEXT = {"type": "text", "text": "x"}
RESULTS = [{"type": "web_search_result"}]
BLOCKS = [
    TEXT,
    IMAGE,
    {"type": "thinking", "thinking": "x", "signature": "s"},
    {"type": "tool_use", "id": "t", "name": "f", "input": {}},
    {"type": "tool_result", "tool_use_id": "t", "content": [TEXT, IMAGE], "is_error": False},
    {"type": "tool_result", "tool_use_id": "t", "content": "x"},
    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
    {"type": "web_search_tool_result", "tool_use_id": "s", "content": RESULTS},
    {"type": "web_search_tool_result", "tool_use_id": "s", "content": {}},
]
FULL = {
    Protocol.CHAT: {
        "messages": [
            {"role": "user", "content": PARTS, "tool_call_id": "c"},
            {"role": "assistant", "content": None, "reasoning_content": "x", "tool_calls": [CALL]},
        ],
        "max_completion_tokens": 5,
        "max_tokens": 5,
        "reasoning_effort": "max",
        "stream": False,
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}, "strict": True}},
            {"type": "web_search"},
        ],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "prompt_cache_options": {"mode": "implicit", "ttl": "5m"},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {}}},
        "temperature": 1,
        "top_p": 0.95,
    },
    Protocol.MESSAGES: {
        "max_tokens": 5,
        "messages": [{"role": "user", "content": BLOCKS}],
        "system": [TEXT],
        "stream": False,
        "tools": [
            {"name": "f", "description": "d", "input_schema": {}},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 1},
        ],
        "tool_choice": {"type": "auto"},
        "stop_sequences": ["a"],
        "cache_control": {"type": "ephemeral", "ttl": "5m"},
        "output_config": {"effort": "max", "format": {"type": "json_schema", "schema": {}}},
        "temperature": 1,
        "top_p": 0.95,
    },
    Protocol.RESPONSES: {
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [{}],
                "call_id": "c",
                "name": "n",
                "arguments": "",
                "output": [{}],
            }
        ],
        "max_output_tokens": 5,
        "reasoning": {"effort": "max"},
        "stream": False,
        "tools": [
            {"type": "function", "name": "f", "description": "d", "parameters": {}, "strict": True},
            {"type": "other"},
        ],
        "tool_choice": {"type": "function", "name": "f"},
        "text": {"format": {"type": "text", "name": "n", "strict": True, "schema": {}}},
    },
}
VALUES = [None, True, -1, 1.5, 10**7, "zz", "z" * 33, [], ["z"] * 6, [{}] * 129, {}]


def mutations(node):
    """Every copy of a JSON value with one part replaced or removed, and the path of that part."""
    for value in VALUES:
        yield (), value
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in list(children):
        for path, changed in mutations(child):
            copied = copy.copy(node)
            copied[key] = changed
            yield (key, *path), copied
        if isinstance(node, dict):
            yield (), {name: value for name, value in node.items() if name != key}


def broken(protocol, model, body):
    return {(breach.constraint, breach.path) for breach in specs.breaches(protocol, model, body)}


@pytest.mark.parametrize("model_", ["kimi-k3.1-pro", "kimi-k3"])
def test_the_constraints_that_can_be_broken_are_those_that_are_counted(protocol, model_):
    full = {"model": model_, **FULL[protocol]}
    stray = broken(protocol, model_, full)
    reached = {constraint for constraint, _ in stray}
    for path, body in mutations(full):
        mutated = "".join(f"/{part}" for part in path)
        for constraint, place in broken(protocol, model_, body) - stray:
            assert place.startswith(mutated) or mutated.startswith(place), (constraint, place, mutated)
            reached.add(constraint)
    counted = {row.pointer for row in specs.constraints(protocol, model_)}
    assert reached == counted


def test_the_full_bodies_are_valid(protocol):
    assert specs.breaches(protocol, "kimi-k3.1-pro", {"model": "kimi-k3.1-pro", **FULL[protocol]}) == ()


def test_constraints_are_named_once_and_in_order(protocol, model):
    pointers = [row.pointer for row in specs.constraints(protocol, model)]
    assert pointers == sorted(set(pointers))
    schema = specs.request_schema(protocol, model)
    for row in specs.constraints(protocol, model):
        node = schema
        for token in row.pointer.split("/")[1:]:
            node = node[int(token)] if isinstance(node, list) else node[token.replace("~1", "/").replace("~0", "~")]
        assert row.pointer.endswith(f"/{row.keyword}")


def test_inferred_constraints_are_marked():
    rows = {row.pointer: row.inferred for row in specs.constraints(Protocol.RESPONSES, ALL[0])}
    assert rows["/properties/tools/type"]
    assert rows["/$defs/FunctionTool/required"]
    assert not rows["/properties/max_output_tokens/maximum"]
    assert not any(row.inferred for row in specs.constraints(Protocol.CHAT, ALL[0]))
