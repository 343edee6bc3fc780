"""Cassettes as vcrpy and go-vcr write them, and as they go wrong."""

from __future__ import annotations

import base64
import gzip
import json

import pytest
import yaml

from conformance.evidence import Recording, Unreadable, parse
from conformance.values import Exchange

URL = "https://gateway.example/v1/messages"
BODY = '{"id":"msg_1"}'


def vcr(**changes: object) -> dict:
    response = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": BODY}} | changes
    return {"request": {"method": "POST", "uri": URL, "headers": {"A": ["b", "c"]}, "body": "{}"}, "response": response}


def go(**changes: object) -> dict:
    response = {"body": BODY, "headers": {"A": ["b"]}, "status": "200 OK", "code": 200, "duration": ""} | changes
    return {"request": {"method": "post", "url": URL, "body": "{}", "headers": {}}, "response": response}


def cassette(*items: object, **more: object) -> Recording:
    return parse(yaml.safe_dump({"interactions": list(items), "version": 1, **more}).encode(), "c.yaml")


def only(item: dict) -> Exchange:
    (exchange,) = cassette(item).exchanges
    return exchange


def body(exchange: Exchange) -> bytes:
    return b"".join(chunk.data for chunk in exchange.response.chunks)


def test_keys_that_no_request_has_were_taken_away():
    bearer = ("Authorization", "Bearer REDACTED")
    for item in (vcr(), go()):
        assert bearer in only(item).request.headers
    keyed = vcr()
    keyed["request"]["headers"] = {"x-api-key": ["k"]}
    assert not any(bearer in each.request.headers for each in cassette(vcr(), keyed).exchanges)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"body": ""}, ("Transfer-Encoding", "chunked")),
        ({"body": None}, ("Transfer-Encoding", "chunked")),
        ({"body": "", "content_length": 40}, ("Content-Length", "40")),
        ({"body": "", "headers": {"Content-Length": ["0"]}}, None),
        ({"body": "{}", "content_length": 2}, None),
    ],
)
def test_a_request_body_that_was_taken_away_is_told(changes, told):
    item = go()
    item["request"] |= changes
    names = {"content-length", "transfer-encoding"} - {name.lower() for name in changes.get("headers", {})}
    added = [header for header in only(item).request.headers if header[0].lower() in names]
    assert added == ([] if told is None else [told])


def test_headers_of_an_answer_that_were_taken_away_are_those_that_its_body_shows():
    assert only(vcr()).response.headers == (("Content-Type", "application/json"),)
    assert only(vcr(body={"string": "data: {}\n\n"})).response.headers == (("Content-Type", "text/event-stream"),)


CODED = gzip.compress(BODY.encode())
GZIP = {"Content-Encoding": ["gzip"]}


@pytest.mark.parametrize(
    "item",
    [
        vcr(),
        vcr(body={"string": BODY.encode()}),
        vcr(body={"string": CODED}, headers=GZIP),
        vcr(body={"base64_string": base64.b64encode(CODED).decode()}, headers=GZIP),
        vcr(body={"base64_string": base64.b64encode(BODY.encode()).decode()}),
        vcr(body={"encoding": "base64", "string": base64.b64encode(BODY.encode()).decode()}),
        vcr(body={"encoding": "utf-8", "string": BODY}),
        vcr(body=BODY),
        vcr(status=200),
        go(),
        go(body=CODED, headers=GZIP),
        go(headers={"Content-Encoding": "gzip"}, body=CODED),
    ],
)
def test_bodies_in_every_form(item):
    exchange = only(item)
    assert (body(exchange), exchange.failure, exchange.response.status) == (BODY.encode(), None, 200)
    assert (exchange.request.method, exchange.request.url, exchange.request.body) == ("POST", URL, b"{}")


def test_headers_of_several_values_become_several_headers():
    assert only(vcr()).request.headers[:2] == (("A", "b"), ("A", "c"))


@pytest.mark.parametrize(
    ("duration", "ms"),
    [
        ("1.5s", 1500),
        ("250ms", 250),
        ("1m2s", 62_000),
        ("1h", 3.6e6),
        ("90µs", 0.09),
        (2_000_000, 2),
        ("", 0),
        (None, 0),
    ],
)
def test_durations_are_those_of_go(duration, ms):
    assert only(go(duration=duration)).response.chunks[0].ms == pytest.approx(ms)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"body": {"string": CODED[:-12]}, "headers": GZIP}, "cut"),
        ({"body": {"base64_string": "%%%"}}, "cut"),
        ({"status": {}}, "cut"),
        ({"status": None}, "cut"),
        ({"status": {"code": "two hundred"}}, "cut"),
    ],
)
def test_what_was_not_kept_whole_is_a_failure(changes, kind):
    assert cassette(vcr(**changes), vcr()).exchanges[0].failure.kind == kind


def test_vcrpy_tags_of_python_are_read_and_others_refused():
    text = (
        "interactions:\n- request:\n    body: !!python/object/new:_io.BytesIO\n      state: !!python/tuple\n"
        f"      - !!binary {base64.b64encode(b'{}').decode()}\n      - 0\n      - null\n"
        f"    headers: {{}}\n    method: POST\n    uri: {URL}\n"
        "  response:\n    body: {string: !!python/unicode 'x'}\n    headers: {}\n    status: {code: 200}\nversion: 1\n"
    )
    (exchange,) = parse(text.encode(), "c").exchanges
    assert (exchange.request.body, body(exchange)) == (b"{}", b"x")
    harm = text.replace("!!python/unicode 'x'", "!!python/object/apply:os.getcwd []")
    with pytest.raises(Unreadable, match="YAML is broken"):
        parse(harm.encode(), "c")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("interactions: []\nversion: 1\n", "empty: the cassette has no interaction"),
        ("interactions:\nversion: 1\n", "a cassette without a list of interactions"),
        ("interactions:\n- {a: b\n", "YAML is broken"),
        ("interactions:\n- &a [*a, *a]\nversion: 1\n", "an alias, which no cassette has"),
        ("interactions:\n- " + "[" * 200 + "]" * 200 + "\n", "nested too deeply"),
        ('{"interactions": [}', "JSON is broken at byte 18"),
        ('{"version": 1, "interactions": [' + "[" * 200_000, "JSON cannot be read"),
    ],
)
def test_a_broken_cassette_is_refused_with_its_reason(text, reason):
    with pytest.raises(Unreadable, match=reason) as raised:
        parse(text.encode(), "c.yaml")
    assert raised.value.path == "c.yaml"


@pytest.mark.parametrize("item", [None, 7, {}, {"request": []}, {"request": {"method": 1, "uri": 2}}, "text"])
def test_entries_that_are_no_interactions_are_counted(item):
    recording = cassette(item, vcr())
    assert len(recording.exchanges) == 1
    assert sum(recording.skipped.values()) == 1


def test_a_json_cassette_of_go_vcr_is_told_from_one_of_vcrpy():
    for item, family in ((go(), "go-vcr"), (vcr(), "vcrpy")):
        data = json.dumps({"version": 2, "interactions": [item]}).encode()
        assert parse(data, "c").format == family
