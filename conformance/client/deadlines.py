"""An httpx transport whose every exchange ends by a deadline, whatever the server does.

httpx bounds each read, so a server that drips one byte at a time holds it for ever, also within the headers. Here the
deadline is applied where bytes are read and written. There it also shows whether an exchange met a connection that was
used before, and not a byte on it: a server may close an idle one at any time (RFC 9112, 9.3.1).
"""

from __future__ import annotations

import ipaddress
import ssl
import time
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

LONGEST_IDLE = 4.0  # seconds; servers often close after 5, and a firewall forgets a connection without a word

_SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


class Current:
    """The exchange in hand, shared by a transport and its sockets: until when (``time.monotonic``), and what it met."""

    def __init__(self) -> None:
        self.begin(float("inf"))

    def begin(self, until: float) -> None:
        """Another exchange begins."""
        self.until = until
        self.connected = False  # for this exchange, or tried to
        self.answered = False  # by any byte

    def left(self, timeout: float | None) -> float:
        """Seconds that one network operation may take."""
        left = self.until - time.monotonic()
        return left if timeout is None else min(timeout, left)


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, current: Current) -> None:
        self._inner = inner
        self._current = current

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = self._current.left(timeout)
        if left <= 0:
            raise httpcore.ReadTimeout("the time for the whole exchange is over")
        data = self._inner.read(max_bytes, left)
        self._current.answered = self._current.answered or data != b""
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        left = self._current.left(timeout)
        if left <= 0:
            raise httpcore.WriteTimeout("the time for the whole exchange is over")
        self._inner.write(buffer, left)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = max(self._current.left(timeout), 0.001)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left), self._current)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, current: Current) -> None:
        self._inner = httpcore.SyncBackend()
        self._current = current

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[_SocketOption] | None = None,
    ) -> httpcore.NetworkStream:
        left = max(self._current.left(timeout), 0.001)
        self._current.connected = True
        inner = self._inner.connect_tcp(host, port, left, local_address, socket_options)
        return _Stream(inner, self._current)


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


class DeadlineTransport(httpx.BaseTransport):
    """One connection pool under a deadline; raises httpcore's exceptions.

    Proxies come from the environment, but never for loopback.
    """

    def __init__(self, url: str, *, timeout: float) -> None:
        self.current = Current()
        self._timeout = timeout
        self._pool = _pool(url, self.current)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send; the response's body is still to be read."""
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                httpcore.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                content=request.content,
                extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), self._timeout)},
            )
        )
        return httpx.Response(response.status, headers=response.headers, stream=_Body(response))

    def close(self) -> None:
        """Close all connections; the next exchange opens another."""
        self._pool.close()


def _pool(url: str, current: Current) -> httpcore.ConnectionPool:
    parts = httpx.URL(url)
    context = httpx.create_ssl_context() if parts.scheme == "https" else None
    backend = _Backend(current)
    proxy = None if is_loopback(parts.host) or proxy_bypass(parts.host) else getproxies().get(parts.scheme)
    shared: dict[str, Any] = {
        "ssl_context": context,
        "network_backend": backend,
        "max_connections": 4,
        "keepalive_expiry": LONGEST_IDLE,
    }
    if proxy is not None and proxy.startswith("http"):
        return httpcore.HTTPProxy(proxy, **shared)
    return httpcore.ConnectionPool(**shared)


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine itself."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
