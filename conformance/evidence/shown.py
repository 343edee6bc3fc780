"""Bodies as a cassette shows them: JSON over several lines, SSE as text, and what is long cut short.

What is shown leads back to the bytes of the wire, or is marked as shortened.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

LINE = 160  # characters that a value may take on one line
DEEPEST = 24  # spaces of indentation, beyond which a value stays on one line
LONGEST_TEXT = 600  # characters of a text within a request; a longer one is shown by its beginning
BEGINNING = 160  # characters
LONGEST_STREAM = 2048  # bytes of an event stream that is shown whole
HEAD, TAIL = 640, 480  # bytes of a longer one that are shown

STYLES: dict[str, dict[str, Any]] = {
    "compact": {"separators": (",", ":"), "ensure_ascii": False},
    "spaced": {"separators": (", ", ": "), "ensure_ascii": False},
    "compact ascii": {"separators": (",", ":"), "ensure_ascii": True},
    "spaced ascii": {"separators": (", ", ": "), "ensure_ascii": True},
}
"""How a server may have written JSON on one line, so that the pretty form leads back to its bytes."""


def pretty(data: bytes, *, shorten: bool = False) -> tuple[str, str] | None:
    """JSON over several lines, and the style that it was written in; None for all that would not lead back.

    With ``shorten``, long texts within it are shown by their beginning.
    """
    try:
        value = json.loads(text := data.decode())
        style = next((name for name, how in STYLES.items() if json.dumps(value, **how) == text), None)
        if style is None or not isinstance(value, dict | list):
            return None
        return _lines(_short(value) if shorten else value, "", ascii_only="ascii" in style), style
    except (ValueError, RecursionError):
        return None


def compact(text: str, style: str) -> bytes | None:
    """The bytes that pretty JSON stands for; None where it is no JSON (any more)."""
    try:
        return json.dumps(json.loads(text), **STYLES[style]).encode()
    except (ValueError, KeyError, RecursionError):
        return None


def request(data: bytes) -> tuple[str | bytes, bool]:
    """A request's body as a cassette shows it, and whether anything in it is shortened.

    Equal bodies are shown alike; a shortened text is told from others by its digest.
    """
    found = pretty(data, shorten=True)
    if found is not None:
        return found[0], _MARK in found[0]
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return (data, False) if len(data) <= 2 * LONGEST_TEXT else (_beginning(data.decode("latin-1"), data), True)
    return (text, False) if len(text) <= 4 * LONGEST_TEXT else (_beginning(text, data), True)


_MARK = " characters, sha256 "


def _beginning(text: str, data: bytes) -> str:
    return f"{text[:BEGINNING]}… [{len(text)}{_MARK}{hashlib.sha256(data).hexdigest()}]"


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return _beginning(value, value.encode("utf-8", "surrogatepass"))
    if isinstance(value, dict):
        return {name: _short(item) for name, item in value.items()}
    return [_short(item) for item in value] if isinstance(value, list) else value


def _lines(value: Any, indent: str, *, ascii_only: bool) -> str:
    whole = json.dumps(value, ensure_ascii=ascii_only)
    if len(whole) + len(indent) <= LINE or not isinstance(value, dict | list) or not value or len(indent) >= DEEPEST:
        return whole
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [
            f"{inner}{json.dumps(name, ensure_ascii=ascii_only)}: {_lines(item, inner, ascii_only=ascii_only)}"
            for name, item in value.items()
        ]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + _lines(item, inner, ascii_only=ascii_only) for item in value) + f"\n{indent}]"


def middle(data: bytes) -> tuple[int, int] | None:
    """Where the part of a long event stream begins and ends that is not shown: between events; None to show it all."""
    if len(data) <= LONGEST_STREAM:
        return None
    first = data.find(b"\n\n")
    start = max(first, data.rfind(b"\n\n", 0, HEAD)) + 2
    end = data.find(b"\n\n", len(data) - TAIL) + 2
    return (start, end) if 2 <= start < end else None


def omission(data: bytes) -> bytes:
    """The comment of SSE that stands for events that are not shown."""
    return b": %d bytes, %d events, are in the file beside this one\n\n" % (len(data), data.count(b"\n\n"))
