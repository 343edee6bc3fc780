"""Servers that misbehave on purpose, on loopback and in threads."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import brotli
import zstandard

Handler = Callable[["Connection"], None]

PATIENCE = 60.0  # seconds for what must come: a loaded machine is slow, and a time-out that is in vain is rare
SHORT = (0.3, 3.0, 30.0)  # time-outs that are to run out, each where the one before was too short for a loaded machine


@dataclass
class Connection:
    """One accepted connection; ``request`` reads the next request, None when the client is gone.

    ``number`` is the latest request's among all that the server has seen, from 1.
    """

    socket: socket.socket
    server: Server
    number: int = 0
    _left: bytes = b""

    def request(self) -> bytes | None:
        data = self._left
        while b"\r\n\r\n" not in data:
            more = self.socket.recv(65536)
            if not more:
                return None
            data += more
        head, _, rest = data.partition(b"\r\n\r\n")
        length = next(
            (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        while len(rest) < length:
            more = self.socket.recv(65536)
            if not more:
                return None
            rest += more
        self._left = rest[length:]
        with self.server.counting:
            self.server.seen += 1
            self.number = self.server.seen
        return head + b"\r\n\r\n" + rest[:length]

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self, status: int, body: bytes, *headers: str, media_type: str = "application/json") -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Type: {media_type}", f"Content-Length: {len(body)}", *headers]
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def wait(self, seconds: float = PATIENCE) -> bool:
        """Whether the server stopped meanwhile."""
        return self.server.stopping.wait(seconds)

    def drip(self, data: bytes) -> None:
        """Send something again and again, but not for ever, so that a client without a limit fails its test."""
        until = time.monotonic() + PATIENCE
        while not self.wait(0.05) and time.monotonic() < until:
            self.send(data)


@dataclass
class Server:
    handler: Handler
    seen: int = 0
    counting: threading.Lock = field(default_factory=threading.Lock)
    stopping: threading.Event = field(default_factory=threading.Event)
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0), backlog=64))

    def __post_init__(self) -> None:
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def close(self) -> None:
        """Refuse every further connection."""
        self.stopping.set()
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def serve(self) -> None:
        while not self.stopping.is_set():
            try:
                accepted, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._handle, args=(accepted,), daemon=True).start()

    def _handle(self, accepted: socket.socket) -> None:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with accepted, contextlib.suppress(OSError):
            self.handler(Connection(accepted, self))


@contextlib.contextmanager
def serving(handler: Handler) -> Iterator[Server]:
    server = Server(handler)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(PATIENCE)


@contextlib.contextmanager
def closed_port() -> Iterator[str]:
    """A URL where nobody listens, and nobody else can: the port is taken."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def always(answer: Callable[[Connection, bytes], None]) -> Handler:
    """Answer every request in the same way, keeping the connection."""

    def handle(connection: Connection) -> None:
        while (request := connection.request()) is not None:
            answer(connection, request)

    return handle


def fixed(status: int, body: bytes, *headers: str, media_type: str = "application/json") -> Handler:
    return always(lambda connection, _: connection.answer(status, body, *headers, media_type=media_type))


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def closes(connection: Connection) -> None:
    connection.request()


def resets(connection: Connection) -> None:
    connection.request()
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def silent(connection: Connection) -> None:
    connection.wait()


def stalls(connection: Connection) -> None:
    connection.request()
    connection.send(STREAM_HEAD + chunk(b'data: {"id":"1"}\n\n'))
    connection.wait()


def breaks_off(connection: Connection) -> None:
    connection.request()
    connection.send(STREAM_HEAD + chunk(b'data: {"id":"1"}\n\n'))


def endless(connection: Connection) -> None:
    connection.request()
    connection.send(STREAM_HEAD)
    data = chunk(b'data: {"choices":[]}\n\n' * 1000)
    while not connection.server.stopping.is_set():
        connection.send(data)


def drips_headers(connection: Connection) -> None:
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    connection.drip(b"a")


def drips_body(connection: Connection) -> None:
    connection.request()
    connection.send(STREAM_HEAD)
    connection.drip(chunk(b":\n"))


def huge_header(connection: Connection) -> None:
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\nX-Huge: " + b"a" * 2_000_000 + b"\r\n\r\n")


def no_http(connection: Connection) -> None:
    connection.request()
    connection.send(b"\x16\x03\x01\x00\xff\r\n\r\nSSH-2.0-OpenSSH\r\n")


def endless_informational(connection: Connection) -> None:
    connection.request()
    connection.drip(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def short_body(connection: Connection) -> None:
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{}")


def zipped(body: bytes) -> Handler:
    return fixed(200, gzip.compress(body), "Content-Encoding: gzip")


def bomb(coding: str, size: int) -> Handler:
    """A body that unfolds to ``size`` bytes of nothing; that of gzip lacks its end."""
    part = bytes(10_000_000)
    if coding == "gzip":
        packer = zlib.compressobj(wbits=31)
        start, again = (packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
        data = start + again * (size // len(part))
    elif coding == "br":
        broth = brotli.Compressor(quality=0)
        data = b"".join(broth.process(part) for _ in range(size // len(part))) + broth.finish()
    else:
        standard = zstandard.ZstdCompressor().compressobj()
        data = b"".join(standard.compress(part) for _ in range(size // len(part))) + standard.flush()
    return fixed(200, data, f"Content-Encoding: {coding}")


def raw(data: bytes) -> Handler:
    """These bytes to one request of each connection, which then closes."""

    def handle(connection: Connection) -> None:
        connection.request()
        connection.send(data)

    return handle


def without_end(start: bytes, part: bytes) -> Handler:
    """The start, and then the part again and again, as fast as the client takes it."""

    def handle(connection: Connection) -> None:
        connection.request()
        connection.send(start)
        while not connection.server.stopping.is_set():
            connection.send(part)

    return handle


def echoes(connection: Connection, request: bytes) -> None:
    """The whole request, headers included, comes back in the answer."""
    words = request.decode("latin-1")
    connection.answer(200, json.dumps({"echo": words}).encode(), f"X-Echo: {words.split('Bearer ')[-1].split()[0]}")


def dies_after(number: int) -> Handler:
    """Answer so many requests, then be gone."""

    def answer(connection: Connection, request: bytes) -> None:
        if connection.number > number:
            connection.server.close()
            raise OSError
        connection.answer(200, b"{}")

    return always(answer)
