"""Our own record of a run: one header line, then one exchange a line, flushed as they come.

Whoever writes redacts first (``conformance.redact``); a journal holds no key.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from conformance.evidence.bodies import bounded
from conformance.evidence.recording import Unreadable
from conformance.values import Exchange

FORMAT = "kimi-conformance-journal"
VERSION = 1
LONGEST_HEADER = 4096  # bytes
NO_EXCHANGE = "not an exchange"
"""How it begins what is wrong with a line."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line: what the file is."""

    format: str
    version: int


class Journal:
    """A journal open for writing; every exchange is on disk when ``append`` returns. Safe to share between threads."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("wb")
        self._lock = threading.Lock()
        self._encoder = msgspec.json.Encoder()
        self._write(self._encoder.encode(Header(format=FORMAT, version=VERSION)))

    def append(self, exchange: Exchange) -> None:
        """Write one exchange, redacted by the caller."""
        self._write(written(exchange, self._encoder))

    def extend(self, exchanges: Iterable[Exchange]) -> None:
        """Write exchanges in their order."""
        for exchange in exchanges:
            self.append(exchange)

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        with self._lock:
            self._file.close()

    def _write(self, line: bytes) -> None:
        with self._lock:
            self._file.write(line + b"\n")
            self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def written(exchange: Exchange, encoder: msgspec.json.Encoder) -> bytes:
    """An exchange as a line of a journal, without its end."""
    try:
        return encoder.encode(exchange)
    except UnicodeEncodeError:
        return encoder.encode(_encodable(msgspec.to_builtins(exchange)))


def _encodable(value: Any) -> Any:
    """The value with lone surrogates, which no UTF-8 holds, as escapes: a hostile header must not end a run."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value


def is_journal(data: bytes) -> bool:
    """Whether the first line is a journal's header, of whatever version."""
    return f'"{FORMAT}"'.encode() in data[:LONGEST_HEADER].partition(b"\n")[0]


def header(line: bytes, path: str) -> None:
    """Read the first line. Raises ``Unreadable`` where it is broken, or of another version."""
    try:
        found = msgspec.json.decode(line, type=Header)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Unreadable(path, f"a journal whose header line is broken ({error})") from None
    if found.format != FORMAT or found.version != VERSION:
        raise Unreadable(path, f"a journal of version {found.version}; this release reads version {VERSION}")


def exchange(line: bytes, path: str, decoder: msgspec.json.Decoder[Exchange]) -> Exchange | str:
    """The exchange of one line, or why it is none."""
    try:
        return bounded(msgspec.structs.replace(decoder.decode(line), file=path))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return f"{NO_EXCHANGE} ({str(error)[:120]})"


def exchange_of(value: object, path: str) -> Exchange | str:
    """The exchange of the value of one line, or why it is none."""
    try:
        return bounded(msgspec.structs.replace(msgspec.convert(value, Exchange), file=path))
    except (msgspec.MsgspecError, RecursionError) as error:
        return f"{NO_EXCHANGE} ({str(error)[:120]})"
