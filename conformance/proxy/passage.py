"""One request on its way to the upstream and its answer on the way back, byte by byte as they come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

import h11

from conformance.evidence.tap import LEFT, Seen, Tap
from conformance.proxy.channel import Channel
from conformance.proxy.dialling import Dialler, Unreachable
from conformance.proxy.headers import homeward, looped, onward
from conformance.proxy.refusals import refusal
from conformance.values import Failure

LINGER_SECONDS = 2.0  # that a client gets to finish a request that was answered early
IDLE_CLOSE_SECONDS = 1.0
"""A kept connection that ends so soon after a request, without a byte, was closed as idle while the request left."""

STOPPED = Failure(kind="cut", message="the proxy was stopped before the end of the answer")
CLOSED = Failure(kind="reset", message="the upstream closed a kept connection while the request was on its way")
"""The client's connection ends like that too: it may send again, as it would without the proxy; RFC 9110, section
9.2.2, forbids a proxy to."""


class Gone(Exception):
    """The client went away."""


class Broke(Exception):
    """The upstream broke the exchange off; ``kind`` is a failure's kind."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Kept:
    """A connection that is used again, from the moment at which a request leaves."""

    def __init__(self, line: Channel) -> None:
        self._line, self._came, self._since = line, line.came, time.monotonic()

    def was_idle(self) -> bool:
        """Whether a connection that broke off was closed as idle while the request left."""
        return self._line.came == self._came and time.monotonic() - self._since < IDLE_CLOSE_SECONDS


class Passage:
    """One exchange. ``line`` is a connection to the upstream that may be used again, and stays one afterwards."""

    def __init__(
        self,
        client: Channel,
        line: Channel | None,
        request: h11.Request,
        dialler: Dialler,
        *,
        name: bytes,
        tap: Tap | None,
    ) -> None:
        self.line = line
        self._client, self._request, self._dialler, self._name, self._tap = client, request, dialler, name, tap
        self._began = self._trailers = False

    async def run(self, take: Callable[[Seen | None], None]) -> None:
        """Forward, whatever happens; ``take`` gets what was seen of a tapped exchange, also where this is cancelled."""
        failure: Failure | None = STOPPED
        try:
            failure = await self._forward()
        finally:
            if self._tap is not None:
                take(self._tap.ended(failure))
            if failure is not None or self.line is None or not self.line.renewed():
                await self._hang_up()

    async def _forward(self) -> Failure | None:
        if not self._request.target.startswith(b"/"):
            self._untap()
            return await self._refuse(400, "only paths of the upstream are forwarded")
        if looped(self._request.headers, self._name):
            self._untap()
            return await self._refuse(508, "the upstream is this proxy itself")
        return await self._carried()

    async def _carried(self) -> Failure | None:
        kept: Kept | None = None
        try:
            if self.line is not None and await self.line.stale():
                await self._hang_up()
            if self.line is None:
                self.line = await self._dialler.dial()
            else:
                kept = Kept(self.line)
            await self._exchange(self.line)
        except Gone:
            return LEFT
        except Unreachable as error:
            message = f"cannot connect to {self._dialler.upstream.base_url}: {error}"
            return await self._fail(error.kind, str(error), message)
        except Broke as error:
            if kept is not None and kept.was_idle():
                return CLOSED
            message = f"{self._dialler.upstream.base_url} broke the connection off: {error}"
            return await self._fail(error.kind, str(error), message)
        return None

    async def _exchange(self, line: Channel) -> None:
        """Send the request and pass the answer back. Raises ``Gone`` or ``Broke``."""
        request = self._request
        via = request.http_version + b" " + self._name
        upstream = self._dialler.upstream
        headers = onward(request.headers.raw_items(), authority=upstream.authority.encode(), via=via)
        target = line.proxied + upstream.prefix.encode() + request.target
        try:
            await line.send(h11.Request(method=request.method, target=target, headers=headers))
        except (OSError, h11.LocalProtocolError) as error:
            raise Broke("reset", _words(error)) from None
        sending = asyncio.create_task(self._send(line))
        answering = asyncio.create_task(self._answer(line))
        tasks = {sending, answering}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
            else:
                sending.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await self._drained()

    async def _send(self, line: Channel) -> None:
        """Pass the request's body on, then watch the client. Raises ``Gone``; returns never."""
        try:
            while True:
                event = await self._received()
                if isinstance(event, h11.EndOfMessage):
                    await self._send_on(line, h11.EndOfMessage(headers=event.headers.raw_items()))
                    break
                await self._send_on(line, h11.Data(data=event.data))
            await self._client.left()
        except (OSError, h11.ProtocolError):
            raise Gone from None
        raise Gone

    async def _send_on(self, line: Channel, event: h11.Data | h11.EndOfMessage) -> None:
        for _ in range(2):  # lets the loop take in an early answer, which asyncio loses where this write fails
            await asyncio.sleep(0)
        try:
            await line.send(event)
        except (OSError, h11.LocalProtocolError):
            await asyncio.Event().wait()  # the upstream takes no more; why is for the answer to say

    async def _received(self) -> h11.Data | h11.EndOfMessage:
        """The next part of the request, kept for the judge. Raises ``Gone``, ``OSError``, ``h11.ProtocolError``."""
        event = await self._client.event()
        if isinstance(event, h11.Data):
            if self._tap is not None:
                self._tap.sent(bytes(event.data))
            return event
        if isinstance(event, h11.EndOfMessage):
            return event
        raise Gone

    async def _answer(self, line: Channel) -> None:
        """Pass the answer back as it comes. Raises ``Gone`` or ``Broke``."""
        while True:
            try:
                event = await line.event()
            except (OSError, h11.RemoteProtocolError) as error:
                if line.ended:
                    raise Broke(
                        "reset", "closed before the end of the answer" if self._began else "no answer"
                    ) from None
                raise Broke("reset" if isinstance(error, OSError) else "protocol", _words(error)) from None
            try:
                if await self._pass_back(event):
                    return
            except (OSError, h11.LocalProtocolError):
                raise Gone from None

    async def _pass_back(self, event: object) -> bool:
        """Whether this was the end."""
        client, tap = self._client, self._tap
        if isinstance(event, h11.Data):
            data = bytes(event.data)
            if tap is not None:
                tap.received(data)
            await client.send(h11.Data(data=data))
        elif isinstance(event, h11.Response):
            headers = homeward(event.headers.raw_items())
            if tap is not None:
                tap.answered(event.status_code, headers)
            self._began = True
            self._trailers = self._takes_trailers(event)
            await client.send(h11.Response(status_code=event.status_code, headers=headers, reason=event.reason))
        elif isinstance(event, h11.EndOfMessage):
            trailers = event.headers.raw_items() if self._trailers else []
            await client.send(h11.EndOfMessage(headers=trailers))
            return True
        elif isinstance(event, h11.InformationalResponse):
            if self._request.http_version >= b"1.1":
                headers = homeward(event.headers.raw_items())
                await client.send(
                    h11.InformationalResponse(status_code=event.status_code, headers=headers, reason=event.reason)
                )
        else:
            raise Broke("reset", "no answer")
        return False

    def _takes_trailers(self, answer: h11.Response) -> bool:
        """Whether the client's side of the answer is chunked, which alone has room for trailers."""
        bodiless = self._request.method == b"HEAD" or answer.status_code in (204, 304)
        sized = any(name == b"content-length" for name, _ in answer.headers)
        return self._request.http_version >= b"1.1" and not bodiless and not sized

    async def _fail(self, kind: str, message: str, words: str) -> Failure:
        """Tell the client: by an answer of ours, or by breaking its answer off where it broke off."""
        if not self._began:
            await self._refuse(502, words)
        return Failure(kind=kind, message=message)

    async def _refuse(self, status: int, message: str) -> Failure:
        await self._drained()
        url = self._request.target.decode("latin-1")
        headers, body = refusal(self._request.method.decode("latin-1"), url, status, message)
        reason = HTTPStatus(status).phrase.encode()
        with suppress(OSError, h11.LocalProtocolError):
            await self._client.send(h11.Response(status_code=status, headers=headers, reason=reason))
            await self._client.send(h11.Data(data=body))
            await self._client.send(h11.EndOfMessage())
        return Failure(kind="refused", message=message)

    async def _drained(self) -> None:
        """Let the client finish its request, since closing earlier could destroy the answer on its way."""
        http = self._client.http
        if http.their_state is not h11.SEND_BODY or http.they_are_waiting_for_100_continue:
            return
        with suppress(OSError, h11.ProtocolError, Gone, TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while not isinstance(await self._received(), h11.EndOfMessage):
                    pass

    def _untap(self) -> None:
        """Keep nothing of an exchange that never concerned the upstream."""
        if self._tap is not None:
            self._tap.dropped()
            self._tap = None

    async def _hang_up(self) -> None:
        line, self.line = self.line, None
        if line is not None:
            await line.close()


def _words(error: Exception) -> str:
    return " ".join((getattr(error, "strerror", None) or str(error) or type(error).__name__).split())[:200]
