"""JSONL logs: where the parts stand, what is missing, and what is no log."""

from __future__ import annotations

import json

import pytest

from conformance.evidence import BadMap, Reading, Unreadable, field_map, parse
from conformance.values import Exchange, Protocol

ASKED = {"model": "kimi-k3", "messages": [{"role": "user", "content": "Hi"}]}
CHAT = {"id": "c", "object": "chat.completion", "choices": []}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "content": []}
RESPONSE = {"id": "r", "object": "response", "output": []}


def read(*records: object, maps: str = ""):
    data = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    return parse(data, "a.jsonl", Reading(fields=field_map([maps])))


def only(record: object, maps: str = "") -> Exchange:
    (exchange,) = read(record, maps=maps).exchanges
    return exchange


def body(exchange: Exchange) -> bytes:
    return b"".join(chunk.data for chunk in exchange.response.chunks)


@pytest.mark.parametrize(
    "record",
    [
        {"request": {"url": "/v1/chat/completions", "body": ASKED}, "response": {"status": 200, "body": CHAT}},
        {
            "req": {"url": "/v1/chat/completions", "body": json.dumps(ASKED)},
            "res": {"statusCode": 200, "body": json.dumps(CHAT)},
        },
        {"url": "https://h/v1/chat/completions", "request": ASKED, "response": CHAT, "status": 200},
        {"path": "v1/chat/completions", "request_body": ASKED, "response_body": CHAT, "response_status": "200 OK"},
        {"request": ASKED, "response": CHAT},
        {"input": ASKED, "output": CHAT, "model": "x"},
    ],
)
def test_usual_places_are_found(record):
    exchange = only(record)
    assert (exchange.protocol, exchange.model, exchange.response.status) == (Protocol.CHAT, "kimi-k3", 200)
    assert json.loads(exchange.request.body) == ASKED
    assert json.loads(body(exchange)) == CHAT


@pytest.mark.parametrize(
    ("said", "protocol"),
    [
        (CHAT, Protocol.CHAT),
        (MESSAGE, Protocol.MESSAGES),
        (RESPONSE, Protocol.RESPONSES),
        ('data: {"object":"chat.completion.chunk"}\n\ndata: [DONE]\n\n', Protocol.CHAT),
    ],
)
def test_the_answer_tells_the_endpoint_where_the_log_has_no_url(said, protocol):
    assert only({"request": ASKED, "response": said}).protocol is protocol


def test_a_map_names_places_also_with_dots_in_keys_and_into_lists():
    record = {
        "http.sent": {"b": ASKED},
        "tries": [{"got": CHAT, "code": 503}, {"got": CHAT, "code": 200}],
        "to": "/v1/chat/completions",
    }
    exchange = only(record, "request=http.sent.b, response=tries.1.got ,status=tries.1.code,url=to")
    assert exchange.response.status == 200
    assert exchange.request.url == "http://log.invalid/v1/chat/completions"


def test_a_stream_in_pieces_is_joined():
    exchange = only(
        {"request": ASKED, "response": ['data: {"object":"chat.completion.chunk"}\n\n', "data: [DONE]\n\n"]}
    )
    assert body(exchange).endswith(b"\n\ndata: [DONE]\n\n")
    assert exchange.response.headers == (("Content-Type", "text/event-stream"),)


def test_what_a_log_does_not_keep_is_not_held_against_anybody():
    exchange = only({"request": ASKED, "response": CHAT})
    assert exchange.request.headers[0] == ("Authorization", "Bearer REDACTED")
    assert exchange.response.headers == (("Content-Type", "application/json"),)


def test_a_key_that_no_line_has_was_taken_away():
    bearer = ("Authorization", "Bearer REDACTED")
    bare = {"request": {"body": ASKED, "headers": {"A": "b"}}, "response": {"body": CHAT, "status": 200}}
    keyed = {"request": {"body": ASKED, "headers": {"X-Api-Key": "k"}}, "response": {"body": CHAT, "status": 200}}
    assert all(bearer in each.request.headers for each in read(bare, bare).exchanges)
    assert not any(bearer in each.request.headers for each in read(bare, keyed).exchanges)


@pytest.mark.parametrize(
    "asked", [None, "[omitted]", "<request body not logged>", '{"model":"kimi-k3","mess… [truncated]']
)
def test_a_request_that_was_left_out_is_told_and_its_model_is_that_of_the_answer(asked):
    exchange = only({"url": "/v1/chat/completions", "request": asked, "response": CHAT | {"model": "kimi-k3"}})
    assert exchange.request.body == b""
    assert ("Transfer-Encoding", "chunked") in exchange.request.headers
    assert exchange.model == "kimi-k3"


@pytest.mark.parametrize(
    "said", [None, "[omitted]", "(body too large: 1234567 bytes)", '{"id":"c","obj... (991 more bytes)']
)
def test_an_answer_that_was_left_out_is_cut(said):
    exchange = only({"url": "/v1/chat/completions", "request": ASKED, "response": said, "status": 200})
    assert exchange.failure.kind == "cut"
    assert exchange.response.chunks == ()


@pytest.mark.parametrize("said", ["Bad Gateway", '{"id":"c"', '{"text":"and so on..."}', "…", "upstream error: {}..."])
def test_other_texts_are_answers(said):
    exchange = only({"url": "/v1/chat/completions", "request": ASKED, "response": said, "status": 502})
    assert (body(exchange).decode() == said) is (said not in ("…", "upstream error: {}..."))


def test_a_page_without_headers_is_one_of_markup():
    exchange = only({"url": "/v1/chat/completions", "request": ASKED, "response": "<html></html>", "status": 502})
    assert exchange.response.headers == (("Content-Type", "text/html"),)


CHUNK = {"object": "chat.completion.chunk"}


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ([CHUNK, CHUNK], f"data: {json.dumps(CHUNK)}\n\n" * 2 + "data: [DONE]\n\n"),
        ([{"type": "ping"}], 'event: ping\ndata: {"type": "ping"}\n\n'),
        ([{"event": "ping", "data": {"type": "ping"}}], 'event: ping\ndata: {"type": "ping"}\n\n'),
        (["data: {}", "data: [DONE]"], "data: {}\n\ndata: [DONE]\n\n"),
        (["event: a\ndata: {}", "event: b\ndata: {}"], "event: a\ndata: {}\n\nevent: b\ndata: {}\n\n"),
        (["event: a", "data: {}", "", "data: {}", ""], "event: a\ndata: {}\n\ndata: {}\n\n\n"),
        (["{}", "[DONE]"], "data: {}\n\ndata: [DONE]\n\n"),
        (["data: {", '"a":1}\n\n'], 'data: {"a":1}\n\n'),
    ],
)
def test_a_stream_in_pieces_of_any_kind_is_joined(said, text):
    streamed = ASKED | {"stream": True}
    assert body(only({"url": "/v1/chat/completions", "request": streamed, "response": said})).decode() == text


def test_what_a_stream_amounted_to_is_no_recording_of_it():
    streamed = ASKED | {"stream": True}
    assert only({"request": streamed, "response": CHAT}).failure.kind == "cut"
    assert only({"request": streamed, "response": json.dumps(CHAT)}).failure is None
    kept = {"headers": {"content-type": "application/json"}, "body": CHAT, "status": 200}
    assert only({"request": streamed, "response": kept}).failure is None
    assert only({"request": ASKED, "response": CHAT}).failure is None


def test_the_status_of_a_responses_object_is_none_of_http():
    exchange = only({"request": ASKED, "response": RESPONSE | {"status": "completed"}})
    assert exchange.response.status == 200
    assert (
        only({"request": ASKED, "response": RESPONSE | {"status": "incomplete"}, "status": 201}).response.status == 201
    )


def test_headers_that_were_kept_stay_as_they_are():
    record = {
        "request": {"body": ASKED, "headers": {"A": "b", "authorization": "[redacted]"}},
        "response": {"body": CHAT, "headers": {"X": ["1", 2]}, "status": 200},
    }
    exchange = only(record)
    assert exchange.request.headers == (("A", "b"), ("authorization", "[redacted]"))
    assert exchange.response.headers == (("X", "1"), ("X", "2"))


@pytest.mark.parametrize(
    "record",
    [
        {"request": ASKED, "response": {"error": {"message": "m"}}, "url": "/v1/responses"},
        {"request": ASKED, "url": "/v1/responses"},
        {"request": ASKED, "response": CHAT, "status": "failed"},
    ],
)
def test_an_answer_without_a_status_says_nothing_of_one(record):
    exchange = only(record)
    assert exchange.response is None
    assert exchange.failure.kind == "cut"


@pytest.mark.parametrize(
    ("value", "started"),
    [
        ("2026-06-14T11:31:00+02:00", "2026-06-14T09:31:00.000Z"),
        (1781429460, "2026-06-14T09:31:00.000Z"),
        (1781429460500, "2026-06-14T09:31:00.500Z"),
        (True, None),
        (1e300, None),
        ("soon", None),
        (12, None),
    ],
)
def test_times_are_read(value, started):
    assert only({"request": ASKED, "response": CHAT, "timestamp": value}).started == started


def test_lines_that_are_no_exchanges_are_counted_with_their_reason():
    recording = read({"request": ASKED, "response": CHAT}, {"level": "info"}, {"url": "/v1/models", "request": {}})
    assert [exchange.id for exchange in recording.exchanges] == ["1"]
    assert len(recording.skipped) == 2
    assert sum(recording.skipped.values()) == 2


@pytest.mark.parametrize("line", [b"not json", b"[1]", b'"text"', b'{"request": ' + b"[" * 100_000, b"\xff\xfe"])
def test_broken_lines_within_a_log_are_counted(line):
    good = json.dumps({"request": ASKED, "response": CHAT}).encode()
    recording = parse(good + b"\n" + line + b"\n" + good + b"\n", "a")
    assert [exchange.id for exchange in recording.exchanges] == ["1", "3"]
    assert recording.skipped == {"not a JSON object": 1}


def test_lines_without_any_exchange_are_no_log():
    with pytest.raises(Unreadable, match=r"no request and response .* --map says where they are; expected a HAR file"):
        read({"level": "info"}, {"level": "info"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("requst=a", "'requst' is no part of an exchange; did you mean request"),
        ("zzz=a", "expected one of request, response"),
        ("request", "expected PART=PATH, as in request=req.body, got 'request'"),
        ("request=", "expected PART=PATH"),
        ("request=a,request=b", "request is given twice"),
    ],
)
def test_a_map_that_cannot_be_used_is_refused(text, reason):
    with pytest.raises(BadMap, match=reason):
        field_map([text])
