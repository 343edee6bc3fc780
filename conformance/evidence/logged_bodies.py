"""How logs keep bodies: as text, as JSON, as the pieces of a stream, as what a stream amounted to, or not at all."""

from __future__ import annotations

import json
import re
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
    if not isinstance(value, list) or not value:
        return value
    if all(isinstance(item, str) for item in value):
        return _joined_texts(value)
    if all(isinstance(item, dict) and _is_event(item) for item in value):
        return _joined_events(value)
    return value


def _joined_texts(pieces: list[str]) -> str:
    if any(piece.endswith(("\n", "\r")) for piece in pieces):
        return "".join(pieces)
    if "" in pieces:
        return "\n".join((*pieces, "", ""))  # line by line
    if all(_NAMED.match(piece) for piece in pieces):
        return "".join(f"{piece}\n\n" for piece in pieces)  # event by event
    if all(piece == DONE or _is_json(piece) for piece in pieces) and len(pieces) > 1:
        return "".join(f"data: {piece}\n\n" for piece in pieces)
    return "".join(pieces)


def _is_event(item: dict[str, Any]) -> bool:
    data = item.get("data", item)
    kind = data.get("type") if isinstance(data, dict) else None
    return isinstance(data, dict) and (data.get("object") == "chat.completion.chunk" or isinstance(kind, str))


def _joined_events(found: list[dict[str, Any]]) -> str:
    """The stream that the events were in; the mark after chunks, which no log of objects keeps, is put there."""
    lines: list[str] = []
    for item in found:
        data = item.get("data", item)
        name = item.get("event", data.get("type") if data.get("object") != "chat.completion.chunk" else None)
        lines += [f"event: {name}"] if isinstance(name, str) else []
        lines += [f"data: {json.dumps(data, ensure_ascii=False)}", ""]
    chunks = found[-1].get("data", found[-1]).get("object") == "chat.completion.chunk"
    return "\n".join((*lines, *((f"data: {DONE}", "") if chunks else ()), ""))


def amounts_to_a_stream(asked: Any, said: Any) -> bool:
    """Whether a log keeps an object where a stream was asked for: whoever logged it put it together."""
    return entries.get(asked, "stream") is True and isinstance(said, dict) and "error" not in said


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
