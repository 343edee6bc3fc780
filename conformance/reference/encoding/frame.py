"""Events, how they are written, and how a text is cut into deltas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.reference import tokens

_MOST_DELTAS = 200  # of one text


@dataclass(frozen=True, kw_only=True)
class Event:
    """One server-sent event before it is written; ``data`` is an object, or text such as ``[DONE]``."""

    name: str | None = None
    data: dict[str, Any] | str


def framed(event: Event) -> bytes:
    """The event's bytes: name and data, one line each, and a blank line."""
    data = event.data if isinstance(event.data, str) else json.dumps(event.data, ensure_ascii=False)
    name = "" if event.name is None else f"event: {event.name}\n"
    return f"{name}data: {data}\n\n".encode()


def deltas(text: str) -> Iterator[str]:
    """A text in order, a few tokens at a time; nothing for an empty one."""
    pieces = tokens.pieces(text)
    size = max(1, -(-len(pieces) // _MOST_DELTAS))
    for start in range(0, len(pieces), size):
        yield "".join(pieces[start : start + size])
