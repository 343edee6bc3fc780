"""What passes between the proxy and the process that judges: MessagePack behind its length, four bytes of it."""

from __future__ import annotations

from typing import BinaryIO, TypeVar

import msgspec

from conformance.evidence.tap import Seen
from conformance.values import Basis, Finding

LARGEST = 128 * 1024**2  # bytes; a tap keeps less


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """The first frame to the judge: what to write, to hide and to judge."""

    journal: str
    keys: tuple[str, ...] = ()  # values to hide; they travel in memory only
    redact: tuple[str, ...] = ()  # regular expressions
    rules: tuple[str, ...] = ()  # ids; empty: all
    basis: Basis | None = None  # only rules on it
    aliases: dict[str, str] = {}
    assumed: str | None = None  # the model that any other name stands for
    curl: bool = False


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The judge's answer to one exchange."""

    id: str
    findings: tuple[Finding, ...] = ()
    curl: str | None = None  # where there are findings and it was asked for
    unjudged: str | None = None  # why the exchange could not be judged
    trouble: str | None = None  # an error of ours


T = TypeVar("T", bound=msgspec.Struct)


def write(stream: BinaryIO, frame: Orders | Seen | Told) -> None:
    """Write one frame and flush. Raises ``OSError``."""
    data = msgspec.msgpack.encode(frame)
    stream.write(len(data).to_bytes(4, "big"))
    stream.write(data)
    stream.flush()


def read(stream: BinaryIO, kind: type[T]) -> T | None:
    """The next frame; None at the end, also where it is cut off or is no such frame."""
    head = stream.read(4)
    size = int.from_bytes(head, "big")
    if len(head) < 4 or size > LARGEST:
        return None
    data = stream.read(size)
    if len(data) < size:
        return None
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except msgspec.MsgspecError:
        return None
