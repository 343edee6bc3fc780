"""What is certain of a JSON object whose text was cut off."""

from __future__ import annotations

import json
import re
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


def object_so_far(text: str) -> dict[str, Any]:
    """The members and items that are complete in the beginning of an object's text; all of them in a whole text."""
    opened: list[str] = []
    safe, closers = 0, ""
    for match in _TOKEN.finditer(text):
        mark = match[0]
        if mark in _CLOSING:
            opened.append(mark)
            safe, closers = match.end(), _closers(opened)
        elif mark in "}]" and opened:
            opened.pop()
            safe, closers = match.end(), _closers(opened)
        elif mark == ",":
            safe, closers = match.start(), _closers(opened)
    try:
        value = json.loads(text[:safe] + closers)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _closers(opened: list[str]) -> str:
    return "".join(_CLOSING[mark] for mark in reversed(opened))
