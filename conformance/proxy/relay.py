"""The connections of clients: request after request, each through a passage of its own.

A connection to the upstream belongs to one client's connection, so that keep-alive behaves as it does without the
proxy, and no client inherits a connection that another one left.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress

import h11

from conformance.evidence.tap import Seen, Tap
from conformance.proxy.addresses import Upstream
from conformance.proxy.channel import Channel
from conformance.proxy.dialling import Dialler
from conformance.proxy.passage import Passage
from conformance.proxy.refusals import refusal

Taps = Callable[[str, str, list[tuple[bytes, bytes]]], Tap | None]
"""Gives the tap for a request of a method, URL and headers; None where it is not judged."""


class Relay:
    """Serves the connections of clients.

    ``take`` gets what was seen of each tapped exchange, None where its request was too large to keep.
    """

    def __init__(self, upstream: Upstream, tap: Taps, take: Callable[[Seen | None], None]) -> None:
        self._dialler = Dialler(upstream)
        self._tap, self._take = tap, take
        self._name = b"kimi-conformance-" + secrets.token_hex(4).encode()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client's connection, until either side is done with it; never raises but when cancelled."""
        client = Channel(h11.SERVER, reader, writer)
        line: Channel | None = None
        try:
            while True:
                event = await client.event()
                if not isinstance(event, h11.Request):
                    break
                passage = Passage(client, line, event, self._dialler, name=self._name, tap=self._tapped(event))
                try:
                    await passage.run(self._take)
                finally:
                    line = passage.line
                if not client.renewed():
                    break
        except h11.RemoteProtocolError as error:
            await _refused(client, error)
        except OSError:
            pass  # the client is gone
        finally:
            if line is not None:
                await line.close()
            await client.close()

    def _tapped(self, request: h11.Request) -> Tap | None:
        url = self._dialler.upstream.base_url + request.target.decode("latin-1")
        return self._tap(request.method.decode("latin-1"), url, list(request.headers.raw_items()))


async def _refused(client: Channel, error: h11.RemoteProtocolError) -> None:
    """Answer what is no HTTP request, where an answer can still be sent."""
    if client.http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
        return
    status = error.error_status_hint or 400
    headers, body = refusal("POST", "/", status, f"no HTTP/1.1 request ({error})"[:200])
    with suppress(OSError, h11.LocalProtocolError):
        await client.send(h11.Response(status_code=status, headers=[*headers, (b"Connection", b"close")]))
        await client.send(h11.Data(data=body))
        await client.send(h11.EndOfMessage())
