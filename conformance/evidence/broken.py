"""JSON that breaks off: the whole items of its main array, up to the cut."""

from __future__ import annotations

import json
import re
from typing import Any

SCRAP = 5
"""Characters of a number, literal or escape that a cut may leave unfinished."""


def ends_inside(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the text ends inside a value, as a cut leaves it; otherwise it is broken in its middle."""
    rest = text[error.pos :].strip()
    return error.msg.startswith("Unterminated string") or (len(rest) <= SCRAP and not rest.endswith("}"))


def whole_items(text: str, key: str) -> list[Any]:
    """The items of the first array under a key that stand whole before the text breaks off."""
    start = re.search(rf'"{key}"\s*:\s*\[', text)
    if start is None:
        return []
    items: list[Any] = []
    decoder = json.JSONDecoder()
    space = re.compile(r"[\s,]*")
    position = start.end()
    try:
        while True:
            position = space.match(text, position).end()  # type: ignore[union-attr]  # it matches the empty text too
            if position >= len(text) or text[position] == "]":
                return items
            item, position = decoder.raw_decode(text, position)
            items.append(item)
    except (ValueError, RecursionError):
        return items


def creator(text: str) -> str | None:
    """The name of the tool that wrote a HAR file, from its beginning."""
    found = re.search(r'"creator"\s*:\s*\{[^{}]*?"name"\s*:\s*"([^"\\]*)"', text[:65_536])
    return found.group(1) if found else None
