"""A connection's end: what was written is taken first."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import h11
import pytest
from scripted_upstream import SECONDS

from conformance.proxy import channel
from conformance.proxy.channel import Channel

DATA = b"x" * 1_000_000  # more than the system keeps on its way


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(SECONDS)
        yield ours, theirs


async def closing(ours: socket.socket) -> asyncio.Task[None]:
    """A connection that closes with nearly all of the data still to be taken."""
    reader, writer = await asyncio.open_connection(sock=ours)
    writer.write(DATA)
    task = asyncio.create_task(Channel(h11.SERVER, reader, writer).close())
    await asyncio.sleep(0)
    assert writer.transport.get_write_buffer_size() > len(DATA) / 2
    return task


def taken(theirs: socket.socket) -> int:
    count = 0
    while data := theirs.recv(65_536):
        count += len(data)
    return count


def test_whoever_is_slow_to_take_the_end_gets_it_whole(ends, monkeypatch):
    monkeypatch.setattr(channel, "CLOSING_SECONDS", 0.0)

    async def work() -> int:
        task = await closing(ends[0])
        await asyncio.wait([task], timeout=0.1)
        count = await asyncio.to_thread(taken, ends[1])
        await task
        return count

    assert asyncio.run(work()) == len(DATA)


def test_whoever_takes_nothing_is_gone(ends, monkeypatch):
    monkeypatch.setattr(channel, "TAKING_SECONDS", 0.01)

    async def work() -> None:
        await (await closing(ends[0]))

    asyncio.run(work())
    assert taken(ends[1]) < len(DATA) / 2
