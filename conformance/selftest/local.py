"""A reference server without a network: the same requests and answers, function call for function call."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from msgspec.structs import replace

from conformance.client import Limits
from conformance.reference.application import Server
from conformance.reference.hooks import Cut
from conformance.values import Chunk, Exchange, Failure, Response

BASE_URLS = ("http://127.0.0.1:1", "http://127.0.0.1:2")  # names only: nothing is ever opened
LIMITED = "http://127.0.0.1:3"


class LocalSender:
    """Sends to servers in this process, by base URL."""

    def __init__(self, base_url: str, server: Server) -> None:
        self.base_url = base_url
        self.requests = 0
        self._server = server

    def send(
        self,
        draft: Exchange,
        *,
        retry: bool = True,
        retry_server_error: bool = False,
        ceiling: int | None = None,  # noqa: ARG002 (the reference server ends its answers)
    ) -> tuple[Exchange, ...]:
        """Every attempt, as ``client.Client.send`` makes them, but without waiting."""
        attempts: list[Exchange] = []
        while True:
            number = len(attempts) + 1
            self.requests += 1
            name = draft.id if number == 1 else f"{draft.id}.{number}"
            attempts.append(self._once(replace(draft, id=name, attempt=number)))
            answered = attempts[-1].response
            status = answered.status if answered else 0
            again = status in (429, 502, 503, 504) or (retry_server_error and status >= 500) or status == 0
            if not retry or not again or number > Limits().retries:
                return tuple(attempts)

    def close(self) -> None:
        """Nothing is open."""

    def _once(self, draft: Exchange) -> Exchange:
        started = datetime.now(UTC).isoformat(timespec="microseconds")
        begun = time.monotonic()
        url = urlsplit(draft.request.url)
        headers = (("Host", url.netloc), *draft.request.headers)
        head, wire = self._server.respond(draft.request.method, url.path, headers, draft.request.body)
        ms = round((time.monotonic() - begun) * 1000, 3)
        chunks: list[Chunk] = []
        failure: Failure | None = None
        for part in wire:
            if isinstance(part, bytes):
                chunks.append(Chunk(ms=ms, data=part))
            elif isinstance(part, Cut):
                failure = Failure(kind="reset", message="the server broke the connection off")
                break
        response = Response(status=head.status, headers=head.headers, chunks=tuple(chunks))
        return replace(draft, response=response, failure=failure, started=started, live=True)


def connecting(servers: dict[str, Server]) -> Callable[[str, str | None, Limits], LocalSender]:
    """What a player connects with: a sender to the server of each base URL."""

    def connect(base_url: str, _key: str | None, _limits: Limits) -> LocalSender:
        return LocalSender(base_url, servers[base_url])

    return connect
