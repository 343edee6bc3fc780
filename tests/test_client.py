from __future__ import annotations

import gzip
import itertools
import re
import socket
import sys
import threading
import time
import tracemalloc
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace

import brotli
import hostile_servers as servers
import pytest
import zstandard

from conformance.client import BadTarget, Client, Limits, Player, Stopped, preflight, resolve, sender
from conformance.client.budget import Allowance, Budget, Spent
from conformance.client.player import LONG, MOST_IN_VAIN
from conformance.client.sender import LONGEST_WAIT
from conformance.client.targets import API, DIRECT, LOCAL_KEY, Target
from conformance.probes import answers
from conformance.probes.cell import Cell
from conformance.probes.script import Credentials, Place, Script, Step
from conformance.values import Exchange, Intent, Protocol

PATIENT = Limits(timeout=servers.PATIENCE, total_timeout=2 * servers.PATIENCE, retries=0)
CELL = Cell(protocol=Protocol.CHAT, model="kimi-k3.1-pro", seed=1)


def draft(client: Client, body: bytes = b"{}", **options: object) -> Exchange:
    request = client.request("/v1/chat/completions", body)
    return Exchange(id="one", protocol=Protocol.CHAT, model="kimi-k3.1-pro", request=request, **options)


def sent(handler: servers.Handler, limits: Limits = PATIENT, body: bytes = b"{}") -> Exchange:
    with servers.serving(handler) as server, Client(server.url, "sk-test-key", limits) as client:
        return client.send(draft(client, body))[-1]


def timed_out(handler: servers.Handler, *, answered: bool) -> tuple[Exchange, float]:
    """What a server that never ends leaves of an exchange, after it ``answered``; the limit in seconds."""
    for seconds in servers.SHORT:
        exchange = sent(handler, Limits(timeout=seconds, total_timeout=2 * seconds, retries=0))
        if answered == (exchange.response is not None and text(exchange) != b""):
            break
    return exchange, 2 * seconds


def text(exchange: Exchange) -> bytes:
    assert exchange.response is not None
    return b"".join(chunk.data for chunk in exchange.response.chunks)


def test_the_request_carries_the_key_the_content_type_and_what_http_needs() -> None:
    seen: list[bytes] = []

    def answer(connection: servers.Connection, request: bytes) -> None:
        seen.append(request)
        connection.answer(200, b"{}")

    exchange = sent(servers.always(answer))
    head = seen[0].partition(b"\r\n\r\n")[0].decode().split("\r\n")
    names = {line.partition(":")[0].lower() for line in head[1:]}
    assert names == {"authorization", "content-type", "host", "accept", "user-agent", "content-length"}
    assert "Authorization: Bearer sk-test-key" in head
    assert exchange.request.headers == (
        ("Authorization", "Bearer sk-test-key"),
        ("Content-Type", "application/json"),
    )
    assert exchange.live
    assert exchange.started


@pytest.mark.parametrize("body", [b"", b"{", b'{"a":"\xff\xfe"}', b'{"a":\r\n1}', "漢字".encode()])
def test_the_body_is_sent_byte_for_byte(body: bytes) -> None:
    seen: list[bytes] = []

    def answer(connection: servers.Connection, request: bytes) -> None:
        seen.append(request.partition(b"\r\n\r\n")[2])
        connection.answer(200, b"{}")

    sent(servers.always(answer), body=body)
    assert seen == [body]


def test_chunks_keep_the_time_at_which_they_came(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, calls = time.monotonic(), itertools.count()
    first_came = threading.Event()

    def now() -> float:
        call = next(calls)
        if call == 1:
            first_came.set()
        return begun + call / 4

    def handle(connection: servers.Connection) -> None:
        connection.request()
        connection.send(servers.STREAM_HEAD + servers.chunk(b"data: 1\n\n"))
        assert first_came.wait(servers.PATIENCE)
        connection.send(servers.chunk(b"data: 2\n\n") + b"0\r\n\r\n")

    monkeypatch.setattr(sender, "time", SimpleNamespace(monotonic=now))
    exchange = sent(handle)
    assert exchange.response is not None
    assert exchange.failure is None
    assert [(chunk.ms, chunk.data) for chunk in exchange.response.chunks] == [
        (250.0, b"data: 1\n\n"),
        (500.0, b"data: 2\n\n"),
    ]


def test_a_compressed_body_is_decoded_and_its_header_kept() -> None:
    exchange = sent(servers.zipped(b'{"a": 1}'))
    assert text(exchange) == b'{"a": 1}'
    assert exchange.response is not None
    assert ("Content-Encoding", "gzip") in exchange.response.headers


FAILURES = {
    "the connection closes": (servers.closes, "reset", None),
    "the connection is reset": (servers.resets, "reset", None),
    "a stream breaks off": (servers.breaks_off, "reset", b'data: {"id":"1"}\n\n'),
    "the body is short": (servers.short_body, "reset", b"{}"),
    "a header is huge": (servers.huge_header, "protocol", None),
    "it is not HTTP": (servers.no_http, "protocol", None),
    "the compression is broken": (servers.fixed(200, b"no gzip", "Content-Encoding: gzip"), "protocol", b""),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_told_by_its_kind_and_never_raised(name: str) -> None:
    handler, kind, body = FAILURES[name]
    failed(sent(handler), kind, body)


def failed(exchange: Exchange, kind: str, body: bytes | None) -> None:
    assert exchange.failure is not None
    assert exchange.failure.kind == kind
    assert exchange.failure.message
    assert (exchange.response is None) == (body is None)
    assert body is None or text(exchange) == body


ENDLESS = {
    "nothing is answered": (servers.silent, None),
    "a stream stalls": (servers.stalls, b'data: {"id":"1"}\n\n'),
    "the headers drip": (servers.drips_headers, None),
    "informational answers never end": (servers.endless_informational, None),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_an_exchange_that_does_not_end_is_ended(name: str) -> None:
    handler, body = ENDLESS[name]
    exchange, _ = timed_out(handler, answered=body is not None)
    failed(exchange, "timeout", body)


def test_a_body_that_drips_ends_with_the_time_for_the_whole_exchange() -> None:
    begun = time.monotonic()
    exchange, limit = timed_out(servers.drips_body, answered=True)
    assert exchange.failure is not None
    assert exchange.failure.kind == "timeout"
    assert exchange.response is not None
    assert time.monotonic() - begun >= limit * 0.9


def test_a_closed_port_is_refused() -> None:
    with servers.closed_port() as url, Client(url, "sk-test-key", PATIENT) as client:
        exchange = client.send(draft(client))[-1]
    assert exchange.failure is not None
    assert exchange.failure.kind == "refused"


def test_a_name_that_does_not_resolve_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    with Client("http://no-such-host.invalid", "sk-test-key", PATIENT) as client:
        exchange = client.send(draft(client))[-1]
    assert exchange.failure is not None
    assert exchange.failure.kind == "refused"


def test_a_body_without_end_is_cut_and_little_of_it_kept() -> None:
    exchange = sent(servers.endless, replace(PATIENT, largest=3_000_000))
    assert exchange.failure is not None
    assert exchange.failure.kind == "cut"
    assert len(text(exchange)) == 1024 * 1024


def zstd_bomb(size: int) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    return b"".join(packer.compress(bytes(1_000_000)) for _ in range(size // 1_000_000)) + packer.flush()


BOMBS = {
    "gzip": lambda size: gzip.compress(bytes(size)),
    "deflate": lambda size: zlib.compress(bytes(size)),
    "br": lambda size: brotli.compress(bytes(size), quality=1),
    "zstd": zstd_bomb,
    "gzip, gzip": lambda size: gzip.compress(gzip.compress(bytes(size))),
    "zstd, br": lambda size: brotli.compress(zstd_bomb(size), quality=1),
}


@pytest.mark.parametrize("coding", BOMBS)
def test_a_compression_bomb_is_bounded(coding: str) -> None:
    bomb = BOMBS[coding](150_000_000)
    limits = replace(PATIENT, largest=1_000_000)
    tracemalloc.start()
    try:
        exchange = sent(servers.fixed(200, bomb, f"Content-Encoding: {coding}"), limits)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert exchange.failure is not None
    assert exchange.failure.kind == "cut"
    assert len(text(exchange)) <= 1_000_000
    assert peak < 100_000_000


CODED = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
    "gzip, br": lambda data: brotli.compress(gzip.compress(data)),
    "x-own": bytes,  # left alone, since somebody else may know it
}


@pytest.mark.parametrize("coding", CODED)
def test_a_coded_stream_is_decoded_as_it_comes(coding: str) -> None:
    events = [b"data: %d\n\n" % number for number in range(500)]
    body = CODED[coding](b"".join(events))
    head = servers.STREAM_HEAD.replace(b"\r\n\r\n", f"\r\nContent-Encoding: {coding}\r\n\r\n".encode())

    def handle(connection: servers.Connection) -> None:
        connection.request()
        connection.send(head)
        for place in range(0, len(body), 100):
            connection.send(servers.chunk(body[place : place + 100]))
        connection.send(b"0\r\n\r\n")

    exchange = sent(handle, PATIENT)
    assert exchange.failure is None
    assert text(exchange) == b"".join(events)


def test_no_redirect_is_followed_and_no_cookie_kept() -> None:
    seen: list[bytes] = []

    def answer(connection: servers.Connection, request: bytes) -> None:
        seen.append(request)
        connection.answer(307, b"", "Location: /elsewhere", "Set-Cookie: a=b")

    with servers.serving(servers.always(answer)) as server, Client(server.url, None, PATIENT) as client:
        statuses = [client.send(draft(client))[-1].response.status for _ in range(2)]
    assert statuses == [307, 307]
    assert all(b"/v1/chat/completions" in request and b"ookie" not in request for request in seen)


def test_proxies_of_the_environment_are_not_used_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert sent(servers.fixed(200, b"{}")).failure is None


# ------------------------------------------------------------------ attempts


def attempts(
    *answers: tuple[int, str] | None, retries: int = 2, intents: tuple[Intent, ...] = (), **options: bool
) -> tuple[tuple[Exchange, ...], list[float]]:
    """What is sent to a server that gives these answers in turn (None: it closes), and the waits between."""
    waits: list[float] = []
    left = list(answers)

    def handle(connection: servers.Connection) -> None:
        while connection.request() is not None:
            answer = left.pop(0)
            if answer is None:
                return
            connection.answer(answer[0], b"{}", *filter(None, [answer[1]]))

    limits = replace(PATIENT, retries=retries)
    with servers.serving(handle) as server, Client(server.url, "k", limits, sleep=waits.append) as client:
        found = client.send(draft(client, intents=intents), **options)
        assert client.requests == len(found)
    return found, waits


def statuses(found: tuple[Exchange, ...]) -> list[int]:
    return [exchange.response.status if exchange.response else 0 for exchange in found]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_transient_answer_is_tried_again_and_every_attempt_kept(status: int) -> None:
    found, waits = attempts((status, ""), (status, ""), (200, ""))
    assert statuses(found) == [status, status, 200]
    assert [exchange.id for exchange in found] == ["one", "one.2", "one.3"]
    assert [exchange.attempt for exchange in found] == [1, 2, 3]
    assert waits == [0.25, 0.5]


def test_attempts_end() -> None:
    found, _ = attempts(*[(503, "")] * 5)
    assert statuses(found) == [503, 503, 503]


def test_a_closed_connection_is_tried_again() -> None:
    found, _ = attempts(None, (200, ""))
    assert statuses(found) == [0, 200]


@pytest.mark.parametrize("status", [200, 301, 400, 401, 404, 500, 501])
def test_another_answer_is_final(status: int) -> None:
    assert statuses(attempts((status, ""), (200, ""))[0]) == [status]


def test_a_server_error_is_tried_twice_more_where_the_request_is_valid() -> None:
    assert statuses(attempts(*[(500, "")] * 4, retry_server_error=True)[0]) == [500, 500, 500]
    assert statuses(attempts((500, ""), (200, ""), retry_server_error=True)[0]) == [500, 200]


def test_nothing_is_tried_again_where_that_is_not_wanted() -> None:
    assert statuses(attempts((429, ""), (200, ""), retry=False)[0]) == [429]


@pytest.mark.parametrize(
    ("told", "least", "most"),
    [
        ("7", 7, 7),
        ("0", 0, 0),
        ("soon", 0.25, 0.25),
        ("-3", 0.25, 0.25),
        ("Thu, 01 Jan 9999999 00:00:00 GMT", 0.25, 0.25),
        ("Thu, 99 Foo 2026 99:99:99 GMT", 0.25, 0.25),
        ("Thu, 01 Jan 2026 00:00:00 +99999999", 0.25, 0.25),
    ],
)
def test_retry_after_is_honoured(told: str, least: float, most: float) -> None:
    _, waits = attempts((429, f"Retry-After: {told}"), (200, ""))
    assert len(waits) == 1
    assert least <= waits[0] <= most


def test_retry_after_as_a_date_is_honoured() -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=LONGEST_WAIT), usegmt=True)
    _, waits = attempts((429, f"Retry-After: {moment}"), (200, ""))
    assert 1 < waits[0] <= LONGEST_WAIT


def test_a_wait_that_is_too_long_ends_the_attempts() -> None:
    found, waits = attempts((429, "Retry-After: 3600"), (200, ""))
    assert statuses(found) == [429]
    assert waits == []


def test_a_retried_prompt_is_no_longer_fresh() -> None:
    found, _ = attempts((503, ""), (200, ""), intents=(Intent.FRESH, Intent.VALID))
    assert [exchange.intents for exchange in found] == [(Intent.FRESH, Intent.VALID), (Intent.VALID,)]


def test_requests_are_paced() -> None:
    waits: list[float] = []
    limits = replace(PATIENT, rpm=0.5)
    with servers.serving(servers.fixed(200, b"{}")) as server:
        client = Client(server.url, "k", limits, sleep=waits.append)
        for _ in range(3):
            client.send(draft(client))
        client.close()
    assert len(waits) == 2
    assert 0 < waits[0] <= 120
    assert 120 < waits[1] <= 240


# ------------------------------------------------------------------ connections that are used again


def closes_used_again(connection: servers.Connection) -> None:
    """Answer one request, and close as soon as the first byte of another comes."""
    connection.request()
    connection.answer(200, b"{}")
    connection.socket.recv(1)


def answers_by_halves(connection: servers.Connection) -> None:
    connection.request()
    connection.answer(200, b"{}")
    connection.request()
    connection.send(b"HTTP/1.1 20")


def twice(handler: servers.Handler, budget: Budget | None = None) -> tuple[list[tuple[Exchange, ...]], int, int]:
    """Two requests that are not tried again, how many were sent, and how many the server has read whole."""
    limits = replace(PATIENT, retries=2, budget=budget)
    with servers.serving(handler) as server, Client(server.url, "k", limits) as client:
        fresh = draft(client, intents=(Intent.FRESH, Intent.VALID))
        found = [client.send(fresh, retry=False) for _ in range(2)]
        return found, client.requests, server.seen


def test_a_connection_that_closes_when_it_is_used_again_is_no_evidence() -> None:
    (first, second), sent, seen = twice(closes_used_again)
    assert statuses(first) == statuses(second) == [200]
    assert [(exchange.id, exchange.attempt, exchange.failure) for exchange in second] == [("one", 1, None)]
    assert first[0].intents == (Intent.FRESH, Intent.VALID)
    assert second[0].intents == (Intent.VALID,)  # the server may have read it the first time
    assert (sent, seen) == (3, 2)


def test_what_is_sent_once_more_is_paid_for_and_bounded(tmp_path: Path) -> None:
    budget = Budget(path=tmp_path / "budget", allowance=Allowance(requests=3))
    budget.open()
    assert twice(closes_used_again, budget)[1] == 3
    with pytest.raises(Spent):
        twice(closes_used_again, budget)
    budget.open()
    small = Budget(path=tmp_path / "budget", allowance=Allowance(requests=2))
    with pytest.raises(Spent):
        twice(closes_used_again, small)


def test_a_connection_that_closes_on_its_first_request_is_evidence() -> None:
    with servers.serving(servers.closes) as server, Client(server.url, "k", PATIENT) as client:
        found = client.send(draft(client))
        assert statuses(found) == [0]
        assert (client.requests, server.seen) == (1, 1)


def test_a_server_that_closes_again_on_a_fresh_connection_is_evidence() -> None:
    def handle(connection: servers.Connection) -> None:
        if connection.server.seen == 0:
            closes_used_again(connection)
        else:
            connection.request()

    (first, second), sent, _ = twice(handle)
    assert (statuses(first), statuses(second)) == ([200], [0])
    assert second[0].failure is not None
    assert second[0].failure.kind == "reset"
    assert sent == 3


def test_an_answer_that_breaks_off_on_a_connection_that_was_used_before_is_evidence() -> None:
    (_, second), sent, seen = twice(answers_by_halves)
    assert statuses(second) == [0]
    assert second[0].failure is not None
    assert (sent, seen) == (2, 2)


@pytest.mark.parametrize("rest", ["HTTP/1.1 400 Late\r\nContent-Length: 2\r\n\r\n[]", "xyz"])
def test_what_is_left_over_from_an_answer_is_none_to_the_next_request(rest: str) -> None:
    def answer(connection: servers.Connection, _: bytes) -> None:
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" + rest.encode())

    (first, second), sent, _ = twice(servers.always(answer))
    assert statuses(first) == statuses(second) == [200]
    assert text(second[0]) == b"{}"
    assert sent in (2, 3)  # the pool drops the connection where it sees the rest in time


def test_a_connection_that_was_idle_for_long_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []

    def handle(connection: servers.Connection) -> None:
        opened.append(1)
        servers.fixed(200, b"{}")(connection)

    for idle, connections in ((3600.0, 1), (0.0, 2)):
        monkeypatch.setattr("conformance.client.deadlines.LONGEST_IDLE", idle)
        opened.clear()
        twice(handle)
        assert len(opened) == connections


# ------------------------------------------------------------------ targets


def test_the_named_targets_have_both_documented_base_urls() -> None:
    environment = {"KIMI_API_KEY": "sk-live-0123456789"}
    assert resolve("direct", environment=environment).base_urls == (DIRECT, API)
    assert resolve("api", environment=environment).base_urls == (API, DIRECT)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://host.example", "https://host.example"),
        ("https://host.example/", "https://host.example"),
        ("https://host.example/v1", "https://host.example"),
        ("https://host.example/v1/", "https://host.example"),
        ("http://host.example:8080/kimi/v1", "http://host.example:8080/kimi"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_a_url_is_taken_as_a_base_url(url: str, base: str) -> None:
    assert resolve(url, environment={"KIMI_API_KEY": "sk-live-0123456789"}).base_urls == (base,)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("drect", "did you mean 'direct'"),
        ("host.example", "expected embedded, direct, api or a URL"),
        ("", "expected embedded, direct, api or a URL"),
        ("ftp://host.example", "expected http or https"),
        ("https://", "names no host"),
        ("https://user:secret@host.example", "must be a base URL"),
        ("https://host.example/?a=b", "must be a base URL"),
        ("http://host.example:99999", "names no host and port"),
        ("http://host.example:0", "names no host and port"),
        ("http://[::1", "not a URL"),
        ("http://xn--/", "is not a URL: Malformed A-label"),
    ],
)
def test_a_bad_target_is_refused_with_what_was_expected(name: str, words: str) -> None:
    with pytest.raises(BadTarget, match=re.escape(words)):
        resolve(name, environment={"KIMI_API_KEY": "sk-live-0123456789"})


def test_a_target_elsewhere_needs_a_key_and_one_here_does_not() -> None:
    with pytest.raises(BadTarget, match="KIMI_API_KEY is not set"):
        resolve("https://host.example", environment={})
    with pytest.raises(BadTarget, match="OTHER is not set"):
        resolve("http://127.0.0.1:1", key_env="OTHER", environment={"KIMI_API_KEY": "sk-live-0123456789"})
    assert resolve("http://127.0.0.1:1", environment={}).key == LOCAL_KEY


def test_a_key_that_no_header_can_carry_is_refused() -> None:
    with pytest.raises(BadTarget, match="characters that no key has"):
        resolve("direct", environment={"KIMI_API_KEY": "sk-\nlive"})


# ------------------------------------------------------------------ the look before a run

LOOKS = {
    "anything that answers": (servers.fixed(200, b"{}"), None),
    "a bad request": (servers.fixed(400, b"{}"), None),
    "a server error": (servers.fixed(500, b"{}"), None),
    "a stalled stream": (servers.stalls, None),
    "no route": (servers.fixed(404, b"<html>", media_type="text/html"), "no route for the API: it answered 404"),
    "a rejected key": (servers.fixed(401, b"{}"), "wants a key and none was given: it answered 401"),
    "a forbidden key": (servers.fixed(403, b"{}"), "wants a key and none was given: it answered 403"),
    "a closed connection": (servers.closes, "closes the connection without an answer"),
    "no HTTP": (servers.no_http, "does not answer in HTTP"),
}


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at a target that answers late waits for it."""
    monkeypatch.setattr(sys.modules["conformance.client.preflight"], "PREFLIGHT_SECONDS", servers.PATIENCE)


@pytest.mark.parametrize("name", LOOKS)
def test_preflight_tells_in_one_line_why_a_target_cannot_be_verified(name: str, patient: None) -> None:
    handler, words = LOOKS[name]
    with servers.serving(handler) as server:
        reason = preflight(Target(name=server.url, base_urls=(server.url,), key_env=None), tuple(Protocol), CELL.model)
    assert (reason is None) == (words is None)
    assert words is None or (words in reason and server.url in reason and "\n" not in reason)


def test_one_surface_with_a_route_is_enough_for_a_run(patient: None) -> None:
    def answer(connection: servers.Connection, request: bytes) -> None:
        connection.answer(200 if b"/v1/messages" in request else 404, b"{}")

    with servers.serving(servers.always(answer)) as server:
        target = Target(name=server.url, base_urls=(server.url,), key_env=None)
        assert preflight(target, tuple(Protocol), CELL.model) is None
        assert "no route" in preflight(target, (Protocol.CHAT, Protocol.RESPONSES), CELL.model)


# ------------------------------------------------------------------ the player


def player(url: str, kept: list[Exchange], *, key: str = "sk-live-0123456789", **target: object) -> Player:
    found = Target(name=url, base_urls=(url,), key_env=None, fixed_key=key, **target)
    return Player(target=found, record=kept.append, limits=PATIENT)


def steps(*wanted: Step) -> Script:
    for step in wanted:  # noqa: UP028 (a tuple's iterator takes no answers)
        yield step


WAYS = {
    Credentials.KEY: "Authorization: Bearer sk-live-0123456789",
    Credentials.INVALID: "Authorization: Bearer invalid-",
    Credentials.BASIC: "Authorization: Basic ",
    Credentials.BARE: "Authorization: sk-live-0123456789",
    Credentials.X_API_KEY: "x-api-key: sk-live-0123456789",
}


@pytest.mark.parametrize("way", list(Credentials))
def test_a_step_authenticates_as_it_says(way: Credentials) -> None:
    seen: list[str] = []

    def answer(connection: servers.Connection, request: bytes) -> None:
        seen.append(request.decode())
        connection.answer(200, b"{}")

    kept: list[Exchange] = []
    with servers.serving(servers.always(answer)) as server:
        playing = player(server.url, kept)
        playing.play("probe", CELL, steps(Step(body=b"{}", credentials=way)))
        playing.close()
    assert WAYS.get(way, "POST") in seen[0]
    assert ("uthorization" in seen[0]) == (way not in (Credentials.NONE, Credentials.X_API_KEY))
    assert b"sk-live-0123456789" not in repr(kept).encode()


def test_exchanges_are_named_by_probe_surface_model_and_number() -> None:
    kept: list[Exchange] = []
    with servers.serving(servers.fixed(200, b"{}")) as server:
        playing = player(server.url, kept)
        assert len(playing.play("short-answer", CELL, answers.short(CELL))) == 2
        playing.close()
    assert [exchange.id for exchange in kept] == [
        "short-answer/chat/kimi-k3.1-pro/1",
        "short-answer/chat/kimi-k3.1-pro/2",
    ]
    assert {exchange.probe for exchange in kept} == {"short-answer"}
    assert playing.requests == 2


def test_a_step_for_an_address_that_the_target_lacks_ends_the_script() -> None:
    kept: list[Exchange] = []
    with servers.serving(servers.fixed(200, b"{}")) as server:
        playing = player(server.url, kept)
        first, second = Step(body=b"{}"), Step(body=b"{}", place=Place.SECOND)
        assert len(playing.play("probe", CELL, steps(first, second, first))) == 1
        assert len(playing.play("probe", CELL, steps(Step(body=b"{}", place=Place.LIMITED)))) == 0
        playing.close()


GONE = {
    "time-outs": (servers.silent, 3, "did not finish an answer 3 times in a row"),
    "broken connections": (servers.closes, 6, "stopped answering"),
    "server errors": (servers.fixed(500, b"{}"), 24, "24 requests in a row with 429 or a server error"),
    "rate limits": (servers.fixed(429, b"{}"), 24, r"rate limited 24 requests in a row \(HTTP 429\); .* --rpm"),
}


@pytest.mark.parametrize("name", GONE)
def test_a_target_that_is_gone_ends_the_run(name: str) -> None:
    handler, number, words = GONE[name]
    kept: list[Exchange] = []
    with servers.serving(handler) as server:
        playing = player(server.url, kept)
        if name == "time-outs":
            playing.limits = Limits(timeout=0.05, total_timeout=0.05, retries=0)
        with pytest.raises(Stopped, match=words):
            playing.play("probe", CELL, steps(*[Step(body=b"{}")] * 30))
        with pytest.raises(Stopped, match=words):
            playing.play("another", CELL, steps(Step(body=b"{}")))
        playing.close()
    assert len(kept) == number


def test_a_target_that_lets_us_wait_in_vain_is_not_waited_for_without_end() -> None:
    kept: list[Exchange] = []
    with servers.serving(servers.fixed(429, b"{}", "Retry-After: 0")) as server:
        playing = player(server.url, kept)
        playing.limits = replace(PATIENT, retries=2)
        playing.play("before", CELL, steps(Step(body=b"{}"), Step(body=b"{}")))
        playing._in_vain = MOST_IN_VAIN
        playing.play("after", CELL, steps(Step(body=b"{}"), Step(body=b"{}")))
        playing.close()
    assert [exchange.attempt for exchange in kept] == [1, 2, 3, 1, 2, 3, 1, 1]
    assert playing._in_vain > MOST_IN_VAIN


def test_server_errors_on_requests_that_may_be_refused_do_not_count_as_the_target_being_gone() -> None:
    kept: list[Exchange] = []
    with servers.serving(servers.fixed(500, b"{}")) as server:
        playing = player(server.url, kept)
        assert len(playing.play("probe", CELL, steps(*[Step(body=b"{}", cures=False)] * 30))) == 30
        playing.close()
    assert playing.stopped is None


def test_hostile_requests_that_break_connections_do_not_count_as_the_target_being_gone() -> None:
    kept: list[Exchange] = []
    with servers.serving(servers.closes) as server:
        playing = player(server.url, kept)
        hostile = Step(body=b"{}", intents=(Intent.HOSTILE,))
        assert len(playing.play("probe", CELL, steps(*[hostile] * 20))) == 20
        playing.close()
    assert playing.stopped is None


@pytest.mark.parametrize(
    ("size", "largest", "number"), [(600, 1000, 2), (2 * LONG, 10 * LONG, 2), (2 * LONG, 30 * LONG, 4)]
)
def test_answers_that_are_more_than_can_be_judged_end_the_run(size: int, largest: int, number: int) -> None:
    kept: list[Exchange] = []
    with servers.serving(servers.fixed(400, b"x" * size)) as server:
        playing = player(server.url, kept)
        playing.limits = replace(PATIENT, largest_run=largest)
        with pytest.raises(Stopped, match="the answers of the target are too long to be judged together"):
            playing.play("probe", CELL, steps(*[Step(body=b"{}", intents=(Intent.HOSTILE,))] * 30))
        playing.close()
    assert len(kept) == number


def test_a_key_that_the_server_echoes_is_recorded_by_a_mark_only() -> None:
    kept: list[Exchange] = []
    with servers.serving(servers.always(servers.echoes)) as server:
        playing = player(server.url, kept)
        playing.play("probe", CELL, steps(Step(body=b"{}")))
        playing.close()
    assert b"[key redacted]" in text(kept[0])
    assert "sk-live-0123456789" not in repr(kept)
