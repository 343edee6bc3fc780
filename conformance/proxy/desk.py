"""The proxy's side of the judge: hands exchanges over without ever waiting, in bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO, cast

import conformance
from conformance.evidence.tap import TOO_LARGE, Budget, Seen, Tap
from conformance.protocols import surface
from conformance.proxy.frames import Orders, Told, read, write
from conformance.redact import sent_keys

MEMORY = 192 * 1024**2
"""Bytes of exchanges that may be on their way, or wait to be judged; beyond it, copies are cut or left out."""

MOST_KEYS = 1_000
DEAD = "the judging process ended"
LATE = "judging took too long at the end"


class Desk:
    """Starts the process that judges, feeds it, and calls ``told`` with each answer from a thread of its own."""

    def __init__(self, orders: Orders, told: Callable[[Told], None], *, memory: int = MEMORY) -> None:
        self.other = 0  # requests of other endpoints, which are forwarded and not judged
        self.judged = 0
        self.bounded = 0  # responses of which only the start was kept
        self.unjudged: Counter[str] = Counter()  # by reason
        self.keys: dict[str, None] = {}  # that requests carried: to be hidden wherever something is written
        self._told = told
        self._budget = Budget(memory)
        self._number = 0
        self._waiting: dict[str, int] = {}
        self._lock = threading.Lock()
        self._queue: SimpleQueue[Seen | None] = SimpleQueue()
        self._process = _started()
        self._sink = cast("BinaryIO", self._process.stdin)
        self._source = cast("BinaryIO", self._process.stdout)
        with suppress(OSError):  # it is counted where the judge does not answer
            write(self._sink, orders)
        self._feeder = threading.Thread(target=self._feed, name="exchanges to the judge", daemon=True)
        self._reader = threading.Thread(target=self._hear, name="findings of the judge", daemon=True)
        self._feeder.start()
        self._reader.start()

    @property
    def waiting(self) -> int:
        """How many exchanges have been handed over and are not judged yet."""
        with self._lock:
            return len(self._waiting)

    def tap(self, method: str, url: str, headers: list[tuple[bytes, bytes]]) -> Tap | None:
        """The tap for a request of the three endpoints; None for any other."""
        if surface(method, url) is None:
            self.other += 1
            return None
        self._number += 1
        return Tap(str(self._number), method, url, headers, self._budget)

    def take(self, seen: Seen | None) -> None:
        """Hand an exchange over; never waits."""
        if seen is None:
            self.unjudged[TOO_LARGE] += 1
            return
        self.bounded += seen.bounded
        if len(self.keys) < MOST_KEYS:
            self.keys |= dict.fromkeys(sent_keys(seen.request))
        with self._lock:
            self._waiting[seen.id] = seen.cost
        self._queue.put(seen)

    def close(self, seconds: float) -> None:
        """Let the judge finish what waits, for so long at most, and end it."""
        self._queue.put(None)
        self._reader.join(seconds)
        late = self._reader.is_alive()
        if late:
            self._process.kill()
        self._reader.join()
        self._process.wait()
        self._feeder.join()
        self._source.close()
        with self._lock:
            if self._waiting:
                self.unjudged[LATE if late else DEAD] += len(self._waiting)
            self._waiting.clear()

    def _feed(self) -> None:
        while (seen := self._queue.get()) is not None:
            with suppress(OSError, ValueError):  # the judge is gone: what it did not answer is counted at the end
                write(self._sink, seen)
            self._budget.give(seen.cost)
        with suppress(OSError):
            self._sink.close()

    def _hear(self) -> None:
        while (told := read(self._source, Told)) is not None:
            with self._lock:
                self._waiting.pop(told.id, None)
            if told.unjudged is None:
                self.judged += 1
            else:
                self.unjudged[told.unjudged] += 1
            self._told(told)


def _started() -> subprocess.Popen[bytes]:
    """The judging process, in a session of its own so that Ctrl-C reaches the proxy alone."""
    package = Path(conformance.__file__).resolve().parents[1]
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "conformance.proxy.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
