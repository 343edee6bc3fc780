"""The rules about bodies on surfaces, modes and layers beyond their minimal pairs."""

from __future__ import annotations

import pytest
from variants import BODY, EVENTS, add, drop, judged, put, to_k3

OTHER_CHOICE = {
    "index": 1,
    "message": {"role": "assistant", "content": "1989.", "reasoning_content": "Known."},
    "finish_reason": "stop",
}
FIRST_CHUNK = {
    "data": {
        "id": "chatcmpl-6adc72aab1f2eaaebe6b86da",
        "object": "chat.completion.chunk",
        "created": 1781429520,
        "model": "kimi-k3.1-pro",
        "choices": [],
    }
}
FAULTS = {
    "an array for a body": ("chat.plain", [put(BODY, [])], ("body.schema", "must")),
    "a string for a body": ("responses.plain", [put(BODY, "ok")], ("body.schema", "must")),
    "null for a body": ("messages.plain", [put("/0/response/text", "null")], ("body.schema", "must")),
    "an empty object on chat": ("chat.plain", [put(BODY, {})], ("body.required-fields", "must")),
    "an empty object on messages": ("messages.plain", [put(BODY, {})], ("body.required-fields", "must")),
    "an empty object on responses": ("responses.plain", [put(BODY, {})], ("body.required-fields", "must")),
    "no chunk has created": (
        "chat.stream",
        [drop(f"{EVENTS}/{n}/data/created") for n in range(9)],
        ("body.required-fields", "must"),
    ),
    "no chunk has an id": (
        "chat.stream",
        [drop(f"{EVENTS}/{n}/data/id") for n in range(9)],
        ("body.id-unique", "must"),
    ),
    "message_start has no model": (
        "messages.stream",
        [drop(f"{EVENTS}/0/data/message/model")],
        ("body.required-fields", "must"),
    ),
    "message_start has no role": (
        "messages.stream",
        [drop(f"{EVENTS}/0/data/message/role")],
        ("body.role-assistant", "must"),
    ),
    "the final response has no created_at": (
        "responses.stream",
        [drop(f"{EVENTS}/18/data/response/created_at")],
        ("body.required-fields", "must"),
    ),
    "a fraction of a second": (
        "responses.plain",
        [put(f"{BODY}/created_at", 1781431500.25)],
        ("body.created-seconds", "must"),
    ),
    "a message of null": (
        "chat.plain",
        [put(f"{BODY}/choices/0/message", None)],
        ("body.text-not-empty", "must"),
    ),
    "a content part of another surface": (
        "chat.plain",
        [put(f"{BODY}/choices/0/message/content", [{"type": "output_text", "text": "1989"}])],
        ("body.schema", "must"),
    ),
    "numbers for deltas": (
        "chat.stream",
        [put(f"{EVENTS}/{n}/data/choices/0/delta/content", 5) for n in (0, 3, 4, 5, 6)],
        ("body.schema", "must"),
    ),
    "a call without its type": (
        "chat.tool",
        [drop(f"{BODY}/choices/0/message/tool_calls/0/type")],
        ("body.schema", "must"),
    ),
    "a streamed call without its id": (
        "messages.tool-stream",
        [drop(f"{EVENTS}/7/data/content_block/id")],
        ("body.schema", "must"),
    ),
    "a status of null": ("responses.plain", [put(f"{BODY}/status", None)], ("body.schema", "must")),
    "an id of null": ("chat.plain", [put(f"{BODY}/id", None)], ("body.schema", "must")),
    "a role of null": (
        "chat.plain",
        [put(f"{BODY}/choices/0/message/role", None)],
        ("body.role-assistant", "must"),
    ),
    "a role that the schema does not list": ("messages.plain", [put(f"{BODY}/role", "user")], ("body.schema", "must")),
    "a finish_reason of null": (
        "chat.plain",
        [put(f"{BODY}/choices/0/finish_reason", None)],
        ("body.schema", "must"),
    ),
    "content of null": ("messages.plain", [put(f"{BODY}/content", None)], ("body.block-types", "must")),
    "no blocks": ("messages.plain", [put(f"{BODY}/content", [])], ("body.text-not-empty", "must")),
    "an output of null": ("responses.plain", [put(f"{BODY}/output", None)], ("body.answer-findable", "must")),
    "an output_text of null": (
        "responses.plain",
        [put(f"{BODY}/output/1/content/0/text", None)],
        ("body.answer-findable", "must"),
    ),
    "one id in both modes": (
        "messages.plain messages.stream",
        [put("/1/response/sse/0/data/message/id", "msg_6adc72aab1f2eaaebe6b8905")],
        ("body.id-unique", "must"),
    ),
}
ODD = {
    "two choices": ("chat.plain", [add(f"{BODY}/choices/-", OTHER_CHOICE)]),
    "choices in another order": ("chat.plain", [add(f"{BODY}/choices/0", OTHER_CHOICE)]),
    "content in parts": (
        "chat.plain",
        [put(f"{BODY}/choices/0/message/content", [{"type": "text", "text": "On 9 November 1989."}])],
    ),
    "fields that clients know": (
        "chat.plain",
        [
            put(f"{BODY}/service_tier", "default"),
            put(f"{BODY}/system_fingerprint", None),
            put(f"{BODY}/choices/0/logprobs", None),
            put(f"{BODY}/choices/0/message/refusal", None),
        ],
    ),
    "a refusal in its own field": (
        "chat.plain",
        [
            put(f"{BODY}/choices/0/message/content", None),
            put(f"{BODY}/choices/0/message/refusal", "I cannot say that."),
        ],
    ),
    "a first chunk without choices": ("chat.stream", [add(f"{EVENTS}/0", FIRST_CHUNK)]),
    "deltas with null": (
        "chat.stream",
        [
            *(put(f"{EVENTS}/{n}/data/choices/0/delta/tool_calls", None) for n in range(8)),
            put(f"{EVENTS}/3/data/choices/0/delta/reasoning_content", None),
            put(f"{EVENTS}/1/data/choices/0/delta/content", None),
        ],
    ),
    "a refusal without blocks": (
        "messages.plain",
        [put(f"{BODY}/content", []), put(f"{BODY}/stop_reason", "refusal")],
    ),
    "an empty text block before a call": ("messages.tool", [add(f"{BODY}/content/1", {"type": "text", "text": ""})]),
    "citations of null": ("messages.plain", [put(f"{BODY}/content/1/citations", None)]),
    "a refusal part": (
        "responses.plain",
        [put(f"{BODY}/output/1/content", [{"type": "refusal", "refusal": "I cannot say that."}])],
    ),
    "encrypted reasoning": (
        "responses.plain",
        [put(f"{BODY}/output/0/summary", []), put(f"{BODY}/output/0/encrypted_content", "mjZ5Dz")],
    ),
    "fields that other servers send": (
        "responses.plain",
        [put(f"{BODY}/{name}", value) for name, value in {"error": None, "metadata": {}, "tools": []}.items()],
    ),
    "a failure without usage": (
        "responses.plain",
        [
            put(f"{BODY}/status", "failed"),
            put(f"{BODY}/output", []),
            put(f"{BODY}/usage", None),
            put(f"{BODY}/error", {"code": "server_error", "message": "It broke off"}),
        ],
    ),
    "a clock that is an hour off": ("chat.plain", [put(f"{BODY}/created", 1781433060)]),
    "kimi-k3 with text alone": ("messages.plain", [to_k3("messages"), drop(f"{BODY}/content/0")]),
    "a chat stream that a reset cut": (
        "chat.stream",
        [*(drop(f"{EVENTS}/{n}") for n in (9, 8, 7)), put("/0/failure", {"kind": "reset", "message": "reset"})],
    ),
    "a messages stream that a reset cut": (
        "messages.stream",
        [*(drop(f"{EVENTS}/{n}") for n in (14, 13, 12)), put("/0/failure", {"kind": "reset", "message": "reset"})],
    ),
    "a responses stream that timed out": (
        "responses.stream",
        [*(drop(f"{EVENTS}/{n}") for n in (18, 17)), put("/0/failure", {"kind": "timeout", "message": "late"})],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name):
    bases, changes, expected = FAULTS[name]
    assert expected in judged(bases, *changes)


@pytest.mark.parametrize("name", ODD)
def test_legal_oddities_are_left_alone(name):
    bases, changes = ODD[name]
    assert judged(bases, *changes) == set()


def test_a_reason_that_a_stream_never_brings_is_no_breach_of_the_schema():
    unfinished = judged("chat.stream", *(put(f"{EVENTS}/{n}/data/choices/0/finish_reason", None) for n in range(8)))
    assert ("finish.not-null", "must") in unfinished
    assert "body.schema" not in {rule for rule, _ in unfinished}


def test_one_answer_recorded_twice_has_one_id():
    same = [put("/1/response/json/id", "chatcmpl-6adc72aab1f2eaaebe6b86b5")]
    assert judged("chat.plain chat.plain", *same) == set()


def test_an_answer_fetched_again_under_one_idempotency_key_has_one_id():
    again = [
        put("/1/response/json/id", "chatcmpl-6adc72aab1f2eaaebe6b86b5"),
        put("/1/response/json/choices/0/message/content", "In 1989, on 9 November, in the evening."),
        put("/0/request/headers/Idempotency-Key", "a1"),
    ]
    assert ("body.id-unique", "must") in judged("chat.plain chat.plain", *again)
    assert judged("chat.plain chat.plain", *again, put("/1/request/headers/Idempotency-Key", "a1")) == set()


def test_breaches_of_inferred_parts_weigh_less():
    found = judged("responses.tool", put(f"{BODY}/output/1/name", 5))
    assert ("body.schema", "should") in found
