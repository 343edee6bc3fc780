"""The proxy on its address, in a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from conformance.evidence.tap import Seen
from conformance.proxy.addresses import BadAddress, Listen, Upstream
from conformance.proxy.relay import Relay, Taps

GRACE_SECONDS = 1.0  # that open exchanges get at the end
START_SECONDS = 60.0
BACKLOG = 128


@dataclass(frozen=True, kw_only=True)
class Running:
    """A proxy that answers."""

    base_url: str
    upstream: Upstream


@contextmanager
def running(upstream: Upstream, listen: Listen, *, tap: Taps, take: Callable[[Seen | None], None]) -> Iterator[Running]:
    """Forward while the context is open. Raises ``BadAddress`` where the address cannot be listened on.

    ``tap`` gives the tap for each request and ``take`` gets what it kept; both are called from the proxy's thread and
    must not wait. Leaving gives open exchanges a second, then breaks them off.
    """
    listener = _bound(listen)
    relay = Relay(upstream, tap, take)
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    started = threading.Event()

    def work() -> None:
        asyncio.set_event_loop(loop)
        loop.set_exception_handler(lambda *_: None)  # what breaks is one connection, and its exchange says so
        try:
            loop.run_until_complete(_serve(relay, listener, stop, started))
            loop.run_until_complete(loop.shutdown_default_executor())  # it resolves names
        finally:
            loop.close()

    thread = threading.Thread(target=work, name="proxy", daemon=True)
    thread.start()
    try:
        if not started.wait(START_SECONDS):
            raise BadAddress("the proxy did not start in time")
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        yield Running(base_url=f"http://{shown}:{port}", upstream=upstream)
    finally:
        with suppress(RuntimeError):  # the loop has ended by itself
            loop.call_soon_threadsafe(stop.set)
        thread.join(START_SECONDS)
        listener.close()


async def _serve(relay: Relay, listener: socket.socket, stop: asyncio.Event, started: threading.Event) -> None:
    clients: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(relay.serve(reader, writer))
        clients.add(task)
        task.add_done_callback(clients.discard)

    server = await asyncio.start_server(accept, sock=listener, backlog=BACKLOG)
    started.set()
    await stop.wait()
    server.close()
    if clients:
        await asyncio.wait(tuple(clients), timeout=GRACE_SECONDS)
    for task in tuple(clients):
        task.cancel()
    await asyncio.gather(*clients, return_exceptions=True)


def _bound(listen: Listen) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(listen.host, listen.port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sets TCP_NODELAY by it
    except (OSError, UnicodeError) as error:
        raise BadAddress(f"cannot listen on {listen.host}: {error}") from None
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise BadAddress(f"cannot listen on {listen.host} port {listen.port}: {error.strerror or error}") from None
    return listener
