"""The client hangs up on a stream that goes on far beyond what a probe is willing to pay for."""

from __future__ import annotations

import hostile_servers as servers
import pytest

from conformance.client import Client
from conformance.client.ceiling import Ceiling
from conformance.values import Exchange, Protocol


def chat(text: str) -> bytes:
    return b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % text.encode()


@pytest.mark.parametrize(
    ("event", "tokens"),
    [
        (chat("a"), 1),
        (chat("word word word word"), 5),
        (b'data: {"choices":[{"index":0,"delta":{"reasoning_content":"abcd"}}]}\n\n', 1),
        (b'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"abcdefgh"}}\n\n', 2),
        (b'data: {"type":"response.output_text.delta","delta":"\\"abc\\""}\n\n', 2),
        (b"data: [DONE]\n\n", 0),
        (b": comment\n\n", 0),
    ],
)
def test_tokens_are_counted_by_event_and_by_length(event: bytes, tokens: int) -> None:
    assert not Ceiling(tokens).reached(event)
    if tokens:
        assert Ceiling(tokens - 1).reached(event)


def test_events_may_be_cut_anywhere() -> None:
    ceiling = Ceiling(9)
    data = chat("abcd") * 10
    reached = [ceiling.reached(data[place : place + 1]) for place in range(len(data))]
    assert reached.index(True) == data.rindex(b"\n\n")


def test_a_line_without_an_end_is_not_kept_for_ever() -> None:
    ceiling = Ceiling(10)
    for _ in range(100):
        ceiling.reached(b"x" * 4096)
    assert len(ceiling._rest) <= 128 * 1024


def test_the_client_stops_reading_beyond_the_ceiling() -> None:
    body = chat("abcd") * 50_000
    handler = servers.fixed(200, body, "Content-Type: text/event-stream")
    with servers.serving(handler) as server, Client(server.url, None) as client:
        request = client.request("/v1/chat/completions", b'{"stream":true}')
        draft = Exchange(id="one", protocol=Protocol.CHAT, model="kimi-k3", request=request)
        whole = client.send(draft)[-1]
        cut = client.send(draft, ceiling=100)[-1]
    assert whole.failure is None
    assert cut.failure is not None
    assert cut.failure.kind == "cut"
    assert sum(len(chunk.data) for chunk in cut.response.chunks) < len(body) / 2
