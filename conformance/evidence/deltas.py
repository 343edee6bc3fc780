"""Events of the three surfaces that bring one piece of one text and nothing else that adds up."""

from __future__ import annotations

import json
from typing import Any

_CHOICE = frozenset({"index", "delta", "finish_reason", "logprobs"})
_DELTA = frozenset({"role", "content", "reasoning_content", "refusal", "tool_calls"})
_CALL = frozenset({"index", "id", "type", "function"})
_FUNCTION = frozenset({"name", "arguments"})
_BLOCK = frozenset({"text", "thinking", "partial_json"})


def text_of(data: bytes) -> str | None:
    """The piece of text that the data of an event brings; None where it is no such event, or brings more."""
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(payload, dict):
        return None
    kind = payload.get("type")
    if isinstance(kind, str) and kind.startswith("response."):
        return _of_response(payload) if kind.endswith(".delta") else None
    if kind == "content_block_delta":
        return _of_block(payload.get("delta"))
    return _of_chunk(payload) if kind is None else None


def _of_response(payload: dict[str, Any]) -> str | None:
    if any(isinstance(value, dict) or (isinstance(value, list) and value) for value in payload.values()):
        return None
    return _text(payload.get("delta"))


def _of_block(delta: Any) -> str | None:
    filled = _filled(delta, _BLOCK | {"type"}) or {}
    pieces = [value for name, value in filled.items() if name != "type"]
    return _text(pieces[0]) if len(pieces) == 1 else None


def _of_chunk(payload: dict[str, Any]) -> str | None:
    choices = payload.get("choices")
    if payload.get("error") is not None or payload.get("usage") is not None:
        return None
    choice = _filled(choices[0], _CHOICE) if isinstance(choices, list) and len(choices) == 1 else None
    if choice is None or choice.keys() - {"index", "delta"}:
        return None
    delta = _filled(choice.get("delta"), _DELTA) or {}
    pieces = [value for name, value in delta.items() if name != "role"]
    if len(pieces) != 1:
        return None
    return _of_calls(pieces[0]) if "tool_calls" in delta else _text(pieces[0])


def _of_calls(calls: Any) -> str | None:
    call = _filled(calls[0], _CALL) if isinstance(calls, list) and len(calls) == 1 else None
    function = None if call is None else _filled(call.get("function"), _FUNCTION)
    return None if function is None else _text(function.get("arguments"))


def _filled(value: Any, known: frozenset[str]) -> dict[str, Any] | None:
    """The members that are neither null nor empty; None where it is no object, or has others than the known ones."""
    if not isinstance(value, dict):
        return None
    filled = {name: item for name, item in value.items() if item not in (None, "", [])}
    return filled if filled.keys() <= known else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
