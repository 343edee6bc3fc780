"""HAR files as browsers, proxies and recorders write them, and as they go wrong."""

from __future__ import annotations

import base64
import copy
import gzip
import json

import pytest

from conformance.evidence import Recording, Unreadable, parse
from conformance.values import Exchange, Intent, Protocol

URL = "https://gateway.example/kimi/v1/messages?beta=true"
ENTRY = {
    "startedDateTime": "2026-06-14T11:30:00.5+02:00",
    "time": 812.5,
    "request": {
        "method": "POST",
        "url": URL,
        "headers": [{"name": ":path", "value": "/v1/messages"}, {"name": "Authorization", "value": "Bearer REDACTED"}],
        "postData": {"mimeType": "application/json", "text": '{"model":"moonshotai/kimi-k3"}'},
    },
    "response": {
        "status": 200,
        "headers": [{"name": "content-type", "value": "application/json"}],
        "content": {"size": 2, "mimeType": "application/json", "text": "{}"},
    },
}


def entry(**changes: object) -> dict:
    """The entry with values put at dotted paths; None removes."""
    result = copy.deepcopy(ENTRY)
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = result
        for key in parents:
            place = place[key]
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    return result


def har(*entries: object) -> bytes:
    return json.dumps(
        {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": entries}}
    ).encode()


def only(**changes: object) -> Exchange:
    (exchange,) = parse(har(entry(**changes)), "a.har").exchanges
    return exchange


def body(exchange: Exchange) -> bytes:
    return b"".join(chunk.data for chunk in exchange.response.chunks)


def test_an_entry_becomes_an_exchange():
    exchange = only()
    assert (exchange.id, exchange.file, exchange.protocol) == ("1", "a.har", Protocol.MESSAGES)
    assert exchange.model == "kimi-k3"
    assert exchange.started == "2026-06-14T09:30:00.500Z"
    assert exchange.request.headers == (("Authorization", "Bearer REDACTED"),)
    assert exchange.request.body == b'{"model":"moonshotai/kimi-k3"}'
    assert (exchange.response.status, body(exchange), exchange.response.chunks[0].ms) == (200, b"{}", 812.5)
    assert not exchange.live
    assert exchange.failure is None


@pytest.mark.parametrize(
    ("url", "method", "protocol"),
    [
        ("https://h/v1/chat/completions", "POST", Protocol.CHAT),
        ("https://h/v1/responses", "GET", Protocol.RESPONSES),
        ("https://h/api/v1/messages", "post", Protocol.MESSAGES),
    ],
)
def test_each_endpoint_counts_with_any_method(url, method, protocol):
    exchange = only(request__url=url, request__method=method)
    assert exchange.protocol is protocol
    assert exchange.request.method == method.upper()


@pytest.mark.parametrize(
    ("changes", "sent"),
    [
        ({"request__postData": {"text": base64.b64encode(b'{"a":1}').decode(), "encoding": "base64"}}, b'{"a":1}'),
        ({"request__postData": {"text": "no base64!", "encoding": "base64"}}, b"no base64!"),
        ({"request__postData": {"params": [{"name": "a b", "value": "ü"}, 7, {"name": "c"}]}}, b"a+b=%C3%BC&c="),
        ({"request__postData": {}}, b""),
        ({"request__postData": None}, b""),
        ({"request__postData": {"text": "北京 \udc80"}}, "北京 ".encode() + b"\x80"),
    ],
)
def test_request_bodies(changes, sent):
    exchange = only(**changes)
    assert exchange.request.body == sent
    assert exchange.model == "kimi-k3.1-pro", "no model that can be read: the default's cell"


PLAIN = b'{"text":"\xe5\x8c\x97\xe4\xba\xac"}'
GZIPPED = base64.b64encode(gzip.compress(PLAIN)).decode()
GZIP_HEADER = [{"name": "Content-Encoding", "value": "gzip"}]
ENCODED = {"response__content": {"text": base64.b64encode(PLAIN).decode(), "encoding": "base64"}}


@pytest.mark.parametrize(
    ("changes", "received", "failure"),
    [
        ({"response__content": {"text": PLAIN.decode()}}, PLAIN, None),
        (ENCODED, PLAIN, None),
        (ENCODED | {"response__headers": GZIP_HEADER}, PLAIN, None),
        ({"response__content": {"text": GZIPPED, "encoding": "base64"}, "response__headers": GZIP_HEADER}, PLAIN, None),
        (
            {"response__content": {"text": GZIPPED[:40], "encoding": "base64"}, "response__headers": GZIP_HEADER},
            ...,
            "cut",
        ),
        ({"response__content": {"text": "%%%", "encoding": "base64"}}, b"", "cut"),
        ({"response__content": {"text": "\ud800"}}, b"\xed\xa0\x80", None),
        ({"response__content": {"size": 0}}, b"", None),
        ({"response__content": {"size": 40}}, b"", "cut"),
        ({"response__content": None}, b"", "cut"),
        ({"response__content": {"size": 0}, "response__bodySize": 91}, b"", "cut"),
        ({"response__content": {}, "response__headers": [{"name": "Content-Length", "value": "0"}]}, b"", None),
        ({"response___error": "net::ERR_INCOMPLETE_CHUNKED_ENCODING"}, b"{}", "protocol"),
        ({"response__content": {"size": 40, "text": ""}}, b"", "cut"),
        ({"response__content": {"size": 40, "text": "{}"}}, b"{}", "cut"),
        ({"response__content": {"size": 5, "text": "{}"}}, b"{}", None),
        (
            {"response__content": {"text": "{}"}, "response__headers": [{"name": "Content-Length", "value": "40"}]},
            b"{}",
            "cut",
        ),
    ],
)
def test_response_bodies(changes, received, failure):
    exchange = only(**changes)
    assert received is ... or body(exchange) == received
    assert (exchange.failure and exchange.failure.kind) == failure


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"response__status": 0}, "cut"),
        ({"response__status": -1}, "cut"),
        ({"response__status": True}, "cut"),
        ({"response__status": "200"}, "cut"),
        ({"response": None}, "cut"),
        ({"response__status": 0, "response___error": "net::ERR_CONNECTION_RESET"}, "reset"),
        ({"response__status": 0, "response___error": "net::ERR_INTERNET_DISCONNECTED"}, "cut"),
        ({"response__status": 0, "response___error": "Client disconnected."}, "cut"),
        ({"response__status": 0, "response___error": "net::ERR_CONNECTION_REFUSED"}, "refused"),
        ({"response__status": 0, "response___error": "net::ERR_TIMED_OUT"}, "timeout"),
        ({"response__status": 0, "response___error": "net::ERR_ABORTED"}, "cut"),
        ({"response__headers": [{"name": "X-Kimi-Conformance-Proxy", "value": "upstream-unreachable"}]}, "refused"),
    ],
)
def test_a_request_without_an_answer_is_a_failure(changes, kind):
    exchange = only(**changes)
    assert exchange.response is None
    assert exchange.failure.kind == kind


@pytest.mark.parametrize(
    ("changes", "added"),
    [
        ({"request__postData": None, "request__bodySize": 400}, ("Content-Length", "400")),
        ({"request__postData": {"text": ""}, "request__bodySize": 400}, ("Content-Length", "400")),
        ({"request__postData": {"text": '{"model":'}, "request__bodySize": 400}, ("Content-Length", "400")),
        ({"request__postData": None, "request__bodySize": -1}, ("Transfer-Encoding", "chunked")),
        ({"request__postData": None, "request__bodySize": 0}, None),
        ({"request__postData": None, "request__bodySize": -1, "request__method": "GET"}, None),
        ({"request__bodySize": -1}, None),
        ({"request__bodySize": 30}, None),
    ],
)
def test_a_request_body_that_was_left_out_is_told(changes, added):
    assert only(**changes).request.headers[1:] == (() if added is None else (added,))


@pytest.mark.parametrize(("kind", "headers"), [("text/html", (("Content-Type", "text/html"),)), ("x-unknown", ())])
def test_the_media_type_stands_in_for_headers_that_nobody_kept(kind, headers):
    assert only(response__headers=[], response__content__mimeType=kind).response.headers == headers


@pytest.mark.parametrize("changes", [{"comment": "Invalid Key"}, {"request__comment": "sent with an invalid key"}])
def test_a_comment_declares_the_key_invalid(changes):
    assert only(**changes).intents == (Intent.INVALID_KEY,)


def test_an_ordinary_comment_declares_nothing():
    assert only(comment="a valid key").intents == ()


@pytest.mark.parametrize(
    ("started", "expected"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"),
        ("2026-01-01T00:00:00", "2026-01-01T00:00:00.000Z"),
        ("yesterday", None),
        ("0001-01-01T00:00:00+23:00", None),
        (7, None),
    ],
)
def test_start_times_become_utc(started, expected):
    assert only(startedDateTime=started).started == expected


def test_entries_that_are_no_calls_are_counted_with_their_reason():
    recording = parse(
        har(
            entry(request__url="https://h/v1/messages/count_tokens"),
            entry(request__url="https://h/messages", request__method="GET", request__postData=None),
            entry(request__url="https://h/messages", request__postData__text='{"text":"hi"}'),
            entry(request__url="https://h/index.html", request__method="GET"),
            entry(request__method="OPTIONS"),
            None,
            {"request": []},
            entry(),
            entry(request__url="https://h/messages"),
        ),
        "a.har",
    )
    assert [exchange.id for exchange in recording.exchanges] == ["8", "9"]
    assert recording.skipped == {
        "not a call of one of the three endpoints": 5,
        "not a HAR entry: no request with a method and a URL": 2,
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"time": "soon"},
        {"time": 1e300},
        {"request__headers": {"a": "b"}},
        {"request__headers": [None, 5, {"name": 1, "value": 2}, {"name": "a"}]},
        {"response__headers": None},
        {"response__content": "text"},
        {"request__postData": "text"},
        {"request__postData__text": "[" * 100_000},
        {"request__postData__text": '{"model":' + "9" * 5000 + "}"},
    ],
)
def test_values_of_wrong_types_are_taken_as_absent(changes):
    assert only(**changes).protocol is Protocol.MESSAGES


@pytest.mark.parametrize(
    ("creator", "authorized", "added"),
    [("WebInspector", False, True), ("WebInspector", True, False), ("recorder", False, False), (None, False, False)],
)
def test_an_export_of_chromium_that_lost_its_keys_counts_as_redacted(creator, authorized, added):
    bare = entry(request__headers=[])
    entries = [bare, entry() if authorized else bare]
    data = json.dumps({"log": {"creator": {"name": creator}, "entries": entries}}).encode()
    first = parse(data, "a.har").exchanges[0]
    assert (("Authorization", "Bearer REDACTED") in first.request.headers) is added


WHOLE = har(entry())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (WHOLE[:-5], f"cut off: its JSON ends at byte {len(WHOLE) - 5}"),
        (WHOLE[:200], "cut off: its JSON ends at byte 200"),
        (WHOLE[: WHOLE.index(b"812.5") + 2], "cut off"),
        (WHOLE.replace(b'"time":', b'"time"'), "JSON is broken at byte"),
        (WHOLE[:100] + b"\xff" + WHOLE[100:], "a HAR file that is not in UTF-8 at byte 100"),
        (b'{"log":' + b"[" * 200_000, "nested too deeply"),
        (b'{"log":{"entries":[' + b"1" * 5000 + b"]}}", "JSON is broken"),
        (har(), "empty: the HAR file has no entry"),
        (b'{"log":{"version":"1.2"}}', "no list of entries"),
        (b'{"log":[]}', "no list of entries"),
    ],
)
def test_a_broken_file_is_refused_with_its_reason(data, reason):
    with pytest.raises(Unreadable, match=reason) as raised:
        parse(data, "a.har")
    assert raised.value.path == "a.har"


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf" + WHOLE, WHOLE.decode().encode("utf-16")])
def test_a_byte_order_mark_is_no_obstacle(data):
    assert isinstance(parse(data, "a.har"), Recording)


def test_offsets_count_bytes_of_the_file():
    text = '{"log": "北京" 1, "entries": []}'
    for data, offset in (
        (text.encode(), 17),
        (b"\xef\xbb\xbf" + text.encode(), 20),
        (b"\xff\xfe" + text.encode("utf-16-le"), 28),
    ):
        with pytest.raises(Unreadable, match=f"broken at byte {offset} "):
            parse(data, "a.har")
