from __future__ import annotations

import json
from typing import Any

import pytest
from made_exchanges import KEY, answer, body, error, exchange, exercised, found

from conformance.models import ALL
from conformance.values import Intent, Level, Protocol

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES
MUST, SHOULD = Level.MUST, Level.SHOULD
USER = {"role": "user", "content": "Hello."}
TOOL = {"name": "get_weather", "input_schema": {"type": "object"}}
FUNCTION = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "r", "schema": {"type": "object"}}}

BROKEN: list[tuple[Protocol, dict[str, Any]]] = [
    (CHAT, {"messages": ...}),
    (CHAT, {"messages": []}),
    (CHAT, {"messages": "Hello."}),
    (CHAT, {"messages": [{"role": "function", "content": "x"}]}),
    (CHAT, {"messages": [{"content": "x"}]}),
    (CHAT, {"messages": [{"role": "user", "content": 7}]}),
    (CHAT, {"messages": [{"role": "user", "content": [{"type": "audio"}]}]}),
    (CHAT, {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}),
    (CHAT, {"max_completion_tokens": 1048577}),
    (CHAT, {"max_completion_tokens": True}),
    (CHAT, {"max_tokens": 0}),
    (CHAT, {"tools": [FUNCTION] * 129}),
    (CHAT, {"tools": [{"type": "function"}]}),
    (CHAT, {"tools": [{"type": "function", "function": {"name": "f"}}]}),
    (CHAT, {"tools": [{"type": "retrieval"}]}),
    (CHAT, {"tool_choice": "any"}),
    (CHAT, {"tool_choice": {"type": "function"}}),
    (CHAT, {"stream": "true"}),
    (CHAT, {"reasoning_effort": "extreme"}),
    (CHAT, {"reasoning_effort": 3}),
    (CHAT, {"prompt_cache_options": {"ttl": "2h"}}),
    (CHAT, {"prompt_cache_options": "1h"}),
    (CHAT, {"response_format": {"type": "xml"}}),
    (CHAT, {"response_format": "json_object"}),
    (CHAT, {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}),
    (CHAT, {"model": 5}),
    (MESSAGES, {"max_tokens": ...}),
    (MESSAGES, {"max_tokens": 0}),
    (MESSAGES, {"max_tokens": 1048577}),
    (MESSAGES, {"max_tokens": None}),
    (MESSAGES, {"messages": []}),
    (MESSAGES, {"messages": [{"role": "user"}]}),
    (MESSAGES, {"messages": [{"role": "tool", "content": "x"}]}),
    (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "text"}]}]}),
    (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "image"}]}]}),
    (MESSAGES, {"system": 7}),
    (MESSAGES, {"system": [{"type": "image"}]}),
    (MESSAGES, {"stream": 1}),
    (MESSAGES, {"tools": {}}),
    (MESSAGES, {"tools": [{"name": "f"}]}),
    (MESSAGES, {"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 0}]}),
    (MESSAGES, {"tool_choice": "any"}),
    (MESSAGES, {"tool_choice": {"type": "required"}}),
    (MESSAGES, {"tool_choice": {}}),
    (MESSAGES, {"stop_sequences": "x"}),
    (MESSAGES, {"stop_sequences": [1]}),
    (MESSAGES, {"cache_control": {"ttl": "1h"}}),
    (MESSAGES, {"cache_control": {"type": "ephemeral", "ttl": "2h"}}),
    (MESSAGES, {"output_config": {"effort": "extreme"}}),
    (MESSAGES, {"output_config": {"format": {"type": "json_schema"}}}),
    (RESPONSES, {"model": ...}),
    (RESPONSES, {"input": ...}),
    (RESPONSES, {"input": 7}),
    (RESPONSES, {"max_output_tokens": 0}),
    (RESPONSES, {"max_output_tokens": 1048577}),
    (RESPONSES, {"stream": "yes"}),
    (RESPONSES, {"reasoning": "low"}),
]
NEAR: list[tuple[Protocol, dict[str, Any]]] = [
    (CHAT, {"max_completion_tokens": "1024"}),
    (CHAT, {"max_tokens": 16.5}),
    (MESSAGES, {"max_tokens": "1024"}),
    (MESSAGES, {"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": "1"}]}),
    (RESPONSES, {"max_output_tokens": 1.5}),
]
OPEN: list[tuple[Protocol, dict[str, Any]]] = [
    (CHAT, {"model": ...}),
    (MESSAGES, {"model": ...}),
    (CHAT, {"max_tokens": 9, "max_completion_tokens": 9}),
    (CHAT, {"seed": 7}),
    (MESSAGES, {"metadata": {"user_id": "u"}}),
    (RESPONSES, {"store": True}),
    (CHAT, {"messages": [{"role": "developer", "content": "Be terse."}, USER]}),
    (CHAT, {"temperature": None}),
    (MESSAGES, {"top_p": None}),
    (CHAT, {"model": "kimi-k3", "temperature": None}),
    (MESSAGES, {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "get_weather"}}),
    (CHAT, {"max_completion_tokens": 16.0}),
    (RESPONSES, {"reasoning": {"effort": "medium"}}),
    (RESPONSES, {"reasoning": {"effort": "extreme"}}),
    (RESPONSES, {"model": "kimi-k3", "reasoning": {"effort": "low"}}),
    (RESPONSES, {"input": []}),
    (RESPONSES, {"tools": [{"type": "function", "name": "f"}]}),
    (RESPONSES, {"tools": "none"}),
]
MEANINGLESS: list[tuple[Protocol, dict[str, Any]]] = [
    (CHAT, {"messages": [{"role": "user"}]}),
    (CHAT, {"messages": [{"role": "user", "content": None}]}),
    (CHAT, {"messages": [{"role": "user", "content": []}]}),
    (CHAT, {"messages": [{"role": "user", "content": "  "}]}),
    (MESSAGES, {"messages": [{"role": "user", "content": []}]}),
    (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}),
    (MESSAGES, {"system": []}),
    (RESPONSES, {"input": ""}),
    (CHAT, {"messages": [USER, {"role": "tool", "content": "x"}]}),
    (CHAT, {"messages": [{"role": "system", "content": "Be terse."}]}),
    (CHAT, {"tool_choice": "required"}),
    (CHAT, {"tool_choice": "required", "tools": [{"type": "web_search"}]}),
    (MESSAGES, {"tool_choice": {"type": "any"}}),
    (CHAT, {"tools": [FUNCTION], "tool_choice": {"type": "function", "function": {"name": "other"}}}),
    (CHAT, {"tools": []}),
    (CHAT, {"tools": [FUNCTION, FUNCTION]}),
    (MESSAGES, {"tools": [{"name": "get weather", "input_schema": {"type": "object"}}]}),
    (MESSAGES, {"tools": [{"name": "f", "input_schema": {"type": "thing"}}]}),
    (MESSAGES, {"tools": [{"name": "f", "input_schema": {"type": "array"}}]}),
    (CHAT, {"response_format": {"type": "json_schema"}}),
    (CHAT, {"response_format": {}}),
    (CHAT, {"response_format": {"type": "json_schema", "json_schema": {"name": "r", "schema": {"type": "thing"}}}}),
    (CHAT, {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": ""}}]}]}),
    (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "base64"}}]}]}),
    (MESSAGES, {"stop_sequences": [""]}),
    (MESSAGES, {"stop_sequences": []}),
    (
        MESSAGES,
        {
            "stop_sequences": ["x"],
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        },
    ),
]
DOUBTFUL: list[tuple[Protocol, dict[str, Any]]] = [
    (CHAT, {"messages": [USER, {"role": "assistant", "content": "Hi."}, USER]}),
    (MESSAGES, {"messages": [USER, {"role": "assistant", "content": "Hi."}, USER]}),
    (RESPONSES, {"input": [USER, {"role": "assistant", "content": "Hi."}, USER]}),
    (RESPONSES, {"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}),
    (
        MESSAGES,
        {
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}
            ]
        },
    ),
    (MESSAGES, {"tools": [{**TOOL, "type": "custom"}]}),
    (MESSAGES, {"tools": [{"type": "web_search_20250305", "name": "web_search", "user_location": {}}]}),
    (CHAT, {"messages": [{**USER, "name": "ann"}]}),
    (CHAT, {"stream": True, "stream_options": {"include_usage": True}}),
    (CHAT, {"messages": [{"role": "user", "content": "word " * 250_000}]}),
    (MESSAGES, {"model": "kimi-k3", "messages": [USER, {"role": "assistant", "content": "Hi."}]}),
]


def ids(cases: list[tuple[Protocol, dict[str, Any]]]) -> list[str]:
    return [f"{protocol} {json.dumps(more, default=str)[:80]}" for protocol, more in cases]


@pytest.mark.parametrize(("protocol", "more"), BROKEN, ids=ids(BROKEN))
def test_an_accepted_broken_request_is_a_must(protocol: Protocol, more: dict[str, Any]):
    accepted = found(exchange(protocol, body(protocol, **more)))
    assert accepted["request.invalid-rejected"] is MUST
    failed = found(exchange(protocol, body(protocol, **more), 500))
    assert failed["http.no-server-error"] is MUST


@pytest.mark.parametrize(("protocol", "more"), [*BROKEN, *NEAR], ids=ids([*BROKEN, *NEAR]))
def test_a_refused_broken_request_is_right(protocol: Protocol, more: dict[str, Any]):
    assert found(exchange(protocol, body(protocol, **more), 400)) == {}
    for status in (401, 403, 404, 405, 413, 415, 429, 502, 503, 504):
        assert "request.invalid-rejected" not in found(exchange(protocol, body(protocol, **more), status))
    assert "http.no-server-error" not in found(exchange(protocol, body(protocol, **more), 503))


@pytest.mark.parametrize("protocol", list(Protocol))
def test_another_spelling_of_the_model_breaks_no_schema(protocol: Protocol):
    sent = body(protocol, model="moonshotai/kimi-k3.1-pro")
    assert "http.no-server-error" not in found(exchange(protocol, sent, 500))
    assert "http.no-server-error" in found(exchange(protocol, body(protocol, model="kimi-k9"), 500))


@pytest.mark.parametrize(("protocol", "more"), NEAR, ids=ids(NEAR))
def test_a_number_in_another_spelling_is_a_should(protocol: Protocol, more: dict[str, Any]):
    assert found(exchange(protocol, body(protocol, **more))) == {"request.invalid-rejected": SHOULD}


@pytest.mark.parametrize(("protocol", "more"), OPEN, ids=ids(OPEN))
@pytest.mark.parametrize("status", [200, 400])
def test_what_the_documents_leave_open_is_never_a_finding(protocol: Protocol, more: dict[str, Any], status: int):
    model = more.get("model", "kimi-k3.1-pro")
    got = answer(protocol, "kimi-k3.1-pro" if model is ... else model) if status == 200 else None
    assert found(exchange(protocol, body(protocol, **more), status, got)) == {}


@pytest.mark.parametrize(("protocol", "more"), [*MEANINGLESS, *DOUBTFUL], ids=ids([*MEANINGLESS, *DOUBTFUL]))
def test_refusing_what_means_nothing_or_may_be_wrong_is_right(protocol: Protocol, more: dict[str, Any]):
    assert found(exchange(protocol, body(protocol, **more), 400)) == {}


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("model", ALL)
def test_refusing_a_plain_request_is_a_should_and_with_a_probe_a_must(protocol: Protocol, model: str):
    sent = body(protocol, model)
    assert found(exchange(protocol, sent, 400)) == {"request.valid-accepted": SHOULD}
    assert found(exchange(protocol, sent, 422))["request.valid-accepted"] is SHOULD
    vouched = found(exchange(protocol, sent, 400, intents=(Intent.VALID,)))
    assert vouched == {"request.valid-accepted": MUST}


@pytest.mark.parametrize(
    ("message", "level"),
    [
        ("Invalid request parameters", SHOULD),
        ("the effort low is not available, at any max_output_tokens", SHOULD),
        ("max_output_tokens must be at least 16", MUST),
    ],
)
def test_refusing_a_response_with_an_effort_is_a_must_only_for_another_field(message: str, level: Level):
    sent = body(RESPONSES, max_output_tokens=1, reasoning={"effort": "low"})
    levels = found(exchange(RESPONSES, sent, 400, error(RESPONSES, message), intents=(Intent.VALID,)))
    assert levels == {"request.valid-accepted": level, "request.responses-effort-accepted": SHOULD}


@pytest.mark.parametrize("status", [401, 403, 404, 405, 409, 413, 415, 421, 429, 500, 502, 503, 504])
def test_other_statuses_say_nothing_about_a_valid_request(status: int):
    assert "request.valid-accepted" not in found(exchange(CHAT, body(CHAT), status))


@pytest.mark.parametrize("kind", ["content_filter", "rate_limit_error", "authentication_error", "insufficient_quota"])
def test_a_400_about_something_else_says_nothing_about_the_request(kind: str):
    for more in ({}, {"temperature": 0}, {"reasoning_effort": "medium"}, {"stream": True}):
        levels = found(exchange(CHAT, body(CHAT, **more), 400, error(CHAT, type=kind)), families=("request", "model"))
        assert levels == {}


def test_an_error_that_names_the_field_makes_the_refusal_a_must():
    alias = body(CHAT, max_tokens=64)
    assert found(exchange(CHAT, alias, 400))["request.max-tokens-alias"] is SHOULD
    named = error(CHAT, "max_tokens: unknown parameter")
    assert found(exchange(CHAT, alias, 400, named))["request.max-tokens-alias"] is MUST


def test_the_largest_limit_is_a_should_and_nothing_else():
    sent = body(CHAT, max_completion_tokens=1048576, stream=True, tools=[FUNCTION])
    assert found(exchange(CHAT, sent, 400, intents=(Intent.VALID,))) == {"request.valid-accepted": SHOULD}


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"7", b'"x"', b"null", b"{", b'{"model": "x",}', b'{"a": NaN}', b"\xff\xfe"]
)
@pytest.mark.parametrize("protocol", list(Protocol))
def test_a_malformed_body_must_get_400(protocol: Protocol, raw: bytes):
    assert found(exchange(protocol, raw, 400)) == {}
    assert found(exchange(protocol, raw, 200))["http.malformed-json-rejected"] is MUST
    failed = found(exchange(protocol, raw, 500))
    assert failed["http.malformed-json-rejected"] is failed["http.no-server-error"] is MUST
    assert found(exchange(protocol, raw, 422))["http.malformed-json-rejected"] is SHOULD
    assert "http.malformed-json-rejected" not in found(exchange(protocol, raw, 503))


@pytest.mark.parametrize(
    ("raw", "headers"),
    [
        (b"", {**KEY, "Content-Length": "120"}),
        (b"", {**KEY, "Transfer-Encoding": "chunked"}),
        (b'{"model": "kim', {**KEY, "Content-Length": "120"}),
        (b"\x1f\x8b\x08\x00", {**KEY, "Content-Encoding": "gzip"}),
        (b'\xef\xbb\xbf{"model": "kimi-k3"}', KEY),
        (b"[" * 2000 + b"]" * 2000, KEY),
    ],
)
def test_a_body_that_the_recording_lost_is_not_judged(raw: bytes, headers: dict[str, str]):
    assert not exercised("http.malformed-json-rejected", exchange(CHAT, raw, 200, headers=headers))


def test_null_within_an_answer_that_is_sent_back_is_tolerated():
    said = {"role": "assistant", "content": "Hi.", "reasoning_content": None, "tool_calls": None}
    assert found(exchange(CHAT, body(CHAT, messages=[USER, said, USER]))) == {}
    bad = {"role": "assistant", "content": "Hi.", "tool_calls": [{"id": "c"}]}
    assert found(exchange(CHAT, body(CHAT, messages=[USER, bad, USER])))["request.invalid-rejected"] is MUST


@pytest.mark.parametrize("protocol", list(Protocol))
def test_an_unknown_model_must_get_a_4xx(protocol: Protocol):
    sent = body(protocol, "gpt-4o")
    assert found(exchange(protocol, sent))["request.unknown-model-rejected"] is MUST
    assert found(exchange(protocol, sent, 500))["request.unknown-model-rejected"] is MUST
    assert found(exchange(protocol, sent, 400)) == {}
    assert found(exchange(protocol, sent, 404)) == {"http.status.documented": SHOULD}
    assert "request.unknown-model-rejected" not in found(exchange(protocol, sent, 502))
    assert "request.unknown-model-rejected" not in found(exchange(protocol, body(protocol, "moonshotai/kimi-k3")))


@pytest.mark.parametrize(
    ("messages", "orphan"),
    [
        ([USER, {"role": "assistant", "content": "x"}, {"role": "tool", "tool_call_id": "c", "content": "1"}], True),
        (
            [
                USER,
                {"role": "assistant", "tool_calls": [{"id": "d", "type": "function", "function": {"name": "f"}}]},
                {"role": "tool", "tool_call_id": "c", "content": "1"},
            ],
            True,
        ),
        (
            [
                USER,
                {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}]},
                {"role": "tool", "tool_call_id": "c", "content": "1"},
            ],
            False,
        ),
        ([USER, {"role": "tool", "content": "1"}], False),
    ],
)
def test_a_result_without_its_call_should_be_refused(messages: list[Any], orphan: bool):
    sent = body(CHAT, messages=messages)
    assert ("request.orphan-tool-result-rejected" in found(exchange(CHAT, sent))) is orphan
    assert found(exchange(CHAT, sent, 400)) == {}


@pytest.mark.parametrize(
    ("sequences", "status", "expected"),
    [
        (["=" * 32], 200, {}),
        (["=" * 33], 400, {}),
        (["=" * 33], 200, {"request.edge.stop-sequence-bytes": MUST}),
        (["北" * 11], 200, {"request.edge.stop-sequence-bytes": MUST}),
        (["🙂" * 8], 400, {"request.edge.stop-sequence-bytes": SHOULD, "request.valid-accepted": SHOULD}),
        (["a", "b", "c", "d", "e"], 200, {}),
        (["a", "b", "c", "d", "e", "f"], 200, {"request.edge.stop-sequence-count": MUST}),
        (["a", "b", "c", "d", "e", "f"], 400, {}),
        (
            ["a", "b", "c", "d", "e"],
            400,
            {"request.edge.stop-sequence-count": SHOULD, "request.valid-accepted": SHOULD},
        ),
    ],
)
def test_stop_sequences_at_their_edges(sequences: list[str], status: int, expected: dict[str, Level]):
    assert found(exchange(MESSAGES, body(MESSAGES, stop_sequences=sequences), status)) == expected


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    "content",
    ["x" * 2**20, "lone \ud800 surrogate", "nul \0 here"],
    ids=["1 MiB", "surrogate", "nul"],
)
def test_an_extreme_request_is_survived(content: str):
    sent = body(CHAT, messages=[{"role": "user", "content": content}])
    for status in (200, 400, 413):
        assert "request.deep-nesting-survived" not in found(exchange(CHAT, sent, status))
    assert found(exchange(CHAT, sent, 500))["request.deep-nesting-survived"] is SHOULD
    assert found(exchange(CHAT, sent, None, failure="reset"))["request.deep-nesting-survived"] is SHOULD
    assert "request.deep-nesting-survived" not in found(exchange(CHAT, sent, None, failure="cut"))
    assert "request.deep-nesting-survived" not in found(exchange(CHAT, sent, 502))


def test_a_deep_tool_schema_is_survived():
    sent = body(MESSAGES, tools=[{"name": "deep", "input_schema": nested(200)}])
    assert found(exchange(MESSAGES, sent, 500)) == {"request.deep-nesting-survived": SHOULD}
    assert found(exchange(MESSAGES, sent, 400)) == {}


def test_a_prompt_beyond_the_window_should_get_a_4xx():
    sent = body(CHAT, messages=[{"role": "user", "content": "ab " * 1_048_600}])
    assert found(exchange(CHAT, sent, 200))["request.context-exceeded"] is SHOULD
    assert found(exchange(CHAT, sent, 500))["request.context-exceeded"] is SHOULD
    assert found(exchange(CHAT, sent, 400)) == {}
    assert "request.context-exceeded" not in found(exchange(CHAT, sent, 413))


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("application/json; charset=utf-8", 200, {}),
        ("application/json; charset=utf-8", 415, {"http.request-charset-accepted": SHOULD}),
        ("Application/JSON", 400, {"http.request-charset-accepted": SHOULD, "request.valid-accepted": SHOULD}),
        ("application/json; charset=latin-1", 400, {"request.valid-accepted": SHOULD}),
        ("text/plain", 400, {}),
        ("text/plain", 415, {}),
    ],
)
def test_media_types_of_requests(kind: str, status: int, expected: dict[str, Level]):
    levels = found(exchange(CHAT, body(CHAT), status, headers={**KEY, "Content-Type": kind}))
    levels.pop("http.status.documented", None)
    assert levels == expected


@pytest.mark.parametrize("effort", ["medium", "xhigh", "minimal", "none"])
def test_an_effort_alias_on_responses_is_only_recorded(effort: str):
    for status in (200, 400):
        assert found(exchange(RESPONSES, body(RESPONSES, reasoning={"effort": effort}), status)) == {}


@pytest.mark.parametrize("status", [200, 400])
def test_forms_are_decided_alike(status: int):
    blocks = [{"type": "text", "text": "In which year did the Berlin Wall fall?"}]
    string, parts = body(CHAT), body(CHAT, messages=[{"role": "user", "content": blocks}])
    levels = found(exchange(CHAT, string), exchange(CHAT, parts, status))
    assert ("request.forms-equal" in levels) is (status == 400)
    assert "request.forms-equal" not in found(exchange(CHAT, string), exchange(CHAT, parts, 429))


def test_a_server_error_on_each_of_three_tries_is_a_finding():
    tries = [exchange(CHAT, body(CHAT), status) for status in (500, 500, 500)]
    assert found(*tries)["http.no-repeated-server-error"] is SHOULD
    assert "http.no-repeated-server-error" not in found(*tries[:2])
    assert "http.no-repeated-server-error" not in found(*tries[:2], exchange(CHAT, body(CHAT)))
    assert "http.no-repeated-server-error" not in found(*(exchange(CHAT, body(CHAT), 503) for _ in range(3)))


def test_a_refusal_behind_200_is_no_refusal():
    sent = body(RESPONSES, max_output_tokens=0)
    levels = found(exchange(RESPONSES, sent, 200, error(RESPONSES)))
    assert levels["request.invalid-rejected"] is MUST
    assert levels["error.not-in-success"] is MUST
