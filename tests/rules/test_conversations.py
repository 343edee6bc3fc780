"""The rules about answers that are sent back: which conversations they judge, and which they leave alone."""

from __future__ import annotations

import pytest
from variants import BODY, EVENTS, drop, judged, outcome, put, to_k3

from conformance.values import Outcome

LATER = "/1/request/body"
REFUSED = {
    "chat": {"error": {"message": "bad history", "type": "invalid_request_error", "code": None}},
    "messages": {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "bad history"},
        "request_id": "req_1",
    },
    "responses": {"error": {"message": "bad history", "type": "invalid_request_error", "code": None}},
}
RULES = ("tool.round-trip", "tool.parallel-results", "search.chat-round-trip", "turn.history-accepted")


def refused(surface, status=400):
    return put(
        "/1/response",
        {"status": status, "headers": {"Content-Type": "application/json"}, "json": REFUSED[surface]},
    )


STREAMED = {
    "a call of a chat stream": (
        "chat.tool-stream chat.result",
        [
            put(f"{LATER}/messages/1/tool_calls/0/id", "call_6adc72aab1f2eaaebe6b8749"),
            put(f"{LATER}/messages/2/tool_call_id", "call_6adc72aab1f2eaaebe6b8749"),
        ],
        "tool.round-trip",
    ),
    "a call of a messages stream": (
        "messages.tool-stream messages.result",
        [
            put(
                f"{LATER}/messages/1/content/0/signature",
                "GQGLM1dd0EU017FCzV6WvHiazvnLr7b5hFlRVDWd3eQH2gTOPP0q0nnynEJPLvrUlq5AVzed3D3rL+bSFqGg7Nu9rX6RiF6A",
            ),
            put(f"{LATER}/messages/1/content/1/id", "toolu_6adc72aab1f2eaaebe6b8999"),
            put(f"{LATER}/messages/2/content/0/tool_use_id", "toolu_6adc72aab1f2eaaebe6b8999"),
        ],
        "tool.round-trip",
    ),
    "a call of a responses stream": (
        "responses.tool-stream responses.result",
        [
            put(f"{LATER}/input/1/id", "rs_6adc72aab1f2eaaebe6b8c33"),
            put(f"{LATER}/input/2/id", "fc_6adc72aab1f2eaaebe6b8c33"),
            put(f"{LATER}/input/2/call_id", "call_9ced94ddc3a48c33"),
            put(f"{LATER}/input/3/call_id", "call_9ced94ddc3a48c33"),
        ],
        "tool.round-trip",
    ),
    "kimi-k3": ("chat.tool chat.result", [*to_k3("chat"), *to_k3("chat", 1)], "tool.round-trip"),
    "empty fields left out": (
        "chat.tool chat.result",
        [drop(f"{LATER}/messages/1/content")],
        "tool.round-trip",
    ),
    "a result of text blocks": (
        "messages.tool messages.result",
        [put(f"{LATER}/messages/2/content/0/content", [{"type": "text", "text": "21 degrees"}])],
        "tool.round-trip",
    ),
    "an answer with fields that say nothing": (
        "messages.plain messages.follow-up",
        [put(f"{BODY}/content/1/citations", None)],
        "turn.history-accepted",
    ),
}


@pytest.mark.parametrize(("bases", "changes", "rule"), STREAMED.values(), ids=STREAMED)
def test_unchanged_histories_must_be_accepted(bases, changes, rule):
    surface = bases.split(".")[0]
    assert outcome(rule, bases, changes) is Outcome.PASS
    assert (rule, "must") in judged(bases, changes, refused(surface))


ALTERED = {
    "without its reasoning": ("chat.tool chat.result", [drop(f"{LATER}/messages/1/reasoning_content")]),
    "with another reasoning": (
        "chat.plain chat.follow-up",
        [put(f"{LATER}/messages/1/reasoning_content", "Something else.")],
    ),
    "with other arguments": (
        "chat.tool chat.result",
        [put(f"{LATER}/messages/1/tool_calls/0/function/arguments", '{"city":"Porto"}')],
    ),
    "without its thinking": ("messages.plain messages.follow-up", [drop(f"{LATER}/messages/1/content/0")]),
    "with another signature": (
        "messages.tool messages.result",
        [put(f"{LATER}/messages/1/content/0/signature", "c2lnbmVk")],
    ),
    "without the reasoning item": ("responses.tool responses.result", [drop(f"{LATER}/input/1")]),
    "with a result of another call": (
        "chat.tool chat.result",
        [put(f"{LATER}/messages/2/tool_call_id", "call_other")],
    ),
    "without the tools": ("messages.tool messages.result", [drop(f"{LATER}/tools")]),
    "with a new parameter": ("chat.plain chat.follow-up", [put(f"{LATER}/logit_bias", {})]),
    "with a body that breaks the schema": ("messages.plain messages.follow-up", [put(f"{LATER}/max_tokens", 0)]),
    "after an answer that was cut off": (
        "messages.plain messages.follow-up",
        [put(f"{BODY}/stop_reason", "max_tokens")],
    ),
}


@pytest.mark.parametrize(("bases", "changes"), ALTERED.values(), ids=ALTERED)
def test_nothing_is_demanded_for_altered_histories(bases, changes):
    found = judged(bases, changes, refused(bases.split(".")[0]))
    assert not {rule for rule, _ in found if rule in RULES}


@pytest.mark.parametrize("status", [401, 429, 500, 502, 503])
def test_other_causes_are_inconclusive(status):
    assert outcome("tool.round-trip", "chat.tool chat.result", refused("chat", status)) is Outcome.INCONCLUSIVE


def test_a_search_whose_result_is_something_else_is_no_echo():
    other = put(f"{LATER}/messages/2/content", "https://www.kimi.com")
    assert outcome("search.chat-round-trip", "chat.search chat.search-result", other) is Outcome.NOT_EXERCISED


def test_a_call_is_an_answer_to_results():
    again = put(
        "/1/response/json/choices/0",
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": None,
                "reasoning_content": "Porto too.",
                "tool_calls": [
                    {
                        "id": "call_2",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city":"Porto"}'},
                    }
                ],
            },
            "finish_reason": "tool_calls",
        },
    )
    assert judged("chat.tool chat.result", again) == set()


def test_an_empty_stream_after_results_is_no_answer():
    silent = [put("/1/response/json/content/1/text", " ")]
    assert ("tool.round-trip", "must") in judged("messages.tool messages.result", silent)


def test_a_short_history_needs_only_one_token_more():
    history = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    messages = put(
        f"{LATER}/messages", [*history, {"role": "user", "content": "[b41f07] In which year did the Berlin Wall fall?"}]
    )
    counts = [put("/1/response/json/usage/prompt_tokens", 30), put("/1/response/json/usage/total_tokens", 57)]
    assert outcome("turn.history-counted", "chat.plain chat.plain", messages, counts) is Outcome.PASS
    assert ("turn.history-counted", "should") in judged("chat.plain chat.plain", messages)


def test_a_history_without_usage_is_inconclusive():
    messages = put(
        f"{LATER}/messages",
        [
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "[b41f07] In which year did the Berlin Wall fall?"},
        ],
    )
    assert (
        outcome("turn.history-counted", "chat.stream chat.stream", messages, drop(f"{EVENTS}/8"))
        is Outcome.INCONCLUSIVE
    )
