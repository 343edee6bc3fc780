"""Text from the wire, made safe to print: control characters, terminal escapes and bidirectional marks are escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from conformance.reports.document import FindingEntry
    from conformance.values import Finding

LONGEST = 300  # characters of one printed value
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def safe(value: object, longest: int = LONGEST) -> str:
    """A value on one line, bounded and without anything that a terminal, a browser or an XML parser would obey."""
    text = value if isinstance(value, str) else _json(value)
    shown = "".join(_char(char) for char in text[: longest + 1])
    return shown if len(text) <= longest else f"{shown[:longest]}… ({len(text)} characters)"


def told(finding: Finding | FindingEntry, longest: int = LONGEST) -> Iterator[tuple[str, str]]:
    """What was expected and what came, as far as the finding says, safe to print."""
    for name, value in (("expected", finding.expected), ("actual", finding.actual)):
        if value is not None:
            yield name, "an empty string" if value == "" else safe(value, longest)


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode("utf-8", "backslashreplace")
    except (TypeError, ValueError, OverflowError, RecursionError):
        return repr(value)


def _char(char: str) -> str:
    if char == "\t" or not (unicodedata.category(char) in _HIDDEN or _no_character(ord(char))):
        return char
    if char == "\n":
        return "\\n"
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _no_character(code: int) -> bool:
    """Whether Unicode keeps a code point out of texts for ever; XML refuses some of them."""
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
