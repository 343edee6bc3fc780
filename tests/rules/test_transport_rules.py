from __future__ import annotations

import json
from typing import Any

import pytest
from made_exchanges import KEY, answer, body, error, exchange, found

from conformance.values import Intent, Level, Protocol

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES
MUST, SHOULD = Level.MUST, Level.SHOULD
HTML = "<html><body><h1>502 Bad Gateway</h1></body></html>"
BARE = {"Content-Type": "application/json"}


@pytest.mark.parametrize("protocol", list(Protocol))
def test_a_request_without_a_key_must_get_401(protocol: Protocol):
    sent = body(protocol)
    right = error(protocol, "API key is missing", type="authentication_error")
    assert found(exchange(protocol, sent, 401, right, headers=BARE)) == {}
    assert found(exchange(protocol, sent, 401, right, headers={**BARE, "x-api-key": "REDACTED"})) == {}
    for status in (200, 400, 500):
        assert found(exchange(protocol, sent, status, headers=BARE))["http.auth.missing-key"] is MUST
    for status in (403, 404, 429, 503):
        assert "http.auth.missing-key" not in found(exchange(protocol, sent, status, headers=BARE))
    plain = found(exchange(protocol, sent, 401, "Unauthorized", headers=BARE))
    assert plain["http.auth.missing-key"] is plain["error.envelope"] is MUST


def test_an_invalid_request_without_a_key_may_get_400():
    assert found(exchange(CHAT, body(CHAT, max_tokens=0), 400, headers=BARE)) == {}
    assert found(exchange(CHAT, b"{", 400, headers=BARE)) == {}


@pytest.mark.parametrize(
    "value",
    ["Basic REDACTED", "REDACTED", "Basic dXNlcjpwYXNzd29yZA==", "Token abc", "Token REDACTED", "Key ***", "Bearer"],
)
def test_another_scheme_should_get_401(value: str):
    headers = {**BARE, "Authorization": value}
    assert found(exchange(CHAT, body(CHAT), 200, headers=headers)) == {"http.auth.wrong-scheme": SHOULD}
    right = error(CHAT, type="authentication_error")
    assert found(exchange(CHAT, body(CHAT), 401, right, headers=headers)) == {}


@pytest.mark.parametrize(
    "value",
    [
        *("***", "[redacted]", "<API_KEY>", "**FILTERED**", "xxxxxxxx", "Bearer REDACTED", "bearer x", "sk-***"),
        *("[authorization redacted]", "redacted by har-sanitizer", "<your key here>", "omitted", "•••••"),
    ],
)
def test_a_placeholder_for_the_whole_header_says_nothing(value: str):
    assert found(exchange(CHAT, body(CHAT), 200, headers={**BARE, "Authorization": value})) == {}


def test_a_redacted_key_is_never_a_wrong_one():
    right = error(CHAT, type="authentication_error")
    assert found(exchange(CHAT, body(CHAT), 401, right)) == {}
    assert found(exchange(CHAT, body(CHAT), 200, intents=(Intent.INVALID_KEY,)))["http.auth.invalid-key"] is MUST


@pytest.mark.parametrize(
    ("echo", "seen"),
    [
        ("sk-4f2a9c7e11", True),
        ("c2stNGYyYTljN2UxMQ", True),
        ("[key redacted]", True),
        ("sk-4f***e11", False),
        ("REDACTED", False),
    ],
)
def test_the_key_comes_back_nowhere(echo: str, seen: bool):
    headers = {**KEY, "Authorization": "Bearer sk-4f2a9c7e11"}
    got = error(CHAT, f"The key {echo} is invalid", type="authentication_error")
    assert ("http.key-not-echoed" in found(exchange(CHAT, body(CHAT), 401, got, headers=headers))) is seen
    in_header = exchange(CHAT, body(CHAT), headers=headers, answered={"X-Seen": f"<{echo}>"})
    assert ("http.key-not-echoed" in found(in_header)) is seen


def test_a_key_that_the_prompt_repeats_is_no_leak():
    sent = body(CHAT, messages=[{"role": "user", "content": "Repeat [key redacted] and sk-4f2a9c7e11."}])
    got = answer(CHAT, text="[key redacted] and sk-4f2a9c7e11")
    assert found(exchange(CHAT, sent, 200, got, headers={**KEY, "Authorization": "Bearer sk-4f2a9c7e11"})) == {}


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("status", [502, 503, 504])
@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_a_page_of_a_proxy_is_a_warning_at_most(protocol: Protocol, status: int, kind: str):
    levels = found(exchange(protocol, body(protocol), status, HTML, answered={"Content-Type": kind}))
    assert MUST not in levels.values()
    assert levels.keys() <= {"http.status.documented", "error.envelope", "http.body.json"}


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_page_of_the_service_is_a_must(protocol: Protocol, status: int):
    levels = found(exchange(protocol, body(protocol), status, HTML, answered={"Content-Type": "text/html"}))
    assert {"http.content-type.error", "http.body.json", "error.envelope"} <= {
        k for k, v in levels.items() if v is MUST
    }


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("{}", True),
        (' \r\n{"a": 1}\n', True),
        ('{"a": 1} x', False),
        ('{"a": NaN}', False),
        ('{"a": 1', False),
        ('\ufeff{"a": 1}', False),
        ("", False),
        ("null", True),
    ],
)
def test_bodies_are_one_json_value(text: str, fine: bool):
    levels = found(exchange(CHAT, body(CHAT), 200, text, answered={"Content-Type": "application/json"}))
    assert ("http.body.json" not in levels) is fine
    cut = exchange(CHAT, body(CHAT), 200, text, answered={"Content-Type": "application/json"}, failure="reset")
    assert "http.body.json" not in found(cut)


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/json;charset=UTF-8"]
)
def test_parameters_of_media_types_are_fine(kind: str):
    assert found(exchange(CHAT, body(CHAT), answered={"Content-Type": kind})) == {}


SSE = 'data: {"id": "x"}\n\ndata: [DONE]\n\n'


@pytest.mark.parametrize(
    ("stream", "got", "kind", "expected"),
    [
        (True, SSE, "text/event-stream; charset=utf-8", set()),
        (True, SSE, "application/json", {"http.content-type.event-stream"}),
        (True, None, "application/json", {"http.content-type.event-stream", "http.stream.flag-honoured"}),
        (True, None, "text/event-stream", {"http.stream.flag-honoured"}),
        (False, SSE, "text/event-stream", {"http.content-type.json", "http.stream.flag-honoured"}),
        (..., SSE, "text/event-stream", {"http.content-type.json", "http.stream.flag-honoured"}),
        (False, None, "text/event-stream", {"http.content-type.json"}),
    ],
)
def test_the_stream_flag_decides(stream: Any, got: str | None, kind: str, expected: set[str]):
    levels = found(
        exchange(CHAT, body(CHAT, stream=stream), 200, got, answered={"Content-Type": kind}), families=("http",)
    )
    assert levels == dict.fromkeys(expected, MUST)


def test_a_stream_that_was_put_together_by_its_recorder_breaks_no_flag():
    put_together = exchange(CHAT, body(CHAT, stream=True), 200, failure="cut")
    assert found(put_together, families=("http",)) == {}


@pytest.mark.parametrize("status", [101, 200, 301, 400, 401, 404, 405, 500, 501, 503])
def test_get_should_get_a_4xx(status: int):
    got = {"object": "list", "data": []} if status == 200 else None
    levels = found(exchange(MESSAGES, b"", status, got, method="GET"), families=("http",))
    assert ("http.method-rejected" in levels) is (status in (200, 301, 500, 501))
    assert levels.keys() <= {"http.method-rejected", "http.status.documented"}


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_are_not_judged(method: str):
    assert found(exchange(MESSAGES, b"", 405, method=method)) == {}


def test_repeated_keys_are_told_in_bodies_and_events():
    text = json.dumps(answer(CHAT))[:-1] + ', "model": "kimi-k3.1-pro"}'
    assert found(exchange(CHAT, body(CHAT), 200, text))["http.body.no-duplicate-keys"] is SHOULD
    event = 'data: {"id": "x", "id": "x", "choices": []}\n\n'
    assert found(exchange(CHAT, body(CHAT, stream=True), 200, event))["http.body.no-duplicate-keys"] is SHOULD


@pytest.mark.parametrize(
    "message",
    [
        'Traceback (most recent call last):\n  File "/srv/app/main.py", line 3, in run',
        'error in File "x.py", line 12',
        "x is undefined\n    at convert (/app/dist/translate.js:88:31)",
        "at async Server.handle (file:///app/server.mjs:4:1)",
        "java.lang.NullPointerException at com.acme.Gateway.call(Gateway.java:120)",
        'Exception in thread "main"',
        "panic: runtime error [recovered] goroutine 12 [running]",
        "relay/channel.go:311 do request failed",
        "thread 'main' panicked at src/main.rs:2:5",
        "at Gateway.Call() in C:\\app\\Gateway.cs:line 9",
        "app/models/user.rb:12:in `find'",
        "Uncaught Error in /var/www/index.php on line 7",
        "ENOENT: /usr/src/app/config/keys.js",
        "/opt/venv/lib/python3.11/site-packages/httpx/_client.py",
        "connect ECONNREFUSED 10.2.3.4:8000",
        "getaddrinfo ENOTFOUND upstream",
        "dial tcp: lookup kimi: no such host",
        "HTTPConnectionPool(host='kimi', port=80): Max retries exceeded",
        "upstream kimi-7.internal:9000 failed",
        "no answer from inference.prod.svc",
        "bad response from https://api.other.example/v1/chat/completions",
        "bad response from http://kimi:8000/health",
    ],
)
@pytest.mark.parametrize("protocol", [CHAT, MESSAGES])
def test_internals_in_errors_are_found(protocol: Protocol, message: str):
    got = error(protocol, message)
    assert "http.no-internals-leaked" in found(exchange(protocol, body(protocol, max_tokens=0), 400, got))


@pytest.mark.parametrize(
    "message",
    [
        "Invalid request parameters: max_tokens must be at least 1",
        "The body is not valid JSON at line 3 column 12",
        "See https://docs.evolink.ai/errors/v1 for help",
        "See https://platform.example.com/docs",
        "Unexpected token at position 5 (try again at 12:30:05)",
        "errors.internal: please try again",
        "messages.0.content.1: expected object",
        "Rate limit exceeded for 10.2.3.4",
        "the tool named at x failed",
        "Version 1.2.3.4 is not supported",
        "trace id 4bf92f3577b34da6a3ce929d0e0e4736",
    ],
)
def test_ordinary_messages_leak_nothing(message: str):
    assert found(exchange(CHAT, body(CHAT, max_tokens=0), 400, error(CHAT, message))) == {}


def test_what_the_request_holds_itself_is_no_leak():
    url = "http://10.0.0.7:9000/cat.png"
    part = {"type": "image_url", "image_url": {"url": url}}
    sent = body(CHAT, messages=[{"role": "user", "content": [part]}])
    assert found(exchange(CHAT, sent, 400, error(CHAT, f"cannot fetch {url}"))) == {}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (200, 200, False),
        (400, 400, False),
        (200, 400, True),
        (422, 400, False),
        (200, 429, False),
        (200, 500, False),
        (400, 404, False),
    ],
)
@pytest.mark.parametrize("protocol", list(Protocol))
def test_both_base_urls_decide_alike(protocol: Protocol, first: int, second: int, expected: bool):
    sent = body(protocol)
    pair = (exchange(protocol, sent, first), exchange(protocol, sent, second, host="https://api.evolink.ai"))
    assert ("http.base-urls.agree" in found(*pair)) is expected


@pytest.mark.parametrize("failure", ["refused", "timeout", "reset", "cut"])
def test_no_response_finds_nothing(failure: str):
    for protocol in Protocol:
        assert found(exchange(protocol, body(protocol), None, failure=failure)) == {}
        assert found(exchange(protocol, body(protocol), None, failure=failure, headers=BARE)) == {}
        assert found(exchange(protocol, b"{", None, failure=failure)) == {}
