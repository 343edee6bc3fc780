"""What passes through the proxy, byte for byte."""

from __future__ import annotations

import gzip
import socket
import threading

import pytest
from hostile_servers import closed_port
from scripted_upstream import CHAT, SECONDS, Between, Peer, between

from conformance import proxy
from conformance.evidence.entries import MARKER
from conformance.proxy import passage

BODY = b'{"model":"kimi-k3","messages":[]}'
POST = b"POST %s HTTP/1.1\r\nHost: proxy.local\r\nContent-Length: %d\r\n" % (CHAT.encode(), len(BODY))
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def ask(found: Between, request: bytes, mark: bytes = b"") -> bytes:
    """Send bytes on a connection of their own; what came, up to a mark or to the end."""
    with found.client() as client:
        client.send(request)
        return client.until(mark) if mark else client.to_the_end()


def sent_on(request: bytes, answer: bytes = OK, prefix: str = "") -> tuple[bytes, bytes, bytes]:
    """Head and body as the upstream got them, and what the client got."""
    got: list[tuple[bytes, bytes]] = []

    def script(peer: Peer) -> None:
        got.append(peer.request())
        peer.send(answer)

    with between(script, prefix) as found:
        came = ask(found, request, answer[-2:])
    return *got[0], came


def lines(head: bytes) -> list[bytes]:
    return head.strip().split(b"\r\n")


def test_request_keeps_target_spelling_order_and_body():
    head = b"POST /v1/chat/completions?a=%20b&a HTTP/1.1\r\nHost: x\r\nX-B: 1\r\nx-A: 2\r\nContent-Length: 4\r\n\r\n"
    head, body, _ = sent_on(head + b"\x00\xff{}")
    first, host, *rest, via = lines(head)
    assert first == b"POST /v1/chat/completions?a=%20b&a HTTP/1.1"
    assert host.startswith(b"Host: 127.0.0.1:")
    assert rest == [b"X-B: 1", b"x-A: 2", b"Content-Length: 4"]
    assert via.startswith(b"Via: 1.1 kimi-conformance-")
    assert body == b"\x00\xff{}"


def test_prefix_of_the_upstream_precedes_the_path():
    head, _, _ = sent_on(POST + b"\r\n" + BODY, prefix="/gateway/v1/")
    assert lines(head)[0] == b"POST /gateway/v1/chat/completions HTTP/1.1"


def test_fields_of_one_connection_stay_behind():
    extra = (
        b"Connection: keep-alive, X-Private\r\nX-Private: 1\r\nKeep-Alive: timeout=5\r\nProxy-Connection: close\r\n"
        b"Proxy-Authorization: Basic eA==\r\nTE: gzip, trailers\r\nUpgrade: h2c\r\nX-Kept: 1\r\n\r\n"
    )
    answer = (
        b"HTTP/1.1 201 Fine\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\nX-Request-Id: 7\r\n"
        b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\n{}"
    )
    head, _, came = sent_on(POST + extra + BODY, answer)
    names = [line.split(b":")[0] for line in lines(head)[1:]]
    assert names == [b"Host", b"Content-Length", b"X-Kept", b"TE", b"Connection", b"Via"]
    assert b"TE: trailers\r\nConnection: TE\r\n" in head
    assert lines(came) == [
        b"HTTP/1.1 201 Fine",
        b"X-Request-Id: 7",
        b"Set-Cookie: a=1",
        b"Set-Cookie: b=2",
        b"Content-Length: 2",
        b"",
        b"{}",
    ]


def test_connection_cannot_name_away_what_frames_or_authorizes_a_message():
    head, body, _ = sent_on(
        POST + b"Authorization: Bearer k\r\nConnection: Authorization, Content-Length\r\n\r\n" + BODY
    )
    assert b"Authorization: Bearer k" in head
    assert body == BODY


def test_coded_bytes_pass_as_they_are_and_are_decoded_for_the_judge():
    packed = gzip.compress(b'{"id":"x"}')
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
    got: list[bytes] = []

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(answer)

    with between(script) as found:
        with found.client() as client:
            client.send(POST + b"\r\n" + BODY)
            got.append(client.until(b"\r\n\r\n"))
            got.append(client.exactly(len(packed)))
        seen = found.evidence()
    assert got[1] == packed
    assert b"".join(chunk.data for chunk in seen.response.chunks) == packed


def test_events_pass_one_by_one_as_they_come():
    taken = threading.Event()

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        peer.send(b"9\r\ndata: 1\n\n\r\n")
        assert taken.wait(SECONDS), "the first event was held back"
        peer.send(b"9\r\ndata: 2\n\n\r\n0\r\n\r\n")

    with between(script) as found:
        with found.client() as client:
            client.send(POST + b"\r\n" + BODY)
            assert client.until(b"data: 1\n\n").endswith(b"9\r\ndata: 1\n\n")
            taken.set()
            assert client.until(b"0\r\n\r\n") == b"\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n"
        chunks = found.evidence().response.chunks
    assert [chunk.data for chunk in chunks] == [b"data: 1\n\n", b"data: 2\n\n"]
    assert 0 <= chunks[0].ms <= chunks[1].ms


def test_trailers_pass_both_ways():
    got: list[bytes] = []

    def script(peer: Peer) -> None:
        peer.until(b"\r\n\r\n")
        got.append(peer.until(b"X-Sum: 1\r\n\r\n"))
        peer.send(
            b"HTTP/1.1 200 OK\r\nTrailer: X-End\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-End: 2\r\n\r\n"
        )

    request = POST.partition(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\nTE: trailers\r\n\r\n"
    with between(script) as found:
        came = ask(found, request + b"2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n", b"X-End: 2\r\n\r\n")
    assert got[0].endswith(b"2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n")
    assert b"Trailer: X-End\r\n" in came
    assert came.endswith(b"0\r\nX-End: 2\r\n\r\n")


def test_trailers_are_left_out_where_the_client_has_no_room_for_them():
    def script(peer: Peer) -> None:
        peer.until(b"\r\n\r\n")
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-End: 2\r\n\r\n")

    with between(script) as found:
        came = ask(found, b"GET /v1/models HTTP/1.0\r\n\r\n")
    assert came.endswith(b"\r\n\r\n{}")


def test_connections_are_kept_on_both_sides():
    def script(peer: Peer) -> None:
        for number in range(3):
            peer.request()
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % number)

    with between(script) as found:
        with found.client() as client:
            for number in range(3):
                client.send(POST + b"\r\n" + BODY)
                assert client.until(b"\r\n\r\n%d" % number)
        assert found.upstream.connections == 1


def test_pipelined_requests_are_answered_in_order():
    def script(peer: Peer) -> None:
        for number in range(2):
            peer.request()
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % number)

    with between(script) as found, found.client() as client:
        client.send((POST + b"\r\n" + BODY) * 2)
        assert client.until(b"\r\n\r\n0")
        assert client.until(b"\r\n\r\n1")


def test_a_connection_that_the_upstream_closed_is_replaced():
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(OK)

    with between(script) as found, found.client() as client:
        for number in range(1, 4):
            client.send(POST + b"\r\n" + BODY)
            assert client.until(b"{}")
            assert found.upstream.has_closed(number)
    assert found.upstream.connections == 3


def test_what_an_idle_connection_says_is_no_answer_to_the_next_request():
    said = threading.Event()

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(OK)
        if found.upstream.connections == 1:
            peer.send(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
            said.set()
            peer.to_the_end()

    with between(script) as found, found.client() as client:
        client.send(POST + b"\r\n" + BODY)
        assert client.until(b"{}")
        assert said.wait(SECONDS)
        client.send(POST + b"\r\n" + BODY)
        assert client.until(b"{}").startswith(b"HTTP/1.1 200 OK")
    assert found.upstream.connections == 2


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 O"])
def test_only_a_connection_closed_without_a_byte_may_have_been_idle(said, monkeypatch):
    monkeypatch.setattr(passage, "IDLE_CLOSE_SECONDS", SECONDS)

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(OK)
        peer.request()
        peer.send(said)

    with between(script) as found, found.client() as client:
        client.send(POST + b"\r\n" + BODY)
        assert client.until(b"{}")
        client.send(POST + b"\r\n" + BODY)
        came = client.until(b"}}") if said else client.to_the_end()
        failure = found.evidence(2).failure
    assert failure is not None
    assert failure.kind == "reset"
    if said:
        assert came.startswith(b"HTTP/1.1 502")
    else:
        assert came == b""
        assert "kept connection" in failure.message


def test_an_upstream_that_breaks_off_late_was_not_idle(monkeypatch):
    monkeypatch.setattr(passage, "IDLE_CLOSE_SECONDS", 0.0)

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(OK)
        peer.request()

    with between(script) as found, found.client() as client:
        client.send(POST + b"\r\n" + BODY)
        assert client.until(b"{}")
        client.send(POST + b"\r\n" + BODY)
        assert client.until(b"\r\n\r\n").startswith(b"HTTP/1.1 502")


def test_head_no_content_and_http_1_0_are_framed_right():
    def script(peer: Peer) -> None:
        head, _ = peer.request()
        if head.startswith(b"HEAD"):
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
        elif head.startswith(b"DELETE"):
            peer.send(b"HTTP/1.1 204 No Content\r\n\r\n")
        else:
            peer.send(b"HTTP/1.0 200 OK\r\n\r\nall until the end")

    with between(script) as found:
        assert ask(found, b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", b"\r\n\r\n").endswith(b"Content-Length: 9\r\n\r\n")
        assert ask(found, b"DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", b"\r\n\r\n").startswith(b"HTTP/1.1 204 No Content")
        assert ask(found, b"GET / HTTP/1.0\r\n\r\n").endswith(b"\r\n\r\nall until the end")
        assert b"11\r\nall until the end\r\n0\r\n\r\n" in ask(
            found, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\r\n0\r\n\r\n"
        )


def test_interim_answers_pass_and_a_body_waits_for_its_invitation():
    def script(peer: Peer) -> None:
        head = peer.until(b"\r\n\r\n")
        assert b"Expect: 100-continue" in head
        peer.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert peer.exactly(len(BODY)) == BODY
        peer.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK)

    with between(script) as found, found.client() as client:
        client.send(POST + b"Expect: 100-continue\r\n\r\n")
        assert client.until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 Continue")
        client.send(BODY)
        assert client.until(b"\r\n\r\n") == b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        assert client.until(b"{}").startswith(b"HTTP/1.1 200 OK")


def test_an_answer_before_the_end_of_the_request_passes():
    def script(peer: Peer) -> None:
        peer.until(b"\r\n\r\n")
        peer.send(b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")

    with between(script) as found, found.client() as client:
        client.send(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n" + b"x" * 100_000)
        assert client.until(b"{}").startswith(b"HTTP/1.1 413 Too Large")


def test_large_bodies_pass_whole():
    size = 5_000_000

    def script(peer: Peer) -> None:
        _, body = peer.request()
        assert body == b"x" * size
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"y" * size)

    with between(script) as found, found.client() as client:
        sender = threading.Thread(
            target=client.send,
            args=(b"POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size,),
        )
        sender.start()
        client.until(b"\r\n\r\n")
        assert client.exactly(size) == b"y" * size
        sender.join(SECONDS)


def test_upstream_is_cancelled_when_the_client_leaves():
    gone = threading.Event()

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n")
        assert peer.socket.recv(1) == b""
        gone.set()

    with between(script) as found:
        ask(found, POST + b"\r\n" + BODY, b"data: 1\n\n")
        assert gone.wait(SECONDS)
        failure = found.evidence().failure
    assert failure.kind == "cut"
    assert "client left" in failure.message


def test_a_break_in_the_answer_is_passed_on_as_a_break():
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}")

    with between(script) as found:
        assert ask(found, POST + b"\r\n" + BODY).endswith(b"\r\n\r\n{}")
        seen = found.evidence()
    assert (seen.failure.kind, seen.response.chunks[0].data) == ("reset", b"{}")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"", "reset"),
        (b"HTTP/1.1 2", "reset"),
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", "protocol"),
        (b"\x00" * 70_000, "protocol"),
    ],
    ids=["nothing", "half a head", "another protocol", "zeros"],
)
@pytest.mark.parametrize(
    ("path", "member"), [("/v1/messages", "type"), ("/v1/responses", "error"), ("/v1/chat/completions", "error")]
)
def test_no_answer_is_a_marked_502_in_the_envelope_of_the_surface(answer: bytes, kind: str, path: str, member: str):
    def script(peer: Peer) -> None:
        peer.request()
        if answer:
            peer.send(answer)

    with between(script) as found:
        request = POST.replace(CHAT.encode(), path.encode()) + b"\r\n" + BODY
        came = ask(found, request, b"}}")
        seen = found.evidence()
    assert came.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert MARKER.encode() in came
    assert came.partition(b"\r\n\r\n")[2].startswith(b'{"%s": ' % member.encode())
    assert (seen.response, seen.failure.kind) == (None, kind)
    assert seen.request.body == BODY


def test_an_upstream_that_is_not_there_is_a_502():
    port = proxy.listen(":0")
    with (
        closed_port() as url,
        proxy.running(proxy.upstream(url), port, tap=lambda *_: None, take=lambda _: None) as running,
        socket.create_connection(("127.0.0.1", int(running.base_url.rpartition(":")[2])), SECONDS) as connection,
    ):
        peer = Peer(connection)
        peer.send(POST + b"\r\n" + BODY)
        assert peer.until(b"\r\n").startswith(b"HTTP/1.1 502")
        assert b"cannot connect to http://127.0.0.1" in peer.until(b"}}")


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET http://example.com/ HTTP/1.1", b"400"),
        (b"CONNECT example.com:443 HTTP/1.1", b"400"),
        (b"OPTIONS * HTTP/1.1", b"400"),
        (b"\x16\x03\x01\x02\x00", b"400"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000, b"431"),
    ],
    ids=["absolute", "connect", "asterisk", "tls", "long"],
)
def test_only_paths_of_the_upstream_are_forwarded(request_line: bytes, status: bytes):
    def script(peer: Peer) -> None:
        raise AssertionError("the upstream was asked")

    with between(script) as found:
        came = ask(found, request_line + b"\r\nHost: example.com\r\n\r\n", b"}}")
        assert came.split()[1] == status
        assert MARKER.encode() in came
        assert found.upstream.connections == 0


def test_an_upstream_that_is_the_proxy_itself_is_found_out():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    place = proxy.listen(f"127.0.0.1:{port}")
    target = proxy.upstream(f"http://127.0.0.1:{port}")
    with (
        proxy.running(target, place, tap=lambda *_: None, take=lambda _: None),
        socket.create_connection(("127.0.0.1", port), SECONDS) as connection,
    ):
        peer = Peer(connection)
        peer.send(POST + b"\r\n" + BODY)
        assert peer.until(b"\r\n").startswith(b"HTTP/1.1 508")


def test_stopping_breaks_off_what_is_open_and_keeps_what_was_seen():
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n")
        peer.to_the_end()

    with between(script) as found:
        client = socket.create_connection(("127.0.0.1", found.port), timeout=SECONDS)
        peer = Peer(client)
        peer.send(POST + b"\r\n" + BODY)
        peer.until(b"data: 1\n\n")
    with client:
        assert peer.to_the_end() == b"\r\n"
    assert found.evidence().failure.message == "the proxy was stopped before the end of the answer"
