"""A reference server on loopback, in a thread of its own."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import uvicorn

from conformance.reference.application import app
from conformance.reference.hooks import Hooks
from conformance.reference.settings import Settings

_START = 60.0  # seconds that a start may take on a busy machine
_IDLE = 3600  # seconds; closing idle connections soon would break off what a slow client has on its way
_GRACE = 1  # seconds that open streams get at the end


class PortTakenError(OSError):
    """The address that the server should listen on cannot be bound."""


class NotStartedError(RuntimeError):
    """The server did not come up in time."""


@dataclass(frozen=True, kw_only=True)
class Running:
    """A server that answers; its base URLs lead to the same application."""

    base_urls: tuple[str, ...]

    @property
    def base_url(self) -> str:
        """The first base URL, such as ``http://127.0.0.1:49152``."""
        return self.base_urls[0]


@contextlib.contextmanager
def running(
    settings: Settings | None = None,
    *,
    hooks: Hooks | None = None,
    addresses: int = 2,
    host: str = "127.0.0.1",
    port: int = 0,
) -> Iterator[Running]:
    """Serve while the context is open, on as many ports as addresses are asked for.

    ``port`` is the first one's (0: any free one), further ones are free ones. Raises PortTakenError, or NotStartedError
    after a minute; leaving stops the server within a few seconds, whatever streams are open.
    """
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(_bound(host, port if number == 0 else 0)) for number in range(addresses)]
        config = uvicorn.Config(
            app(settings, hooks=hooks),
            log_config=None,
            log_level="critical",
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=_GRACE,
            timeout_keep_alive=_IDLE,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=(sockets,), name="reference server", daemon=True)
        thread.start()
        try:
            _wait(server, thread)
            ports = [each.getsockname()[1] for each in sockets]
            shown = f"[{host}]" if ":" in host else host
            yield Running(base_urls=tuple(f"http://{shown}:{number}" for number in ports))
        finally:
            server.should_exit = True
            thread.join(_START)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sets TCP_NODELAY by it
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        raise PortTakenError(f"cannot listen on {host} port {port}: {error}") from error
    return listener


def _wait(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise NotStartedError("the reference server did not start")
        time.sleep(0.005)
