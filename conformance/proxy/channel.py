"""One HTTP/1.1 connection of the proxy, to a client or to the upstream: h11 over asyncio's streams.

Neither uvicorn nor httpcore carries trailers, interim answers or the spelling of header names; h11, which both are
built on, does.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11

READ = 65_536  # bytes of one read
LONGEST_HEAD = 65_536  # bytes of a request's or answer's head
MOST_AHEAD = 65_536  # bytes of further requests that a client may send before it has its answer
CLOSING_SECONDS = 1.0
TAKING_SECONDS = 60.0  # that the other side may let pass without taking anything of what was written
TURNS = 3  # of the loop, in which it takes in what lies at its sockets

Event = Any  # h11's events, and its PAUSED
Role = type[h11.CLIENT] | type[h11.SERVER]


class Channel:
    """A connection and its HTTP state."""

    def __init__(self, role: Role, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.http = h11.Connection(role, max_incomplete_event_size=LONGEST_HEAD)
        self.proxied: bytes = b""  # what precedes each target where an HTTP proxy forwards in the clear
        self.ended = False  # the other side has closed
        self.came = 0  # bytes
        self._reader = reader
        self._writer = writer

    async def event(self) -> Event:
        """What comes next. Raises ``h11.RemoteProtocolError`` and ``OSError``."""
        while True:
            event = self.http.next_event()
            if event is not h11.NEED_DATA:
                return event
            data = await self._reader.read(READ)
            self.ended = not data
            self.came += len(data)
            self.http.receive_data(data)

    async def send(self, event: Event) -> None:
        """Write an event at once, and wait while the other side does not keep up. Raises ``OSError``."""
        data = self.http.send(event)
        if data:
            self._writer.write(data)
            await self._writer.drain()

    async def left(self) -> None:
        """Return when the other side has closed; what it sends meanwhile is kept for later, within bounds."""
        ahead = len(self.http.trailing_data[0])
        while ahead <= MOST_AHEAD:
            data = await self._reader.read(READ)
            self.http.receive_data(data)
            if not data:
                return
            ahead += len(data)
        await asyncio.Event().wait()

    async def stale(self) -> bool:
        """Whether the other side has closed the connection, or spoken, while nobody used it."""
        reading = asyncio.ensure_future(self._reader.read(1))
        for _ in range(TURNS):
            await asyncio.sleep(0)
        if not reading.done():
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            return self._writer.is_closing()
        reading.exception()
        return True

    def renewed(self) -> bool:
        """Make ready for the next request; False where the connection cannot take another one."""
        if self.http.our_state is not h11.DONE or self.http.their_state is not h11.DONE:
            return False
        if self.http.our_role is h11.CLIENT and self.http.trailing_data[0]:
            return False  # what nobody asked for
        self.http.start_next_cycle()
        return True

    async def close(self) -> None:
        """Close, once the other side has taken what was written or seems to be gone; never raises."""
        transport = self._writer.transport
        self._writer.close()
        closed = asyncio.ensure_future(self._writer.wait_closed())
        try:
            while not closed.done():
                left = transport.get_write_buffer_size()
                await asyncio.wait([closed], timeout=TAKING_SECONDS if left else CLOSING_SECONDS)
                if not closed.done() and transport.get_write_buffer_size() in (0, left):
                    transport.abort()
                    break
        finally:
            closed.cancel()
            await asyncio.gather(closed, return_exceptions=True)
