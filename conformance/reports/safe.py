"""Text from the wire, made safe to print: control characters, terminal escapes and bidirectional marks are escaped."""

from __future__ import annotations

import unicodedata

import msgspec

LONGEST = 300  # characters of one printed value
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def safe(value: object, longest: int = LONGEST) -> str:
    """A value on one line, bounded and without anything that a terminal or a browser would obey."""
    text = value if isinstance(value, str) else _json(value)
    shown = "".join(_char(char) for char in text[: longest + 1])
    return shown if len(text) <= longest else f"{shown[:longest]}… ({len(text)} characters)"


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode("utf-8", "backslashreplace")
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _char(char: str) -> str:
    if char == "\t" or unicodedata.category(char) not in _HIDDEN:
        return char
    if char == "\n":
        return "\\n"
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
