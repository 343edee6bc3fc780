"""Folds a chat stream into the chat.completion object that the JSON answer would have been.

Lenient: null means absent, a missing index is guessed, and the first id, name and role count. The faults of the order
are for the stream rules, which read the events.
"""

from __future__ import annotations

from typing import Any

from conformance.protocols.content import Folded
from conformance.protocols.fields import Notes, field, integer
from conformance.protocols.view import MISSING
from conformance.sse import Event

DONE = "[DONE]"
_FIRST = frozenset({"role"})  # the first value counts; other strings are joined


class _Merged:
    """Fields that arrive in pieces: strings are joined, arrays are continued, of other values the last counts."""

    def __init__(self) -> None:
        self._strings: dict[str, list[str]] = {}
        self._arrays: dict[str, list[Any]] = {}
        self._others: dict[str, Any] = {}
        self._order: dict[str, None] = {}

    def add(self, key: str, value: object) -> None:
        self._order[key] = None
        if isinstance(value, str):
            pieces = self._strings.setdefault(key, [])
            if key not in _FIRST or not pieces:
                pieces.append(value)
        elif isinstance(value, list):
            self._arrays.setdefault(key, []).extend(value)
        elif value is not None:
            self._others[key] = value

    def value(self) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for key in self._order:
            if key in self._strings:
                merged[key] = "".join(self._strings[key])
            else:
                merged[key] = self._arrays.get(key, self._others.get(key))
        return merged


class _Call:
    """A tool call that arrives in pieces."""

    def __init__(self) -> None:
        self.fixed: dict[str, Any] = {}
        self.function: dict[str, Any] = {}
        self.arguments: list[str] = []

    def add(self, piece: dict[str, Any], pointer: str, notes: Notes) -> None:
        for key, value in piece.items():
            if key not in ("index", "function") and value is not None and self.fixed.get(key) in (None, ""):
                self.fixed[key] = value
        for key, value in notes.mapping(piece.get("function"), f"{pointer}/function").items():
            if key == "arguments" and isinstance(value, str):
                self.arguments.append(value)
            elif value is not None and self.function.get(key) in (None, ""):
                self.function[key] = value

    def value(self) -> dict[str, Any]:
        function = dict(self.function)
        if self.arguments:
            function["arguments"] = "".join(self.arguments)
        return {**self.fixed, "function": function} if function else dict(self.fixed)


class _Choice:
    """A choice that arrives in pieces."""

    def __init__(self) -> None:
        self.fixed: dict[str, Any] = {}
        self.message = _Merged()
        self.calls: dict[int, _Call] = {}
        self.last_call = -1  # the highest index so far
        self.call_ids: dict[str, int] = {}

    def add(self, choice: dict[str, Any], pointer: str, notes: Notes) -> None:
        for key, value in choice.items():
            if key == "index":
                self.fixed.setdefault(key, value)
            elif key not in ("delta", "message") and (value is not None or key not in self.fixed):
                self.fixed[key] = value
        delta = choice.get("delta")
        if delta is None and isinstance(choice.get("message"), dict):
            notes.add(pointer, "a message where a delta is expected")
            delta = choice["message"]
        for key, value in notes.mapping(delta, f"{pointer}/delta").items():
            if key == "tool_calls":
                for place, piece in enumerate(notes.items(value, f"{pointer}/delta/tool_calls")):
                    at = f"{pointer}/delta/tool_calls/{place}"
                    self._slot(notes.mapping(piece, at), at, notes)
            elif key in ("content", "reasoning_content") and value is not None and not isinstance(value, str):
                notes.text(value, f"{pointer}/delta/{key}")
                self.message.add(key, value)
            else:
                self.message.add(key, value)

    def _slot(self, piece: dict[str, Any], pointer: str, notes: Notes) -> None:
        slot, name = integer(piece.get("index")), piece.get("id")
        named = name if isinstance(name, str) and name else None
        if slot is None:
            notes.add(pointer, "a tool call fragment without an integer index")
            following = self.last_call + 1
            slot = max(self.last_call, 0) if named is None else self.call_ids.get(named, following)
        if named is not None:
            self.call_ids.setdefault(named, slot)
        self.last_call = max(self.last_call, slot)
        self.calls.setdefault(slot, _Call()).add(piece, pointer, notes)

    def value(self) -> dict[str, Any]:
        message = {"content": None, **self.message.value()}
        if "role" in message:
            message = {"role": message.pop("role"), **message}
        if self.calls:
            message["tool_calls"] = [self.calls[slot].value() for slot in sorted(self.calls)]
        fixed = dict(self.fixed)
        head = {"index": fixed.pop("index")} if "index" in fixed else {}
        return {**head, "message": message, **fixed}


def fold(events: tuple[Event, ...], payloads: tuple[object, ...], notes: Notes) -> Folded:
    """Join all chunks; a usage report counts wherever it stands, the last one."""
    top: dict[str, Any] = {}
    choices: dict[int, _Choice] = {}
    usage_event = None
    found = done = False
    for event, payload in zip(events, payloads, strict=True):
        if payload is MISSING:
            done = done or (event.data or "").strip() == DONE
            continue
        if not isinstance(payload, dict) or payload.get("error"):
            continue
        found = True
        where = f"event {event.number}"
        for key, value in payload.items():
            if key == "usage":
                if value is not None:
                    top[key], usage_event = value, event.number
            elif key != "choices" and top.get(key) is None:
                top[key] = value
        for place, choice in enumerate(notes.items(payload.get("choices"), f"{where}/choices")):
            pointer = f"{where}/choices/{place}"
            fields = notes.mapping(choice, pointer)
            index = integer(fields.get("index"))
            choices.setdefault(place if index is None else index, _Choice()).add(fields, pointer, notes)
    kind = field(top, "object")
    if kind == "chat.completion.chunk":
        top["object"] = "chat.completion"
    usage = {"usage": top.pop("usage")} if "usage" in top else {}
    body = {**top, "choices": [choices[index].value() for index in sorted(choices)], **usage}
    return Folded(body=body if found else None, complete=done, type=kind, usage_event=usage_event)
