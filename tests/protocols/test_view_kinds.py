"""What a response is by its content, and which error it carries."""

from __future__ import annotations

from typing import Any

import pytest
from view_wire import CHAT, JSON, MESSAGES, RESPONSES, SSE, answer, chat_body, exchange, messages_body, responses_body
from view_wire import stream as wire

from conformance.protocols import MISSING, Finish, Kind, read
from conformance.values import Exchange, Failure, Protocol

CHAT_ERROR = {"error": {"message": "No.", "type": "invalid_request_error", "code": None}}
MESSAGES_ERROR = {"type": "error", "error": {"type": "api_error", "message": "No."}, "request_id": "req_1"}
EVENT_ERROR = {"type": "error", "code": "server_error", "message": "No.", "param": None}


@pytest.mark.parametrize(
    ("body", "media_type", "status", "kind"),
    [
        (b"{}", JSON, 200, Kind.JSON),
        (b"{}", "application/problem+json", 400, Kind.JSON),
        (b"{}", "text/html", 200, Kind.JSON),
        (b" \n[1]", None, 200, Kind.JSON),
        (b"\xef\xbb\xbf{}", "text/plain", 200, Kind.JSON),
        (b"{}", SSE, 200, Kind.JSON),
        (b"nope", JSON, 200, Kind.JSON),
        (b"nope", JSON, 502, Kind.JSON),
        (b"<html>", "text/html", 502, Kind.TEXT),
        (b"nope", None, 200, Kind.TEXT),
        (b"nope", SSE, 200, Kind.STREAM),
        (b"nope", SSE, 500, Kind.TEXT),
        (b"data: {}\n\n", SSE, 200, Kind.STREAM),
        (b"data: {}\n\n", JSON, 200, Kind.STREAM),
        (b"data:{}\n\n", None, 200, Kind.STREAM),
        (b"\xef\xbb\xbf\r\n: hi\n\ndata: {}\n\n", "text/plain", 200, Kind.STREAM),
        (b"event: error\ndata: {}\n\n", SSE, 500, Kind.STREAM),
        (b"id: 1\ndata: {}\n\n", None, 200, Kind.STREAM),
        (b"", JSON, 200, Kind.EMPTY),
        (b" \n", JSON, 200, Kind.EMPTY),
        (b"", SSE, 200, Kind.STREAM),
        (b"", SSE, 500, Kind.EMPTY),
    ],
)
def test_the_kind_is_told_by_the_content(body: bytes, media_type: str | None, status: int, kind: Kind) -> None:
    assert answer(CHAT, body, media_type=media_type, status=status).kind is kind


def test_no_response_is_no_answer() -> None:
    asked = exchange(CHAT)
    none = Exchange(
        id="x",
        protocol=CHAT,
        model="kimi-k3",
        request=asked.request,
        failure=Failure(kind="refused", message="connection refused"),
    )
    view = read(none)
    assert (view.kind, view.status, view.broken, view.ok, view.complete) == (Kind.NONE, None, "refused", False, False)
    assert (view.body, view.raw, view.value, view.error) == (None, b"", MISSING, None)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "the body is empty"),
        (b'{"a": 1', "expecting ',' delimiter at byte 7"),
        (b"\xef\xbb\xbf{}", "a byte order mark stands before the JSON value, at byte 0"),
        (b"{}", None),
    ],
)
def test_a_body_that_is_no_json_says_why(body: bytes, error: str | None) -> None:
    view = answer(CHAT, body)
    assert view.json_error == error
    assert (view.value is MISSING) == (not view.complete)


def test_media_type_and_headers_are_read_whatever_their_case() -> None:
    view = answer(CHAT, {}, media_type="Application/JSON ; charset=utf-8")
    assert view.media_type == "application/json"
    assert view.header("CONTENT-TYPE") == "Application/JSON ; charset=utf-8"
    assert view.header("date") is None


@pytest.mark.parametrize(
    ("protocol", "status", "body", "shape", "message"),
    [
        (CHAT, 400, CHAT_ERROR, "openai", "No."),
        (MESSAGES, 400, CHAT_ERROR, "openai", "No."),
        (CHAT, 401, MESSAGES_ERROR, "anthropic", "No."),
        (MESSAGES, 429, MESSAGES_ERROR, "anthropic", "No."),
        (RESPONSES, 500, EVENT_ERROR, "responses", "No."),
        (CHAT, 200, CHAT_ERROR, "openai", "No."),
        (RESPONSES, 200, CHAT_ERROR, "openai", "No."),
        (CHAT, 200, {**chat_body({"content": "a"}), **CHAT_ERROR}, "openai", "No."),
        (CHAT, 400, {"error": "No."}, "other", "No."),
        (CHAT, 422, {"detail": "No."}, "other", "No."),
        (CHAT, 404, {"message": "No.", "code": 5}, "other", "No."),
        (CHAT, 400, {"error": None}, "other", MISSING),
        (MESSAGES, 400, {"type": "error", "error": "No."}, "other", MISSING),
        (CHAT, 200, {"object": "error", "message": "No."}, "other", "No."),
        (CHAT, 500, {"error": {"message": ["No."]}}, "openai", ["No."]),
        (CHAT, 500, {}, "other", MISSING),
    ],
)
def test_errors_are_recognised_by_shape(
    protocol: Protocol, status: int, body: Any, shape: str, message: object
) -> None:
    view = answer(protocol, body, status=status)
    assert view.error is not None
    assert (view.error.shape, view.error.message, view.error.event) == (shape, message, None)
    assert not view.ok


@pytest.mark.parametrize(
    ("protocol", "status", "body"),
    [
        (CHAT, 200, chat_body({"content": "a"})),
        (CHAT, 200, {**chat_body({"content": "a"}), "error": None}),
        (RESPONSES, 200, responses_body([], error=None)),
        (RESPONSES, 200, responses_body([], "failed", error={"code": "x", "message": "No."})),
        (MESSAGES, 200, messages_body([{"type": "text", "text": "error"}])),
        (CHAT, 500, "error"),
        (CHAT, 500, ["error"]),
        (CHAT, 500, b"<html>error</html>"),
        (CHAT, 200, {}),
    ],
)
def test_what_is_no_error_object_is_none(protocol: Protocol, status: int, body: Any) -> None:
    assert answer(protocol, body, status=status).error is None


@pytest.mark.parametrize(
    ("protocol", "events", "shape", "number"),
    [
        (CHAT, [{"choices": []}, CHAT_ERROR, "[DONE]"], "openai", 1),
        (CHAT, [MESSAGES_ERROR], "anthropic", 0),
        (MESSAGES, [{"type": "ping"}, MESSAGES_ERROR], "anthropic", 1),
        (MESSAGES, [CHAT_ERROR], "openai", 0),
        (RESPONSES, [{"type": "response.created", "response": {"error": None}}, EVENT_ERROR], "responses", 1),
        (RESPONSES, [CHAT_ERROR], "openai", 0),
        (RESPONSES, [{"type": "error", "error": {"message": "No."}}], "anthropic", 0),
    ],
)
def test_errors_in_streams_are_recognised(protocol: Protocol, events: list[Any], shape: str, number: int) -> None:
    view = answer(protocol, wire(protocol, events), media_type=SSE)
    assert view.error is not None
    assert (view.error.shape, view.error.event, view.error.message) == (shape, number, "No.")
    assert not view.ok


def test_an_event_named_error_is_an_error_whatever_its_data() -> None:
    view = answer(MESSAGES, b"event: error\ndata: oops\n\n", media_type=SSE)
    assert view.error is not None
    assert (view.error.shape, view.error.raw, view.error.event) == ("other", "oops", 0)


def test_a_failed_response_is_no_error_but_a_status() -> None:
    failed = responses_body([], "failed", error={"code": "x", "message": "No."})
    view = answer(RESPONSES, wire(RESPONSES, [{"type": "response.failed", "response": failed}]), media_type=SSE)
    assert (view.error, view.ending, view.complete, view.finish) == (None, Finish.FAILED, True, "failed")


def test_a_broken_transport_is_told_beside_what_came() -> None:
    cut = Failure(kind="reset", message="connection reset")
    view = answer(CHAT, wire(CHAT, [{"choices": [{"index": 0, "delta": {"content": "a"}}]}]), failure=cut)
    assert (view.broken, view.text, view.complete, view.normal) == ("reset", "a", False, False)


def test_repeated_keys_are_told_in_bodies_and_events() -> None:
    assert answer(CHAT, b'{"id": 1, "id": 2}').duplicate_keys == ("/id",)
    view = answer(CHAT, b'data: {}\n\ndata: {"choices": [{"index": 0, "index": 1}]}\n\n')
    assert view.duplicate_keys == ("event 1/choices/0/index",)


def test_only_a_200_has_a_body() -> None:
    assert answer(CHAT, chat_body({"content": "a"}), status=201).body is None
    assert answer(CHAT, [1]).body is None
    assert answer(CHAT, [1]).value == [1]
