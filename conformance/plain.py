"""JSON values made safe to write: bounded, and without what JSON cannot hold (lone surrogates, NaN, infinities)."""

from __future__ import annotations

import math
from typing import Any

LONGEST_TEXT = 500  # characters
MOST_MEMBERS = 50  # of an array or object
DEEPEST = 6


def plain(value: object, depth: int = 0) -> Any:
    """The value, or a shortened likeness of it, that any JSON writer takes."""
    if isinstance(value, dict | list | tuple):
        return _nested(value, depth)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else text(str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return text(value if isinstance(value, str) else repr(value))


def _nested(value: dict[Any, Any] | list[Any] | tuple[Any, ...], depth: int) -> Any:
    if depth >= DEEPEST:
        return "…"
    left_out = len(value) - MOST_MEMBERS
    if isinstance(value, dict):
        shown = {text(str(key)): plain(item, depth + 1) for key, item in list(value.items())[:MOST_MEMBERS]}
        return {**shown, "…": f"{left_out} more"} if left_out > 0 else shown
    items = [plain(item, depth + 1) for item in value[:MOST_MEMBERS]]
    return [*items, f"… {left_out} more"] if left_out > 0 else items


def text(value: str, longest: int = LONGEST_TEXT) -> str:
    """The text, lone surrogates written as escapes, cut where it is too long."""
    short = value if len(value) <= longest else f"{value[:longest]}… ({len(value)} characters)"
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in short)
