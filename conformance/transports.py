"""Transports for httpx, and for httpx2 alike, that keep every exchange of the three endpoints as evidence.

They wrap the transport that a client has anyway: requests and streams pass untouched, chunk by chunk, and what passed
becomes an exchange once the answer ends. The official SDKs take them by way of their ``http_client``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from conformance.evidence import Journal
from conformance.evidence.tap import LEFT, Budget, Tap, evidence_of
from conformance.protocols import surface
from conformance.redact import Secrets
from conformance.values import Exchange, Failure

if TYPE_CHECKING:
    _Transport = Any  # both libraries' clients take it, although neither needs to be there
else:
    _Transport = object

KEY_ENV = "KIMI_API_KEY"
LIMIT = 64 * 1024**2
"""Bytes of one exchange that are kept; a longer answer counts as cut there."""

_LIBRARIES = ("httpx", "httpx2")
_NAMES = count(1)  # ids are unique in the process, so that several transports may write one journal
_REFUSED = {"ConnectError", "ProxyError", "UnsupportedProtocol"}


class _Recorder:
    """What both transports have in common: where exchanges go."""

    def __init__(self, journal: Journal | str | Path | None) -> None:
        self.exchanges: list[Exchange] = []
        """What passed, in the order in which answers ended, keys hidden; empty where a journal is written instead."""

        self._own = Journal(journal) if isinstance(journal, str | Path) else None
        self._journal = self._own if self._own is not None else journal if isinstance(journal, Journal) else None
        self._secrets = Secrets(filter(None, [os.environ.get(KEY_ENV, "").strip()]))
        self._open: dict[int, _Watched] = {}

    def settle(self) -> None:
        """Take answers that nobody has read to their end for cut, now instead of when they are closed."""
        for watched in list(self._open.values()):
            watched.end(LEFT)

    def _watch(self, request: Any) -> _Watched | None:
        """The record of a request of the three endpoints; None for any other."""
        method, url = str(request.method), str(request.url)
        if surface(method, url) is None:
            return None
        tap = Tap(str(next(_NAMES)), method, url, request.headers.raw, Budget(LIMIT))
        watched = _Watched(tap, self._keep)
        self._open[id(watched)] = watched
        return watched

    def _keep(self, watched: _Watched, failure: Failure | None) -> None:
        self._open.pop(id(watched), None)
        seen = watched.tap.ended(failure)
        found = None if seen is None else evidence_of(seen)
        if not isinstance(found, Exchange):
            return
        clean = self._secrets.exchange(found)
        if self._journal is None:
            self.exchanges.append(clean)
        else:
            self._journal.append(clean)

    def _close(self) -> None:
        self.settle()
        if self._own is not None:
            self._own.close()


class _Watched:
    """One exchange on its way; it ends once."""

    def __init__(self, tap: Tap, keep: Callable[[_Watched, Failure | None], None]) -> None:
        self.tap = tap
        self._keep: Callable[[_Watched, Failure | None], None] | None = keep

    def end(self, failure: Failure | None = None) -> None:
        """Hand on what passed; calls after the first do nothing."""
        keep, self._keep = self._keep, None
        if keep is not None:
            keep(self, failure)

    def broke(self, error: BaseException) -> None:
        """End with what a library raised; an exception that is none of a library is the client's own leaving."""
        names = {base.__name__ for base in type(error).__mro__}
        if "TransportError" not in names:
            self.end(LEFT)
            return
        words = (str(error) or type(error).__name__)[:300]
        hung_up = "disconnected" in words or "closed connection" in words
        if "TimeoutException" in names:
            kind = "timeout"
        elif names & _REFUSED:
            kind = "refused"
        else:
            kind = "reset" if "NetworkError" in names or hung_up else "protocol"
        self.end(Failure(kind=kind, message=words))


class ConformanceTransport(_Recorder, _Transport):  # type: ignore[misc]  # Any by intent
    """A transport for ``httpx.Client`` or ``httpx2.Client`` that records.

    ``inner`` does the work; without one it is the HTTPTransport of whichever library sends first. ``journal`` is a
    ``Journal`` or a path, opened now and closed with the transport; without one, exchanges are kept in ``exchanges``.
    """

    def __init__(self, inner: Any = None, *, journal: Journal | str | Path | None = None) -> None:
        super().__init__(journal)
        self._inner = inner

    def handle_request(self, request: Any) -> Any:
        """Send by way of the inner transport, and watch the answer."""
        if self._inner is None:
            self._inner = _library(request).HTTPTransport()
        watched = self._watch(request)
        if watched is None:
            return self._inner.handle_request(request)
        watched.tap.sent(request.read())
        try:
            response = self._inner.handle_request(request)
        except BaseException as error:
            watched.broke(error)
            raise
        watched.tap.answered(response.status_code, response.headers.raw)
        response.stream = _sync_stream(_library(response))(response.stream, watched)
        return response

    def close(self) -> None:
        """Close the inner transport, and a journal that this one opened."""
        try:
            if self._inner is not None:
                self._inner.close()
        finally:
            self._close()

    def __enter__(self) -> Self:
        if self._inner is not None:
            self._inner.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        try:
            if self._inner is not None:
                self._inner.__exit__(kind, error, trace)
        finally:
            self._close()


class AsyncConformanceTransport(_Recorder, _Transport):  # type: ignore[misc]  # Any by intent
    """The same for ``httpx.AsyncClient`` or ``httpx2.AsyncClient``."""

    def __init__(self, inner: Any = None, *, journal: Journal | str | Path | None = None) -> None:
        super().__init__(journal)
        self._inner = inner

    async def handle_async_request(self, request: Any) -> Any:
        """Send by way of the inner transport, and watch the answer."""
        if self._inner is None:
            self._inner = _library(request).AsyncHTTPTransport()
        watched = self._watch(request)
        if watched is None:
            return await self._inner.handle_async_request(request)
        watched.tap.sent(await request.aread())
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException as error:
            watched.broke(error)
            raise
        watched.tap.answered(response.status_code, response.headers.raw)
        response.stream = _async_stream(_library(response))(response.stream, watched)
        return response

    async def aclose(self) -> None:
        """Close the inner transport, and a journal that this one opened."""
        try:
            if self._inner is not None:
                await self._inner.aclose()
        finally:
            self._close()

    async def __aenter__(self) -> Self:
        if self._inner is not None:
            await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        try:
            if self._inner is not None:
                await self._inner.__aexit__(kind, error, trace)
        finally:
            self._close()


class _Stream:
    """The stream of an answer, passed on chunk by chunk."""

    def __init__(self, inner: Any, watched: _Watched) -> None:
        self._inner, self._watched = inner, watched

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._inner:
                self._watched.tap.received(chunk)
                yield chunk
        except BaseException as error:
            self._watched.broke(error)
            raise
        self._watched.end()

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._watched.end(LEFT)


class _AsyncStream:
    """The same for an asynchronous answer."""

    def __init__(self, inner: Any, watched: _Watched) -> None:
        self._inner, self._watched = inner, watched

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                self._watched.tap.received(chunk)
                yield chunk
        except BaseException as error:
            self._watched.broke(error)
            raise
        self._watched.end()

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._watched.end(LEFT)


def _library(value: Any) -> ModuleType:
    """The library, httpx or httpx2, that made a request or response; each takes streams of its own kind only."""
    for base in type(value).__mro__:
        name = base.__module__.partition(".")[0]
        if name in _LIBRARIES:
            return importlib.import_module(name)
    raise TypeError(f"expected a request or response of {' or '.join(_LIBRARIES)}, got {type(value).__name__}")


@cache
def _sync_stream(library: ModuleType) -> type[_Stream]:
    return type("RecordedStream", (_Stream, library.SyncByteStream), {})


@cache
def _async_stream(library: ModuleType) -> type[_AsyncStream]:
    return type("RecordedStream", (_AsyncStream, library.AsyncByteStream), {})
