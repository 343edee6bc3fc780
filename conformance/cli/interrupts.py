"""Ctrl-C and SIGTERM while a run is under way: the first ends it with a report, a second one at once."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from conformance.cli.printable import coloured
from conformance.gate import Exit

TOGETHER = 0.3  # seconds within which a second signal is the first once more: sent to a process and to its group
STOPPING = "interrupted: what came so far is judged; once more ends at once"
JUDGING = "nothing more is sent, and what came is judged; once more ends at once, without a report"
ENDED = "interrupted again: ended without a report"


class Interrupts:
    """What signals do to a run: ``KeyboardInterrupt`` while it sends, and nothing at first once it is being judged."""

    def __init__(self) -> None:
        self._first: float | None = None  # when the first one came
        self._judging = self._ending = False

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Take the signals over, in the main thread, but for those that whoever started the process has ignored."""
        main = threading.current_thread() is threading.main_thread()
        numbers = (signal.SIGINT, signal.SIGTERM) if main else ()
        before = {number: signal.getsignal(number) for number in numbers}
        taken = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
        for number in taken:
            signal.signal(number, self._came)
        try:
            yield
        finally:
            for number in taken if self._first is None else ():  # else a further one still ends at once
                signal.signal(number, before[number])

    def judging(self) -> None:
        """From now on nothing is sent any more."""
        self._judging = True

    def _came(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = now
            _say(JUDGING if self._judging else STOPPING)
            if not self._judging:
                raise KeyboardInterrupt
        elif now - self._first > TOGETHER and not self._ending:  # else a third came while the second was taken
            self._ending = True
            _say(ENDED)
            os._exit(Exit.NOT_VERIFIED)


def _say(words: str) -> None:
    """One line on standard error, past Python's buffers: the signal may have come while one of them was written."""
    wiped = "\r\x1b[K" if coloured(err=True) else ""
    with suppress(OSError):
        os.write(2, f"{wiped}{words}\n".encode())
