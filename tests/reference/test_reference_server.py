"""The server on real sockets."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import Any

import httpx
import pytest
from reference_asking import CHAT, PATHS, body_of

from conformance.reference import (
    DEFAULT_KEY,
    Context,
    Cut,
    Hooks,
    Pause,
    PortTakenError,
    Running,
    Settings,
    Wire,
    running,
)
from conformance.values import Protocol

AUTH = {"authorization": f"Bearer {DEFAULT_KEY}"}
SECONDS = 60  # of patience: a loaded machine is slow, and what never comes is rare


def asked(url: str, protocol: Protocol, **options: Any) -> httpx.Response:
    body = body_of(protocol, "Reply with OK.", **options)
    return httpx.post(url + PATHS[protocol], json=body, headers=AUTH, timeout=SECONDS)


def test_both_addresses_lead_to_one_server() -> None:
    with running(Settings(rpm=2)) as server:
        first, second = server.base_urls
        assert first == server.base_url != second
        statuses = [asked(url, CHAT).status_code for url in (first, second, first)]
    assert statuses == [200, 200, 429]


def test_answers_carry_the_headers_of_a_server() -> None:
    begun = time.time()
    with running(addresses=1) as server:
        whole, streamed = (asked(server.base_url, CHAT, stream=stream) for stream in (False, True))
    assert whole.headers["content-length"] == str(len(whole.content))
    assert streamed.headers["transfer-encoding"] == "chunked"
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert begun - 1 <= whole.json()["created"] <= time.time()
    assert whole.headers.get_list("date") != []
    assert "server" not in whole.headers


def test_events_are_sent_one_after_the_other() -> None:
    begun = time.monotonic()
    with (
        running(Settings(chunk_delay=0.004), addresses=1) as server,
        httpx.stream(
            "POST",
            server.base_url + PATHS[CHAT],
            json=body_of(CHAT, "Reply with OK.", stream=True),
            headers=AUTH,
            timeout=SECONDS,
        ) as answer,
    ):
        count = len(list(answer.iter_raw()))
    assert count > 20
    assert time.monotonic() - begun > 0.004 * (count - 1)


def test_a_taken_port_is_named() -> None:
    with running(addresses=1) as server:
        port = int(server.base_url.rpartition(":")[2])
        with pytest.raises(PortTakenError, match=str(port)), running(port=port):
            pytest.fail("it came up")


@pytest.mark.parametrize(("host", "port"), [("192.0.2.1", 0), ("no.such.host.invalid", 0), ("127.0.0.1", 70000)])
def test_an_address_that_cannot_be_bound_is_named(host: str, port: int) -> None:
    with pytest.raises(PortTakenError, match=host), running(host=host, port=port):
        pytest.fail("it came up")


def threads() -> set[threading.Thread]:
    """Of servers; one that other tests share may be among them."""
    return {thread for thread in threading.enumerate() if thread.name == "reference server"}


def test_the_port_is_free_again_and_the_thread_gone() -> None:
    before = threads()
    with running(addresses=1) as server:
        port = int(server.base_url.rpartition(":")[2])
        assert asked(server.base_url, CHAT).is_success
    assert threads() == before
    with running(addresses=1, port=port) as server:
        assert server.base_url.endswith(f":{port}")
        assert asked(server.base_url, CHAT).is_success


def slow(_: Context, wire: Wire) -> Wire:
    return [wire[0], Pause(10 * SECONDS), *wire[1:]]


def test_leaving_does_not_wait_for_open_streams_and_idle_connections() -> None:
    before = threads()
    with (
        httpx.Client(timeout=SECONDS) as client,
        running(hooks=Hooks(wire=slow), addresses=1) as server,
        socket.create_connection(("127.0.0.1", int(server.base_url.rpartition(":")[2]))),
    ):
        body = body_of(CHAT, "Reply with OK.", stream=True)
        request = client.build_request("POST", server.base_url + PATHS[CHAT], json=body, headers=AUTH)
        answer = client.send(request, stream=True)
        assert next(answer.iter_raw())
    assert threads() == before


def test_a_cut_breaks_the_connection_off() -> None:
    def cut(_: Context, wire: Wire) -> Wire:
        return [*wire[:3], Cut()]

    with running(hooks=Hooks(wire=cut), addresses=1) as server, pytest.raises(httpx.RemoteProtocolError):
        asked(server.base_url, CHAT, stream=True)


def test_large_bodies_are_read_to_the_end_before_they_are_refused() -> None:
    content = b'{"a": "' + b"x" * (20 << 20) + b'"}'
    with running(addresses=1) as server:
        answer = httpx.post(server.base_url + PATHS[CHAT], content=content, headers=AUTH, timeout=SECONDS)
    assert answer.status_code == 400


def test_many_requests_at_once_are_all_answered() -> None:
    answers: list[int] = []

    def ask(server: Running, protocol: Protocol) -> None:
        answers.append(asked(server.base_url, protocol, stream=True).status_code)

    with running() as server:
        threads = [threading.Thread(target=ask, args=(server, protocol)) for protocol in list(Protocol) * 6]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [200] * 18


def test_a_request_that_is_no_http_does_not_disturb_it() -> None:
    with running(addresses=1) as server:
        port = int(server.base_url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as raw:
            raw.sendall(b"\0\1\2 nonsense\r\n\r\n")
            assert raw.recv(100).startswith(b"HTTP/1.1 400")
        assert json.loads(asked(server.base_url, CHAT).content)["object"] == "chat.completion"
