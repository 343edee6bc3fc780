"""Clients and upstreams that speak nonsense: the proxy goes on, and nothing is printed."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from scripted_upstream import CHAT, Peer, between

POST = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}" % CHAT.encode()
LAST = POST.replace(b"Host: x", b"Host: x\r\nConnection: close")
PIECES = [
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    b"HTTP/1.0 -1\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 6\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip\r\n",
    b"Connection: close\r\n",
    b"\r\n",
    b"\r\n\r\n",
    b"5\r\nhello\r\n",
    b"fffffffffffffff\r\n",
    b"0\r\n\r\n",
    b"\x00\xff",
    b": \r\n",
    b"X\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    POST,
    POST[:40],
    b"Expect: 100-continue\r\n",
    b"x" * 3_000,
]


def nonsense(seed: int) -> bytes:
    draw = random.Random(seed)  # noqa: S311 (no secret)
    return b"".join(draw.choice(PIECES) for _ in range(draw.randint(1, 8)))


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_nonsense_of_either_side_ends_one_connection_alone(start: int, capfd: pytest.CaptureFixture[str]):
    said = iter([nonsense(start + number) for number in range(50)] + [b""] * 500)

    def script(peer: Peer) -> None:
        peer.until(b"\r\n\r\n")
        peer.send(next(said))

    with between(script) as found:
        for number in range(50):
            with found.client() as client, suppress(ConnectionError):
                if number % 2:  # a good request, which the upstream answers with nonsense
                    client.send(LAST)
                else:
                    client.send(nonsense(10_000 + start + number))
                    client.ends()
                client.to_the_end()
        with found.client() as client:
            client.send(POST)
            assert client.until(b"\r\n").startswith(b"HTTP/1.1 ")
        found.upstream.errors.clear()  # the scripts met broken connections, as they should
    assert len(found.seen) > 20
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
