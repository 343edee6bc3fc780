"""The rules about tools and web search on surfaces, modes and layers beyond their minimal pairs."""

from __future__ import annotations

import pytest
from variants import BODY, EVENTS, add, drop, judged, outcome, put, to_k3

from conformance.values import Outcome

CALL = f"{BODY}/choices/0/message/tool_calls/0"
FRAGMENT = "data/choices/0/delta/tool_calls/0"
REQUEST = "/0/request/body"


def use(place, name="get_weather", **fields):
    return {"type": "tool_use", "id": f"toolu_{place}", "name": name, "input": {"city": "Porto"}, **fields}


def searched(place, content=()):
    return [
        add(f"{BODY}/content/{place}", {"type": "web_search_tool_result", "tool_use_id": "srv_2", "content": content}),
        add(f"{BODY}/content/{place}", {"type": "server_tool_use", "id": "srv_2", "name": "web_search", "input": {}}),
    ]


def item(place, **fields):
    call = {"type": "function_call", "id": f"fc_{place}", "call_id": f"call_{place}", "name": "get_weather"}
    return {**call, "arguments": '{"city":"Porto"}', "status": "completed", **fields}


FAULTS = {
    "a prefixed name on chat in a stream": (
        "chat.tool-stream",
        [put(f"{EVENTS}/3/{FRAGMENT}/function/name", "functions.get_weather")],
        ("tool.declared-only", "must"),
    ),
    "no name on messages": ("messages.tool", [drop(f"{BODY}/content/1/name")], ("tool.declared-only", "must")),
    "a name that is null on responses": (
        "responses.tool",
        [put(f"{BODY}/output/1/name", None)],
        ("tool.declared-only", "must"),
    ),
    "a call of kimi-k3 without an id": (
        "chat.tool",
        [*to_k3("chat"), drop(f"{CALL}/id")],
        ("tool.ids", "must"),
    ),
    "a call_id that is null in a stream": (
        "responses.tool-stream",
        [put(f"{EVENTS}/15/data/response/output/1/call_id", None)],
        ("tool.ids", "must"),
    ),
    "a blank id": ("messages.tool", [put(f"{BODY}/content/1/id", " ")], ("tool.ids", "must")),
    "arguments as an array": ("chat.tool", [put(f"{CALL}/function/arguments", "[]")], ("tool.arguments-json", "must")),
    "two objects in the arguments of one call": (
        "responses.tool",
        [put(f"{BODY}/output/1/arguments", '{"city":"Lisbon"}{"city":"Oslo"}')],
        ("tool.arguments-json", "must"),
    ),
    "the arguments of the first of two calls cut": (
        "chat.tool",
        [
            put(f"{BODY}/choices/0/finish_reason", "length"),
            put(f"{CALL}/function/arguments", '{"city":"Lis'),
            add(
                f"{CALL[:-1]}-",
                {"id": "call_2", "type": "function", "function": {"name": "get_weather", "arguments": "{"}},
            ),
        ],
        ("tool.arguments-json", "must"),
    ),
    "the input of a search as a string": (
        "messages.search",
        [put(f"{BODY}/content/1/input", "official Kimi homepage")],
        ("tool.input-object", "must"),
    ),
    "arguments that break a strict schema in a stream": (
        "chat.tool-stream",
        [
            put(f"{REQUEST}/tools/0/function/strict", True),
            put(f"{EVENTS}/5/{FRAGMENT}/function/arguments", ":4"),
            put(f"{EVENTS}/6/{FRAGMENT}/function/arguments", "1}"),
        ],
        ("tool.arguments-match-schema", "must"),
    ),
    "the same id twice in a stream": (
        "messages.tool-stream",
        [
            add(f"{EVENTS}/13", {"event": "content_block_stop", "data": {"type": "content_block_stop", "index": 2}}),
            add(
                f"{EVENTS}/13",
                {
                    "event": "content_block_start",
                    "data": {
                        "type": "content_block_start",
                        "index": 2,
                        "content_block": use(2, id="toolu_6adc72aab1f2eaaebe6b8999"),
                    },
                },
            ),
        ],
        ("tool.no-duplicates", "must"),
    ),
    "the id of an earlier call on messages": (
        "messages.result",
        [add(f"{BODY}/content/-", use(1, id="toolu_6adc72aab1f2eaaebe6b8974")), put(f"{BODY}/stop_reason", "tool_use")],
        ("tool.no-duplicates", "should"),
    ),
    "the call_id of an earlier call on responses": (
        "responses.result",
        [add(f"{BODY}/output/-", item(1, call_id="call_9ced94ddc3a48c0e"))],
        ("tool.no-duplicates", "should"),
    ),
    "a cut call in a chat stream that ends in tool_calls": (
        "chat.tool-stream",
        [put(f"{REQUEST}/max_completion_tokens", 29), drop(f"{EVENTS}/6")],
        ("tool.cut-off-is-length", "must"),
    ),
    "an end token in the reasoning of messages": (
        "messages.tool-stream",
        [put(f"{EVENTS}/4/data/delta/thinking", " fits.<|im_end|>")],
        ("tool.no-markup-in-text", "must"),
    ),
    "a section of a template in the text of responses": (
        "responses.tool",
        [put(f"{BODY}/output/0/summary/0/text", 'functions.get_weather:0 {"city":"Lisbon"}')],
        ("tool.no-markup-in-text", "must"),
    ),
    "web search under tool_choice none in a stream": (
        "messages.search-stream",
        [put(f"{REQUEST}/tool_choice", {"type": "none"})],
        ("tool.choice-none", "should"),
    ),
    "no call in a stream of messages": (
        "messages.tool-stream",
        [put(f"{EVENTS}/7/data/content_block", {"type": "text", "text": ""}), *(drop(f"{EVENTS}/8") for _ in range(4))],
        ("tool.choice-required", "must"),
    ),
    "a search without its result in JSON": (
        "messages.search",
        [drop(f"{BODY}/content/2")],
        ("search.server-pairing", "must"),
    ),
    "two results of one search": (
        "messages.search",
        [
            add(
                f"{BODY}/content/3",
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_6adc72aab1f2eaaebe6b8ac1",
                    "content": [],
                },
            )
        ],
        ("search.server-pairing", "must"),
    ),
    "a result that is null": (
        "messages.search",
        [put(f"{BODY}/content/2/content", None)],
        ("search.result-shape", "must"),
    ),
    "an error object within an array": (
        "messages.search",
        [put(f"{BODY}/content/2/content", [{"type": "web_search_tool_result_error", "error_code": "unavailable"}])],
        ("search.result-shape", "must"),
    ),
    "more searches than allowed in a stream": (
        "messages.search-stream",
        [
            put(f"{REQUEST}/tools/0/max_uses", 1),
            *(
                add(f"{EVENTS}/16", {"event": kind, "data": {"type": kind, "index": place, **fields}})
                for kind, place, fields in (
                    ("content_block_stop", 5, {}),
                    (
                        "content_block_start",
                        5,
                        {"content_block": {"type": "web_search_tool_result", "tool_use_id": "srv_2", "content": []}},
                    ),
                    ("content_block_stop", 4, {}),
                    (
                        "content_block_start",
                        4,
                        {
                            "content_block": {
                                "type": "server_tool_use",
                                "id": "srv_2",
                                "name": "web_search",
                                "input": {},
                            }
                        },
                    ),
                )
            ),
        ],
        ("search.max-uses", "must"),
    ),
}


@pytest.mark.parametrize(("base", "changes", "finding"), FAULTS.values(), ids=FAULTS)
def test_faults_on_other_surfaces_and_layers_are_found(base, changes, finding):
    assert finding in judged(base, changes)


FAILED = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
FINE = {
    "arguments in white space": ("chat.tool", [put(f"{CALL}/function/arguments", ' {\n "city": "Lisbon"\n}\n')]),
    "ids of Kimi's own form": ("chat.tool", [put(f"{CALL}/id", "functions.get_weather:0")]),
    "content beside the call": ("chat.tool", [put(f"{BODY}/choices/0/message/content", "I will look it up.")]),
    "two calls": ("responses.tool", [add(f"{BODY}/output/-", item(2))]),
    "a strict tool, obeyed": ("chat.tool", [put(f"{REQUEST}/tools/0/function/strict", True)]),
    "a schema of another dialect": (
        "chat.tool",
        [put(f"{REQUEST}/tools/0/function/parameters/$schema", "http://json-schema.org/draft-07/schema#")],
    ),
    "a marker that the prompt quotes": (
        "chat.tool",
        [
            put(f"{REQUEST}/messages/0/content", "What does <|tool_calls_section_begin|> mean? And the weather?"),
            put(f"{BODY}/choices/0/message/content", "<|tool_calls_section_begin|> opens a section."),
        ],
    ),
    "the name of a call in prose": (
        "chat.tool",
        [put(f"{BODY}/choices/0/message/content", "I call functions.get_weather:0 for you.")],
    ),
    "a refused search beyond max_uses": (
        "messages.search",
        [put(f"{REQUEST}/tools/0/max_uses", 1), *searched(3, FAILED)],
    ),
    "a max_uses below 1, which is another rule's": (
        "messages.search",
        [
            put(f"{REQUEST}/tools/0/max_uses", -1),
            *(drop(f"{BODY}/content/1") for _ in range(2)),
            put(f"{BODY}/usage/server_tool_use/web_search_requests", 0),
        ],
    ),
    "a client call beside a search": (
        "messages.search",
        [
            add(f"{REQUEST}/tools/-", {"name": "get_weather", "input_schema": {"type": "object"}}),
            add(f"{BODY}/content/-", use(1)),
            put(f"{BODY}/stop_reason", "tool_use"),
        ],
    ),
    "only a search where a call is required": ("messages.search", [put(f"{REQUEST}/tool_choice", {"type": "any"})]),
    "a direct answer where search is offered": (
        "chat.search",
        [
            put(
                f"{BODY}/choices/0",
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": "kimi.com", "reasoning_content": "I know it."},
                    "finish_reason": "stop",
                },
            )
        ],
    ),
    "kimi-k3 that searches": ("chat.search", to_k3("chat")),
}


@pytest.mark.parametrize(("base", "changes"), FINE.values(), ids=FINE)
def test_unusual_calls_are_fine(base, changes):
    assert not {rule for rule, _ in judged(base, changes) if rule.startswith(("tool.", "search.", "stream."))}


UNSURE = {
    "cut off before the call": (
        "tool.choice-required",
        "chat.tool",
        [
            drop(CALL[:-2]),
            put(f"{BODY}/choices/0/finish_reason", "length"),
            put(f"{REQUEST}/max_completion_tokens", 29),
        ],
    ),
    "a refusal where a call is required": (
        "tool.choice-required",
        "messages.tool",
        [put(f"{BODY}/content/1", {"type": "text", "text": "No."}), put(f"{BODY}/stop_reason", "refusal")],
    ),
    "a schema that refers elsewhere": (
        "tool.arguments-match-schema",
        "chat.tool",
        [put(f"{REQUEST}/tools/0/function/parameters", {"$ref": "https://example.com/schema.json"})],
    ),
    "a schema that is none": (
        "tool.arguments-match-schema",
        "messages.tool",
        [put(f"{REQUEST}/tools/0/input_schema", {"type": 5})],
    ),
}


@pytest.mark.parametrize(("rule", "base", "changes"), UNSURE.values(), ids=UNSURE)
def test_what_cannot_be_told_is_inconclusive(rule, base, changes):
    assert outcome(rule, base, changes) is Outcome.INCONCLUSIVE


SILENT = {
    "the arguments of a call that is cut off": (
        "tool.arguments-json",
        "chat.tool",
        [put(f"{BODY}/choices/0/finish_reason", "length"), put(f"{CALL}/function/arguments", '{"city":"Lis')],
    ),
    "a named choice of an undeclared function": (
        "tool.choice-named",
        "chat.tool",
        [put(f"{REQUEST}/tool_choice", {"type": "function", "function": {"name": "get_time"}})],
    ),
    "a request whose prompt holds a token": (
        "tool.no-markup-in-text",
        "chat.tool",
        [put(f"{REQUEST}/messages/0/content", "Explain <|im_end|>.")],
    ),
}


@pytest.mark.parametrize(("rule", "base", "changes"), SILENT.values(), ids=SILENT)
def test_guards_hold_rules_back(rule, base, changes):
    assert outcome(rule, base, changes) is Outcome.NOT_EXERCISED
