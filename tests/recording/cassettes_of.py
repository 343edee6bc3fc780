"""Exchanges as a run leaves them, for cassettes."""

from __future__ import annotations

import json
from pathlib import Path

from conformance import specs
from conformance.recording.cassette import Provenance
from conformance.values import Chunk, Exchange, Failure, Intent, Protocol, Request, Response

HERE = "http://127.0.0.1:4000"
SHARED = Provenance(
    probe="",
    protocol=Protocol.CHAT,
    model="",
    target="embedded",
    reference=True,
    base_urls=(HERE, "http://127.0.0.1:4001"),
    limited="http://127.0.0.1:4002",
    recorded="2026-01-02T03:04:05+00:00",
    suite="1",
    profile="full",
    night="2026-01-02",
    seed=7,
    specs=specs.spec_hashes(),
)
BODY = {"model": "kimi-k3", "messages": [{"role": "user", "content": "Reply with OK."}], "max_completion_tokens": 64}
PLAIN = b'{"id": "chatcmpl-1", "object": "chat.completion", "choices": []}'


def request(body: object = None, *, base: str = HERE, headers: tuple[tuple[str, str], ...] | None = None) -> Request:
    data = (
        body if isinstance(body, bytes) else json.dumps(BODY if body is None else body, separators=(",", ":")).encode()
    )
    given = (("Authorization", "Bearer REDACTED"), ("Content-Type", "application/json")) if headers is None else headers
    return Request(method="POST", url=f"{base}/v1/chat/completions", headers=given, body=data)


def response(*parts: bytes, status: int = 200, media: str = "application/json") -> Response:
    chunks = tuple(Chunk(ms=1.5 + 3.25 * number, data=part) for number, part in enumerate(parts))
    headers = (("Date", "Fri, 02 Jan 2026 03:04:05 GMT"), ("content-type", media), ("vary", "a"), ("vary", "b"))
    return Response(status=status, headers=headers, chunks=chunks)


def exchange(step: int = 1, *, attempt: int = 1, **given) -> Exchange:
    name = f"short-answer/chat/kimi-k3/{step}"
    base = {
        "id": name if attempt == 1 else f"{name}.{attempt}",
        "protocol": Protocol.CHAT,
        "model": "kimi-k3",
        "probe": "short-answer",
        "request": request(),
        "response": response(PLAIN),
        "started": "2026-01-02T03:04:06.000+00:00",
        "attempt": attempt,
        "live": True,
    }
    return Exchange(**{**base, **given})


def events(count: int) -> tuple[bytes, ...]:
    return tuple(b'data: {"id": "chatcmpl-1", "number": %d, "text": "%s"}\n\n' % (n, b"x" * 40) for n in range(count))


ALL = (
    exchange(1, intents=(Intent.VALID, Intent.FRESH)),
    exchange(2, response=response(*events(5), media="text/event-stream")),
    exchange(3, response=response(*events(300), media="text/event-stream")),
    exchange(4, response=response(b"busy", status=503, media="text/plain")),
    exchange(4, attempt=2, response=None, failure=Failure(kind="reset", message="the connection was closed")),
    exchange(4, attempt=3, response=response(b'{"a":1,"a":2}')),
    exchange(
        5,
        response=response(*events(40)[:30], b"data: cut", media="text/event-stream"),
        failure=Failure(kind="reset", message="gone"),
    ),
    exchange(6, response=response(b"\xff\xfe\x00", media="application/octet-stream"), request=request(b"\xff{")),
    exchange(7, response=response('{"text":"\\ud83c\\udf89 🎉"}'.encode(), b""[:0]), request=request(b"{broken")),
    exchange(8, response=response()),
    exchange(9, request=request({**BODY, "messages": [{"role": "user", "content": "word " * 5000}]})),
    exchange(10, request=request(base="http://127.0.0.1:4001")),
)


def journal_of(folder: Path) -> Path:
    return folder / "chat" / "short-answer.kimi-k3.jsonl"


def cassette_of(folder: Path) -> Path:
    return folder / "chat" / "short-answer.kimi-k3.yaml"
