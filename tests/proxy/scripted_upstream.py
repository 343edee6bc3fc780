"""An upstream that says byte for byte what a test scripts, and a client that reads byte for byte what comes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from conformance import proxy
from conformance.evidence.tap import Budget, Seen, Tap
from conformance.protocols import surface

SECONDS = 60  # of patience: a loaded machine is slow, and what never comes is rare
CHAT = "/v1/chat/completions"


class Upstream:
    """Serves each connection with a script, a function of its socket."""

    def __init__(self, script: Callable[[Peer], None]) -> None:
        self.connections = 0
        self.closed = 0  # connections, by their script's end
        self._ending = threading.Condition()
        self.errors: list[BaseException] = []
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(SECONDS)
            try:
                self._script(Peer(connection))
            except (OSError, AssertionError) as error:
                self.errors.append(error)
        with self._ending:
            self.closed += 1
            self._ending.notify_all()

    def has_closed(self, count: int) -> bool:
        """Wait until so many connections are closed."""
        with self._ending:
            return self._ending.wait_for(lambda: self.closed >= count, SECONDS)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(SECONDS)


class Peer:
    """A socket that reads up to a mark."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._rest = b""

    def until(self, mark: bytes) -> bytes:
        while mark not in self._rest:
            data = self.socket.recv(65_536)
            if not data:
                raise ConnectionError(f"closed before {mark!r}, after {self._rest!r}")
            self._rest += data
        found, _, self._rest = self._rest.partition(mark)
        return found + mark

    def exactly(self, size: int) -> bytes:
        while len(self._rest) < size:
            data = self.socket.recv(65_536)
            if not data:
                raise ConnectionError(f"closed after {self._rest!r}")
            self._rest += data
        found, self._rest = self._rest[:size], self._rest[size:]
        return found

    def to_the_end(self) -> bytes:
        while data := self.socket.recv(65_536):
            self._rest += data
        found, self._rest = self._rest, b""
        return found

    def request(self) -> tuple[bytes, bytes]:
        """Head and body of a request with a length, or without a body."""
        head = self.until(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        return head, self.exactly(length)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def ends(self) -> None:
        """Send nothing more."""
        with suppress(OSError):  # the other side has closed altogether
            self.socket.shutdown(socket.SHUT_WR)


class Between:
    """A proxy between a scripted upstream and clients; what it saw."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self.seen: list[Seen | None] = []
        self.taken = threading.Condition()
        self.budget = Budget(64 * 1024**2)
        self.port = 0

    def tap(self, method: str, url: str, headers: list[tuple[bytes, bytes]]) -> Tap | None:
        return None if surface(method, url) is None else Tap("1", method, url, headers, self.budget)

    def take(self, seen: Seen | None) -> None:
        with self.taken:
            self.seen.append(seen)
            self.taken.notify_all()

    def evidence(self, count: int = 1) -> Seen:
        """The exchange that was seen, once it has been."""
        with self.taken:
            assert self.taken.wait_for(lambda: len(self.seen) >= count, SECONDS)
        seen = self.seen[count - 1]
        assert seen is not None
        return seen

    @contextmanager
    def client(self) -> Iterator[Peer]:
        with socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS) as connection:
            yield Peer(connection)


@contextmanager
def between(script: Callable[[Peer], None], prefix: str = "") -> Iterator[Between]:
    upstream = Upstream(script)
    found = Between(upstream)
    try:
        target = proxy.upstream(upstream.base_url + prefix)
        with proxy.running(target, proxy.listen("127.0.0.1:0"), tap=found.tap, take=found.take) as running:
            found.port = int(running.base_url.rpartition(":")[2])
            yield found
    finally:
        upstream.close()
    assert not upstream.errors
