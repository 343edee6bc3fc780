"""Connections to the upstream: TLS, and the HTTP proxies that the environment names."""

from __future__ import annotations

import asyncio
import base64
import ssl
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass

import h11
import httpx

from conformance.client.deadlines import is_loopback
from conformance.proxy.addresses import Upstream
from conformance.proxy.channel import Channel

CONNECT_SECONDS = 30.0


class Unreachable(Exception):
    """The upstream cannot be connected to; ``kind`` is a failure's kind."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Dialler:
    """Opens connections to one upstream."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self._context: ssl.SSLContext | None = None
        if upstream.scheme == "https":
            self._context = httpx.create_ssl_context()
            self._context.set_alpn_protocols(["http/1.1"])
        bypassed = is_loopback(upstream.host) or proxy_bypass(upstream.host)
        self._proxy = None if bypassed else _http_proxy(getproxies().get(upstream.scheme))

    async def dial(self) -> Channel:
        """A new connection. Raises ``Unreachable``."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await (self._direct() if self._proxy is None else self._through(self._proxy))
        except TimeoutError:
            raise Unreachable("timeout", f"no connection within {CONNECT_SECONDS:.0f} seconds") from None
        except (OSError, h11.RemoteProtocolError, UnicodeError) as error:
            raise Unreachable("refused", _words(error)) from None

    async def _direct(self) -> Channel:
        upstream = self.upstream
        reader, writer = await asyncio.open_connection(
            upstream.host,
            upstream.port,
            ssl=self._context,
            server_hostname=upstream.host if self._context else None,
            happy_eyeballs_delay=0.25,
        )
        return Channel(h11.CLIENT, reader, writer)

    async def _through(self, proxy: httpx.URL) -> Channel:
        """A connection by way of a proxy: a tunnel for https, absolute targets for http."""
        upstream = self.upstream
        reader, writer = await asyncio.open_connection(proxy.host, proxy.port or 80)
        channel = Channel(h11.CLIENT, reader, writer)
        if self._context is None:
            channel.proxied = f"http://{upstream.authority}".encode()
            return channel
        try:
            await self._tunnel(channel, proxy)
            await writer.start_tls(self._context, server_hostname=upstream.host)
        except BaseException:
            writer.close()
            raise
        return Channel(h11.CLIENT, reader, writer)

    async def _tunnel(self, channel: Channel, proxy: httpx.URL) -> None:
        host = f"[{self.upstream.host}]" if ":" in self.upstream.host else self.upstream.host
        target = f"{host}:{self.upstream.port}".encode()
        headers = [(b"Host", target)]
        if proxy.userinfo:
            coded = base64.b64encode(unquote(proxy.userinfo.decode("ascii")).encode())
            headers.append((b"Proxy-Authorization", b"Basic " + coded))
        await channel.send(h11.Request(method=b"CONNECT", target=target, headers=headers))
        await channel.send(h11.EndOfMessage())
        event = await channel.event()
        while isinstance(event, h11.InformationalResponse):
            event = await channel.event()
        if not isinstance(event, h11.Response) or not 200 <= event.status_code < 300:
            told = event.status_code if isinstance(event, h11.Response) else "nothing"
            raise OSError(f"the HTTP proxy {proxy.host} answered {told} to CONNECT")


def _http_proxy(text: str | None) -> httpx.URL | None:
    return httpx.URL(text) if text is not None and text.startswith("http://") else None


def _words(error: Exception) -> str:
    return " ".join((getattr(error, "strerror", None) or str(error) or type(error).__name__).split())[:200]
