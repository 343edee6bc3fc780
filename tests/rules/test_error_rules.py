from __future__ import annotations

import json
from typing import Any

import pytest
from made_exchanges import answer, body, error, exchange, found

from conformance.values import Level, Protocol

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES
MUST, SHOULD = Level.MUST, Level.SHOULD
OPENAI = {"error": {"message": "no", "type": "invalid_request_error", "code": None}}
ANTHROPIC = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}, "request_id": "req_1"}


def refused(protocol: Protocol, got: object, status: int = 400) -> dict[str, Level]:
    return found(exchange(protocol, body(protocol, stream="x"), status, got), families=("error",))


@pytest.mark.parametrize(
    ("protocol", "got", "expected"),
    [
        (CHAT, OPENAI, {}),
        (CHAT, {"error": {**OPENAI["error"], "code": "x", "param": None}, "request_id": "r"}, {}),
        (CHAT, {"error": {"message": "no", "type": "invalid_request_error"}}, {"error.envelope": SHOULD}),
        (CHAT, {"error": {**OPENAI["error"], "code": 400}}, {"error.envelope": MUST}),
        (CHAT, {"error": {"message": "no", "code": None}}, {"error.envelope": MUST}),
        (CHAT, {"error": {**OPENAI["error"], "message": None}}, {"error.envelope": MUST}),
        (CHAT, {"error": "no"}, {"error.envelope": MUST}),
        (CHAT, {"error": None}, {"error.envelope": MUST}),
        (CHAT, {}, {"error.envelope": MUST}),
        (CHAT, [], {"error.envelope": MUST}),
        (CHAT, {"detail": "no"}, {"error.envelope": MUST}),
        (CHAT, {"message": "no", "code": 400}, {"error.envelope": MUST}),
        (CHAT, {"success": False, "error": {"message": "no"}}, {"error.envelope": MUST}),
        (CHAT, ANTHROPIC, {"error.envelope": SHOULD, "error.envelope.foreign": MUST}),
        (RESPONSES, OPENAI, {}),
        (RESPONSES, ANTHROPIC, {"error.envelope": SHOULD, "error.envelope.foreign": MUST}),
        (RESPONSES, {"type": "error", "code": "x", "message": "no"}, {"error.envelope": MUST}),
        (MESSAGES, ANTHROPIC, {}),
        (MESSAGES, {**ANTHROPIC, "type": "failure"}, {"error.envelope": MUST}),
        (MESSAGES, {k: v for k, v in ANTHROPIC.items() if k != "type"}, {"error.envelope": MUST}),
        (MESSAGES, {k: v for k, v in ANTHROPIC.items() if k != "request_id"}, {"error.envelope": SHOULD}),
        (MESSAGES, {**ANTHROPIC, "request_id": 7}, {"error.envelope": MUST}),
        (MESSAGES, {**ANTHROPIC, "error": {"type": "invalid_request_error"}}, {"error.envelope": MUST}),
        (MESSAGES, OPENAI, {"error.envelope": MUST, "error.envelope.foreign": MUST}),
        (MESSAGES, {**ANTHROPIC, "error": {**ANTHROPIC["error"], "message": " "}}, {"error.message-not-empty": SHOULD}),
        (MESSAGES, {**ANTHROPIC, "content": []}, {"error.not-mixed": MUST}),
        (MESSAGES, {**ANTHROPIC, "content": None}, {}),
        (CHAT, {**OPENAI, "choices": [{}]}, {"error.not-mixed": MUST}),
        (RESPONSES, {**OPENAI, "output": []}, {"error.not-mixed": MUST}),
    ],
)
def test_envelopes(protocol: Protocol, got: object, expected: dict[str, Level]):
    assert refused(protocol, got) == expected


@pytest.mark.parametrize("status", [403, 404, 405, 413, 502, 529])
def test_envelopes_at_other_statuses_are_held_to_should(status: int):
    assert refused(CHAT, {"detail": "no"}, status) == {"error.envelope": SHOULD}
    assert refused(CHAT, OPENAI, status) == {}


@pytest.mark.parametrize(
    ("status", "kind", "code", "fits"),
    [
        (400, "invalid_request_error", None, True),
        (400, "BadRequestError", None, True),
        (400, "not_found_error", "model_not_found", True),
        (400, "context_length_exceeded", None, True),
        (400, "api_error", None, False),
        (400, "overloaded_error", None, False),
        (400, "something_else", None, True),
        (400, "no_db_connection", "400", True),
        (401, "authentication_error", None, True),
        (401, "invalid_request_error", "invalid_api_key", True),
        (401, "Unauthorized", None, True),
        (401, "invalid_request_error", None, False),
        (401, "permission_error", None, True),
        (401, "server_error", "internal", False),
        (429, "rate_limit_error", None, True),
        (429, "tokens", "rate_limit_exceeded", True),
        (429, "insufficient_quota", "insufficient_quota", True),
        (429, "exceeded_current_quota_error", None, True),
        (429, "engine_overloaded_error", None, True),
        (429, "billing_error", None, True),
        (429, "invalid_request_error", None, False),
        (429, "server_error", None, False),
    ],
)
def test_types_fit_their_status(status: int, kind: str, code: str | None, fits: bool):
    levels = refused(CHAT, error(CHAT, type=kind, code=code), status)
    assert ("error.type-fits-status" not in levels) is fits


@pytest.mark.parametrize(
    ("status", "kind", "fits"),
    [
        (401, "authentication_error", True),
        (400, "authentication_error", False),
        (403, "authentication_error", False),
        (500, "authentication_error", False),
        (403, "permission_error", True),
        (429, "rate_limit_error", True),
        (400, "rate_limit_error", False),
        (503, "rate_limit_error", False),
        (402, "insufficient_balance", False),
        (402, "billing_error", False),
        (403, "insufficient_quota", False),
        (500, "quota_exceeded", False),
        (500, "internal_error", True),
        (529, "overloaded_error", True),
        (404, "not_found_error", True),
    ],
)
@pytest.mark.parametrize("protocol", list(Protocol))
def test_statuses_fit_their_type(protocol: Protocol, status: int, kind: str, fits: bool):
    assert ("error.status-fits-type" not in refused(protocol, error(protocol, type=kind), status)) is fits


def test_words_of_the_message_do_not_count():
    assert refused(CHAT, error(CHAT, "rate limit, quota and api key are fine words"), 400) == {}


@pytest.mark.parametrize("protocol", list(Protocol))
def test_a_200_carries_an_answer(protocol: Protocol):
    sent = body(protocol)
    for got in (error(protocol), OPENAI, ANTHROPIC, {}, [], {"detail": "no"}, {"code": 401, "message": "no"}, "null"):
        assert found(exchange(protocol, sent, 200, got), families=("error",))["error.not-in-success"] is MUST
    fine = {**answer(protocol), "error": None}
    assert found(exchange(protocol, sent, 200, fine), families=("error",)) == {}


def test_a_failed_response_is_an_answer():
    failed = {**answer(RESPONSES), "status": "failed", "error": {"code": "server_error", "message": "no"}, "output": []}
    assert found(exchange(RESPONSES, body(RESPONSES), 200, failed), families=("error",)) == {}


def sse(*events: tuple[str | None, Any]) -> str:
    made = []
    for name, data in events:
        text = data if isinstance(data, str) else json.dumps(data)
        made.append((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
    return "".join(made)


FAILED = {"message": "The service failed", "type": "server_error", "code": None}
CHUNK = {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "a"}}]}
PING = ("ping", {"type": "ping"})
FLAT = {"type": "error", "code": "server_error", "message": "no", "param": None, "sequence_number": 2}
NESTED = {"type": "error", "error": {"type": "api_error", "message": "no"}}
CREATED = ("response.created", {"type": "response.created", "sequence_number": 0, "response": {"status": "queued"}})
ENDED = ("response.failed", {"type": "response.failed", "sequence_number": 3, "response": {"status": "failed"}})
START = ("message_start", {"type": "message_start", "message": {"id": "m", "content": []}})


@pytest.mark.parametrize(
    ("protocol", "events", "fine"),
    [
        (CHAT, [(None, CHUNK), (None, {"error": FAILED})], True),
        (CHAT, [(None, CHUNK), ("error", {"error": FAILED}), (None, "[DONE]")], True),
        (CHAT, [(None, CHUNK), (None, {"error": "no"})], False),
        (CHAT, [(None, CHUNK), (None, NESTED)], False),
        (CHAT, [(None, CHUNK), ("error", FLAT)], False),
        (CHAT, [(None, CHUNK), (None, {"error": FAILED}), (None, CHUNK)], False),
        (MESSAGES, [START, ("error", NESTED)], True),
        (MESSAGES, [START, ("error", NESTED), (None, "[DONE]")], True),
        (MESSAGES, [START, ("error", NESTED), ("message_stop", {"type": "message_stop"})], True),
        (MESSAGES, [START, (None, NESTED)], False),
        (MESSAGES, [START, ("error", {"error": FAILED})], False),
        (MESSAGES, [START, ("error", {"type": "error", "message": "no"})], False),
        (MESSAGES, [START, ("error", NESTED), PING], False),
        (RESPONSES, [CREATED, ("error", FLAT)], True),
        (RESPONSES, [CREATED, (None, FLAT)], True),
        (RESPONSES, [CREATED, ("error", FLAT), ENDED], True),
        (RESPONSES, [CREATED, ("error", {**NESTED, "sequence_number": 1})], True),
        (RESPONSES, [CREATED, ("error", NESTED)], False),
        (RESPONSES, [CREATED, (None, {"error": FAILED})], False),
        (RESPONSES, [CREATED, ("error", FLAT), CREATED], False),
    ],
)
def test_errors_within_streams(protocol: Protocol, events: list[Any], fine: bool):
    levels = found(exchange(protocol, body(protocol, stream=True), 200, sse(*events)), families=("error",))
    assert levels == ({} if fine else {"error.stream-event": SHOULD})


@pytest.mark.parametrize(
    ("protocol", "more", "events"),
    [
        (CHAT, {"max_tokens": 0}, [(None, {"error": FAILED})]),
        (CHAT, {"max_tokens": 0}, [(None, "Invalid request parameters")]),
        (MESSAGES, {"max_tokens": 0}, [("error", NESTED)]),
        (MESSAGES, {"model": "kimi-k3", "stop_sequences": ["x"]}, [("error", NESTED)]),
        (RESPONSES, {"max_output_tokens": 0}, [("error", FLAT)]),
        (RESPONSES, {"max_output_tokens": 0}, [CREATED, ENDED]),
    ],
)
def test_invalid_requests_are_refused_before_the_stream(protocol: Protocol, more: dict[str, Any], events: list[Any]):
    sent = body(protocol, stream=True, **more)
    assert found(exchange(protocol, sent, 200, sse(*events)))["error.before-stream"] is SHOULD
    assert found(exchange(protocol, sent, 400)) == {}
    assert "error.before-stream" not in found(exchange(protocol, body(protocol, stream=True), 200, sse(*events)))


@pytest.mark.parametrize(
    ("text", "dressed"),
    [
        ("Error: 503 Service Unavailable: the upstream provider is disabled.", True),
        ("API Error: 429 too many requests", True),
        ("[upstream error] no answer", True),
        ('{"error": {"message": "bad gateway"}}', True),
        ("Request failed with status code 502", True),
        ("In 1989.", False),
        ("The rain keeps counting on the roof.", False),
    ],
)
@pytest.mark.parametrize("protocol", list(Protocol))
def test_errors_dressed_up_as_answers(protocol: Protocol, text: str, dressed: bool):
    got = answer(protocol, text=text)
    name = "completion_tokens" if protocol is CHAT else "output_tokens"
    assert "error.not-as-text" not in found(exchange(protocol, body(protocol), 200, got))
    got["usage"][name] = 0
    assert ("error.not-as-text" in found(exchange(protocol, body(protocol), 200, got))) is dressed
