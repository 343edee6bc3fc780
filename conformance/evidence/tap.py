"""A bounded copy of an exchange that passes by, and the evidence that it becomes.

Whoever forwards bytes (the proxy, a transport) tells a ``Tap`` what passes, which costs a few appends. What is dear,
undoing codings and reading the body, is done later, by ``evidence_of``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from conformance.evidence.codings import decoded
from conformance.evidence.entries import exchange
from conformance.evidence.unfolding import unfolded
from conformance.protocols import read
from conformance.values import Chunk, Exchange, Failure, Request, Response

LARGEST_REQUEST = 32 * 1024**2
"""Bytes of a request body that are kept; a larger request cannot be judged."""

LARGEST_RESPONSE = 16 * 1024**2
"""Bytes of a response body that are kept; a larger response is judged as one that was cut there."""

OVERHEAD = 200  # bytes that a chunk costs beside its data
LEFT = Failure(kind="cut", message="the client left before the end of the answer")
TOO_LARGE = "the request is too large to be kept"
UNREADABLE = "the request body cannot be decoded"

Headers = Iterable[tuple[bytes, bytes]]


class Budget:
    """Bytes that copies may hold together; safe to share between threads."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Whether so many bytes were left; they are taken if so."""
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True

    def give(self, size: int) -> None:
        """Give back bytes that were taken."""
        with self._lock:
            self._left += size


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a tap kept: an exchange as it was on the wire, codings not undone."""

    id: str
    request: Request
    response: Response | None
    failure: Failure | None
    started: str
    attempt: int = 1
    cost: int = 0  # bytes of the budget that it holds
    bounded: bool = False  # the response was cut by a bound of the tap


class Tap:
    """One exchange that passes by. Times are counted from the moment it is made."""

    def __init__(self, name: str, method: str, url: str, headers: Headers, budget: Budget) -> None:
        self._name, self._method, self._url, self._headers = name, method, url, _text(headers)
        self._budget = budget
        self._started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._begun = time.monotonic()
        self._sent: list[bytes] = []
        self._chunks: list[Chunk] = []
        self._head: tuple[int, tuple[tuple[str, str], ...]] | None = None
        self._cut: Failure | None = None
        self._cost = self._request_size = self._response_size = 0
        self._whole = self._take(OVERHEAD + sum(len(name) + len(value) for name, value in self._headers))

    def sent(self, data: bytes) -> None:
        """A piece of the request body."""
        self._request_size += len(data)
        if self._whole:
            self._whole = self._request_size <= LARGEST_REQUEST and self._take(len(data) + OVERHEAD)
            self._sent.append(data)

    def answered(self, status: int, headers: Headers) -> None:
        """Status and headers of the response."""
        self._head = (status, _text(headers))

    def received(self, data: bytes) -> None:
        """A piece of the response body, as it came."""
        if self._cut is not None or not data:
            return
        self._response_size += len(data)
        if self._response_size > LARGEST_RESPONSE:
            self._cut = Failure(kind="cut", message=f"the body is larger than {LARGEST_RESPONSE} bytes")
        elif not self._take(len(data) + OVERHEAD):
            self._cut = Failure(kind="cut", message="the rest was not kept: too much is waiting to be judged")
        else:
            self._chunks.append(Chunk(ms=round((time.monotonic() - self._begun) * 1000, 3), data=data))

    def ended(self, failure: Failure | None = None) -> Seen | None:
        """What was kept, its budget with it; None where the request was not kept whole, its budget given back."""
        if not self._whole:
            self.dropped()
            return None
        response = None
        if self._head is not None:
            response = Response(status=self._head[0], headers=self._head[1], chunks=tuple(self._chunks))
        return Seen(
            id=self._name,
            request=Request(method=self._method, url=self._url, headers=self._headers, body=b"".join(self._sent)),
            response=response,
            failure=self._cut if response is not None and self._cut is not None else failure,
            started=self._started,
            attempt=_attempt(self._headers),
            cost=self._cost,
            bounded=self._cut is not None,
        )

    def dropped(self) -> None:
        """Give back the budget; nothing becomes of this exchange."""
        self._budget.give(self._cost)
        self._cost = 0

    def _take(self, size: int) -> bool:
        if not self._budget.take(size):
            return False
        self._cost += size
        return True


def evidence_of(seen: Seen) -> Exchange | str:
    """The exchange, codings undone, or the reason why it cannot be judged.

    A client that leaves once the last event of a stream has arrived has cut nothing.
    """
    body, problem = decoded(seen.request.body, seen.request.headers)
    if problem is not None:
        return UNREADABLE
    response, failure = seen.response, seen.failure
    if response is not None:
        chunks, problem = unfolded(response.chunks, response.headers)
        response = msgspec.structs.replace(response, chunks=chunks)
        if problem is not None and failure is None:
            failure = Failure(kind="cut", message=problem)
    request = msgspec.structs.replace(seen.request, body=body)
    found = exchange(seen.id, "", request, response, failure, started=seen.started)
    if isinstance(found, str):
        return found
    found = msgspec.structs.replace(found, file=None, live=True, attempt=seen.attempt)
    if failure == LEFT:
        unbroken = msgspec.structs.replace(found, failure=None)
        if response is not None and read(unbroken).complete:
            return unbroken
    return found


def _text(headers: Headers) -> tuple[tuple[str, str], ...]:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)


def _attempt(headers: tuple[tuple[str, str], ...]) -> int:
    """Which attempt it is, by the word of the official SDKs."""
    told = next((value for name, value in headers if name.lower() == "x-stainless-retry-count"), "")
    return int(told) + 1 if told.isdecimal() and len(told) < 4 else 1
