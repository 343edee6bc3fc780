"""How logs keep bodies: as text, as JSON, as the pieces of a stream, as what a stream amounted to, or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from conformance.evidence import entries

DONE = "[DONE]"
_NAMED = re.compile(r"(?:data|event|id|retry)?:")  # a line of an event stream
_LEFT_OUT = re.compile(  # what loggers write in the place of a body
    r"\W*(?:(?:response|request|body|payload|content|data|stream|binary|omitted|truncated|redacted|removed|hidden|filtered|"
    r"too|large|long|not|is|was|logged|recorded|captured|shown|kept|bytes?|\d{1,12})\W*)+",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"(?:\.\.\.|…|[\[(<][^\])>]{0,40}(?:truncated|more (?:bytes|characters|chars))[^\])>]{0,40}[\])>])\s*\Z"
)
_LONGEST_NOTE = 100  # characters


def left_out(value: object) -> bool:
    """Whether the text is a note that the body was left out, in whole or from some place on."""
    if not isinstance(value, str) or not value.strip():
        return False
    if len(value) <= _LONGEST_NOTE and "{" not in value and _LEFT_OUT.fullmatch(value.strip()) is not None:
        return True
    return _CUT.search(value) is not None and not _is_json(value)


def joined(value: Any) -> Any:
    """A body as it is; the pieces of a stream, as text or as the objects of its events, become one text."""
    style = style_of(value) if isinstance(value, list) and value else None
    return value if style is None else "".join((*map(style, value), style(None)))


Style = Callable[[Any], str]
"""How the pieces of a stream, one after another, become its text; None stands for the end."""


def style_of(pieces: list[Any]) -> Style | None:
    """The style of a list of pieces; None where it is no list of the pieces of a body."""
    if all(isinstance(piece, str) for piece in pieces):
        return _style_of_texts(pieces)
    if all(map(is_event, pieces)):
        return _written_chunk if _is_chunk(pieces[-1]) else _written_event
    return None


def _style_of_texts(pieces: list[str]) -> Style:
    if any(piece.endswith(("\n", "\r")) for piece in pieces):
        return _raw
    if "" in pieces:
        return lambda piece: f"{piece or ''}\n"  # line by line
    if all(_NAMED.match(piece) for piece in pieces):
        return lambda piece: "" if piece is None else f"{piece}\n\n"  # event by event
    if all(piece == DONE or _is_json(piece) for piece in pieces) and len(pieces) > 1:
        return lambda piece: "" if piece is None else f"data: {piece}\n\n"
    return _raw


def _raw(piece: str | None) -> str:
    return piece or ""


def is_event(item: object) -> bool:
    """Whether an item is an event of a stream that a log keeps as an object."""
    if not isinstance(item, dict):
        return False
    data = item.get("data", item)
    kind = data.get("type") if isinstance(data, dict) else None
    return isinstance(data, dict) and (data.get("object") == "chat.completion.chunk" or isinstance(kind, str))


def _is_chunk(item: dict[str, Any]) -> bool:
    return bool(item.get("data", item).get("object") == "chat.completion.chunk")


def _written_chunk(item: dict[str, Any] | None) -> str:
    """A chunk; at the end the mark that follows chunks, which no log of objects keeps."""
    return f"data: {DONE}\n\n" if item is None else _written_event(item)


def _written_event(item: dict[str, Any] | None) -> str:
    if item is None:
        return ""
    data = item.get("data", item)
    name = item.get("event", None if _is_chunk(item) else data.get("type"))
    named = f"event: {name}\n" if isinstance(name, str) else ""
    return f"{named}data: {json.dumps(data, ensure_ascii=False)}\n\n"


def amounts_to_a_stream(asked: Any, said: Any) -> bool:
    """Whether a log keeps an object where a stream was asked for: whoever logged it put it together."""
    return entries.get(asked, "stream") is True and isinstance(said, dict) and "error" not in said


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
