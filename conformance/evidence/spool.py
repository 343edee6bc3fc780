"""What was read from a pipe and is too much to be held, in a file without a name that goes when it is closed.

It holds what a journal holds: exchanges whose credentials are hidden already.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable
from typing import BinaryIO, Self

import msgspec

from conformance.evidence.journal import written
from conformance.redact import redact
from conformance.values import Exchange

Clean = Callable[[Exchange], Exchange]
"""Hides the credentials of an exchange."""


class Spool:
    """Exchanges that are kept out of memory; ``clean`` hides what no file may hold."""

    def __init__(self, clean: Clean = redact) -> None:
        self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the spool is)
        weakref.finalize(self, self._file.close)
        self._clean = clean
        self._encoder = msgspec.json.Encoder()
        self._decoder = msgspec.json.Decoder(Exchange)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stay open: others read from it too, and it goes with the last of them."""

    def put(self, exchange: Exchange) -> tuple[int, int]:
        """Keep an exchange; return where it begins and its size. Raises ``OSError``."""
        data = written(self._clean(exchange), self._encoder)
        start = self._file.seek(0, 2)
        self._file.write(data)
        return start, len(data)

    def get(self, start: int, size: int) -> Exchange:
        """An exchange again."""
        self._file.seek(start)
        return self._decoder.decode(self._file.read(size))
