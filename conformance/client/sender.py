"""The client: bytes out, an exchange back, always within bounds and never an exception.

Every attempt is an exchange of its own, so that a server error that a retry cures, or does not, stays visible. A target
is hostile until proven otherwise: time and size of each answer are bounded, no redirect is followed, no cookie kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Self

import httpcore
import httpx
from msgspec.structs import replace

from conformance import __version__
from conformance.client.budget import Budget, Spent
from conformance.client.ceiling import Ceiling
from conformance.client.deadlines import DeadlineTransport
from conformance.evidence.unfolding import Unfolder
from conformance.values import Chunk, Exchange, Failure, Intent, Request, Response

LARGEST_BODY = 64 * 1024 * 1024  # bytes; what comes after is not read
LARGEST_RUN = 1024 * 1024 * 1024  # bytes of all bodies; a full run of the reference server comes to 12 MiB
KEPT = 1024 * 1024  # bytes of a body that never came to its end: enough to see what it was
LONGEST_WAIT = 60.0  # seconds that a Retry-After may ask for; a longer one is not waited for
TRANSIENT = frozenset({429, 502, 503, 504})
LONGEST_MESSAGE = 300  # characters of a failure's message


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long, how often, how much.

    ``timeout`` is seconds without a byte, ``total_timeout`` seconds for a whole exchange, ``rpm`` requests a minute;
    ``largest`` is the bytes of a body that are read, 0 for the head alone; ``largest_run`` those of all bodies that a
    player takes, since they are judged together.
    """

    timeout: float = 120.0
    total_timeout: float = 300.0
    retries: int = 2
    rpm: float | None = None
    largest: int = LARGEST_BODY
    largest_run: int = LARGEST_RUN
    budget: Budget | None = None  # shared with other processes


@dataclass
class Client:
    """Sends to one base URL; not to be shared between threads.

    ``sleep`` and ``limits`` serve tests and live runs alike. ``requests`` counts every attempt.
    """

    base_url: str
    key: str | None
    limits: Limits = field(default_factory=Limits)
    sleep: Callable[[float], None] = time.sleep
    requests: int = 0

    def __post_init__(self) -> None:
        self.base_url = self.base_url.rstrip("/")
        self._transport = DeadlineTransport(self.base_url, timeout=self.limits.timeout)
        self._next = 0.0

    def request(self, path: str, body: bytes, *, method: str = "POST", content_type: str | None = None) -> Request:
        """A request with the key and nothing that the documents do not name."""
        headers = [] if self.key is None else [("Authorization", f"Bearer {self.key}")]
        headers.append(("Content-Type", content_type or "application/json"))
        return Request(method=method, url=self.base_url + path, headers=tuple(headers), body=body)

    def send(
        self, draft: Exchange, *, retry: bool = True, retry_server_error: bool = False, ceiling: int | None = None
    ) -> tuple[Exchange, ...]:
        """Send the draft's request; every attempt, the last one last.

        Attempts end with an answer that is neither transient (429, 502, 503, 504, a broken connection) nor, where
        ``retry_server_error``, another 5xx. Only the first attempt has the draft's id; the others add ``.2``, ``.3``.
        A stream of more tokens than the ``ceiling`` is not read to its end, so that nobody pays for the rest. Raises
        ``Spent`` where the budget does not even allow the first attempt.
        """
        attempts: list[Exchange] = []
        while True:
            number = len(attempts) + 1
            try:
                exchange = self._attempt(draft if number == 1 else _retried(draft, number), ceiling)
            except Spent:
                if attempts:
                    return tuple(attempts)
                raise
            attempts.append(exchange)
            if not retry or number > self.limits.retries or not _worth_another(exchange, retry_server_error):
                return tuple(attempts)
            wait = _wait(exchange, number)
            if wait > LONGEST_WAIT:
                return tuple(attempts)
            self.sleep(wait)

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _attempt(self, draft: Exchange, ceiling: int | None) -> Exchange:
        """What one attempt came to; where it met a stale connection, what the same came to on a fresh one.

        Both are sent, paced and paid for, but the first is no evidence: the server had closed the connection, or what
        is read is left over from the answer before.
        """
        exchange = self._counted(draft, ceiling)
        if self._stale(exchange):
            self._transport.close()
            exchange = self._counted(_no_longer_fresh(draft), ceiling)
        return exchange

    def _stale(self, exchange: Exchange) -> bool:
        """Whether an exchange met a connection that was used before, and nothing on it that is surely its own."""
        current, kind = self._transport.current, _kind(exchange)
        if current.connected or kind == "timeout":
            return False
        return not current.answered or (kind == "protocol" and exchange.response is None)

    def _counted(self, draft: Exchange, ceiling: int | None) -> Exchange:
        budget = self.limits.budget
        if budget is None:
            return self._once(draft, ceiling)
        held = budget.hold(draft, ceiling)
        exchange = self._once(draft, ceiling)
        budget.settle(held, exchange)
        return exchange

    def _once(self, draft: Exchange, ceiling: int | None = None) -> Exchange:
        self._pace()
        self.requests += 1
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        begun = time.monotonic()
        self._transport.current.begin(begun + self.limits.total_timeout)
        chunks: list[Chunk] = []
        head: tuple[int, tuple[tuple[str, str], ...]] | None = None
        failure: Failure | None = None
        try:
            answer = self._transport.handle_request(_wire(draft.request))
            head = (answer.status_code, _headers(answer))
            try:
                if self.limits.largest:
                    failure = self._collect(answer.iter_raw(), Unfolder(head[1]), chunks, begun, ceiling)
            finally:
                answer.close()
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
            failure = _failure(error)
        except (httpcore.ProxyError, httpcore.UnsupportedProtocol, httpcore.ConnectionNotAvailable) as error:
            failure = Failure(kind="refused", message=_words(error))
        except (httpx.InvalidURL, ValueError) as error:
            failure = Failure(kind="protocol", message=_words(error))
        except OSError as error:
            failure = Failure(kind="reset" if head else "refused", message=_words(error))
        response = None
        if head is not None:
            endless = failure is not None and failure.kind in ("cut", "timeout")
            response = Response(status=head[0], headers=head[1], chunks=_first(chunks) if endless else tuple(chunks))
        return replace(draft, response=response, failure=failure, started=started, live=True)

    def _collect(
        self, parts: Iterator[bytes], unfolder: Unfolder, chunks: list[Chunk], begun: float, ceiling: int | None
    ) -> Failure | None:
        size, largest = 0, self.limits.largest
        counted = None if ceiling is None else Ceiling(ceiling)
        for part in parts:
            now = time.monotonic()
            data = unfolder.feed(part, largest - size)
            if data:
                chunks.append(Chunk(ms=round((now - begun) * 1000, 3), data=data[: largest - size]))
                size += len(data)
            if size >= largest:
                return Failure(kind="cut", message=f"the body is larger than {largest} bytes; the rest was not read")
            if counted is not None and counted.reached(data):
                return Failure(kind="cut", message=f"the stream went beyond {ceiling} tokens; we hung up")
            if now > self._transport.current.until:
                return Failure(kind="timeout", message="the time for the whole exchange is over")
        return None

    def _pace(self) -> None:
        if not self.limits.rpm:
            return
        now = time.monotonic()
        if now < self._next:
            self.sleep(self._next - now)
        self._next = max(now, self._next) + 60.0 / self.limits.rpm


def _wire(request: Request) -> httpx.Request:
    """The request with what HTTP itself needs added; the header names keep their spelling."""
    names = {name.lower() for name, _ in request.headers}
    headers = list(request.headers)
    if "accept" not in names:
        headers.append(("Accept", "*/*"))
    if "user-agent" not in names:
        headers.append(("User-Agent", f"kimi-conformance/{__version__}"))
    return httpx.Request(request.method, request.url, headers=headers, content=request.body)


def _headers(answer: httpx.Response) -> tuple[tuple[str, str], ...]:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers.raw)


def _first(chunks: list[Chunk]) -> tuple[Chunk, ...]:
    """The chunks until ``KEPT`` bytes are full."""
    kept: list[Chunk] = []
    size = 0
    for chunk in chunks:
        if size >= KEPT:
            break
        kept.append(replace(chunk, data=chunk.data[: KEPT - size]))
        size += len(chunk.data)
    return tuple(kept)


def _failure(error: Exception) -> Failure:
    if isinstance(error, httpcore.TimeoutException):
        kind = "timeout"
    elif isinstance(error, httpcore.ConnectError):
        kind = "refused"
    elif isinstance(error, httpcore.NetworkError) or _hung_up(str(error)):
        kind = "reset"
    else:
        kind = "protocol"
    return Failure(kind=kind, message=_words(error))


def _hung_up(message: str) -> bool:
    """Whether h11's protocol error says that the peer closed the connection early."""
    return "disconnected" in message or "closed connection" in message


def _words(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:LONGEST_MESSAGE]


def _retried(draft: Exchange, number: int) -> Exchange:
    """The draft of a further attempt."""
    return _no_longer_fresh(replace(draft, id=f"{draft.id}.{number}", attempt=number))


def _no_longer_fresh(draft: Exchange) -> Exchange:
    """A draft whose prompt may stand in a cache, since it was sent before."""
    return replace(draft, intents=tuple(intent for intent in draft.intents if intent is not Intent.FRESH))


def _kind(exchange: Exchange) -> str | None:
    return exchange.failure.kind if exchange.failure is not None else None


def _worth_another(exchange: Exchange, server_error: bool) -> bool:
    if exchange.failure is not None:
        return _kind(exchange) in ("refused", "reset")
    status = exchange.response.status if exchange.response else 0
    return status in TRANSIENT or (server_error and status >= 500)


def _wait(exchange: Exchange, number: int) -> float:
    """Seconds until the next attempt: what Retry-After says, otherwise 0.25, 0.5, 1 and so on."""
    headers = exchange.response.headers if exchange.response else ()
    told = next((value for name, value in headers if name.lower() == "retry-after"), None)
    if told is not None:
        if told.strip().isdecimal():
            return float(told.strip()[:9])
        try:
            moment = parsedate_to_datetime(told[:100])
        except (ValueError, TypeError, IndexError, OverflowError):
            pass
        else:
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    return 0.25 * 2.0 ** (number - 1)
