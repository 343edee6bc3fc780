"""Folds a messages stream into the message object that the JSON answer would have been.

Lenient as the public clients are: a delta that does not fit its block is left out with a note. The faults of the order
are for the stream rules, which read the events.
"""

from __future__ import annotations

from typing import Any

from conformance.protocols.content import Folded
from conformance.protocols.fields import Notes, integer
from conformance.protocols.json_text import read_text
from conformance.protocols.view import MISSING
from conformance.sse import Event

_JOINED = {  # type of a delta to its field, the field of the block, and the types of block that take it
    "text_delta": ("text", "text", ("text",)),
    "thinking_delta": ("thinking", "thinking", ("thinking",)),
    "signature_delta": ("signature", "signature", ("thinking",)),
    "input_json_delta": ("partial_json", "", ("tool_use", "server_tool_use")),
}
_OPENED_BY = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "thinking"}


def kind_of(event: Event, payload: object) -> str:
    """The type of an event: of its data, else its name."""
    kind = payload.get("type") if isinstance(payload, dict) else None
    return kind if isinstance(kind, str) else event.name or ""


class _Block:
    """A content block that arrives in pieces."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.start = start
        self.pieces: dict[str, list[str]] = {}
        self.citations: list[Any] = []

    def add(self, delta: dict[str, Any], pointer: str, notes: Notes) -> None:
        kind = delta.get("type")
        if kind == "citations_delta":
            self.citations.append(delta.get("citation"))
            return
        if not isinstance(kind, str) or kind not in _JOINED:
            notes.add(f"{pointer}/type", "an unknown type of delta")
            return
        source, target, takers = _JOINED[kind]
        if self.start.get("type") not in takers:
            notes.add(pointer, f"a {kind} does not belong into this block")
            return
        piece = notes.text(delta.get(source), f"{pointer}/{source}")
        if piece is not None:
            self.pieces.setdefault(target, []).append(piece)

    def value(self) -> tuple[dict[str, Any], str]:
        """The block, and its joined partial_json."""
        block = dict(self.start)
        raw = ""
        for target, pieces in self.pieces.items():
            if target:
                before = block.get(target)
                block[target] = (before if isinstance(before, str) else "") + "".join(pieces)
            else:
                raw = "".join(pieces)
        if block.get("type") in ("tool_use", "server_tool_use"):
            block.setdefault("input", {})
            parsed = read_text(raw).value if raw else MISSING
            if parsed is not MISSING:
                block["input"] = parsed
        if self.citations:
            before = block.get("citations")
            block["citations"] = [*(before if isinstance(before, list) else []), *self.citations]
        return block, raw


class _Message:
    """A message that arrives in pieces."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.fields: dict[str, Any] = {}
        self.blocks: dict[int, _Block] = {}
        self.last_block = -1  # the highest index so far
        self.counts: dict[str, Any] | None = None  # the usage object, once there is news of it
        self.usage_event: int | None = None
        self.found = self.stopped = False

    def take(self, event: Event, payload: object) -> None:
        kind, where = kind_of(event, payload), f"event {event.number}"
        data = payload if isinstance(payload, dict) else {}
        if kind == "message_start":
            self._start(self.notes.mapping(data.get("message"), f"{where}/message"), event.number)
        elif kind == "content_block_start":
            start = self.notes.mapping(data.get("content_block"), f"{where}/content_block")
            self.blocks[self._index(data, where)] = _Block(start)
        elif kind == "content_block_delta":
            self._delta(data, where)
        elif kind == "message_delta":
            self._end(data, where, event.number)
        elif kind == "message_stop":
            self.stopped = True
        else:
            return
        self.found = True

    def _index(self, data: dict[str, Any], where: str) -> int:
        index = integer(data.get("index"))
        if index is None:
            self.notes.add(f"{where}/index", "no integer index")
            index = self.last_block + 1 if data.get("content_block") is not None else max(self.last_block, 0)
        self.last_block = max(self.last_block, index)
        return index

    def _start(self, message: dict[str, Any], number: int) -> None:
        for key, value in message.items():
            self.fields.setdefault(key, value)
        content = self.fields.get("content")
        if isinstance(content, list) and not self.blocks:
            self.blocks = {place: _Block(block) for place, block in enumerate(content) if isinstance(block, dict)}
            self.last_block = max(self.blocks, default=-1)
        if message.get("usage") is not None:
            self.usage_event = number

    def _delta(self, data: dict[str, Any], where: str) -> None:
        index = self._index(data, where)
        delta = self.notes.mapping(data.get("delta"), f"{where}/delta")
        if index not in self.blocks:
            self.notes.add(f"{where}/index", "a delta of a block that was not opened")
            kind = delta.get("type")
            if not isinstance(kind, str) or kind not in _OPENED_BY:
                return
            self.blocks[index] = _Block({"type": _OPENED_BY[kind]})
        self.blocks[index].add(delta, f"{where}/delta", self.notes)

    def _end(self, data: dict[str, Any], where: str, number: int) -> None:
        for key, value in self.notes.mapping(data.get("delta"), f"{where}/delta").items():
            if value is not None or key not in self.fields:
                self.fields[key] = value
        usage = data.get("usage")
        if usage is None:
            return
        self.usage_event = number
        before = self.fields.get("usage")
        if not isinstance(usage, dict) or not isinstance(before, dict):
            self.fields["usage"], self.counts = usage, None
            return
        if self.counts is None:
            self.fields["usage"] = self.counts = dict(before)
        # Public clients let a null stand for "no news", except in output_tokens, which they take as it comes.
        self.counts.update((key, value) for key, value in usage.items() if value is not None or key == "output_tokens")

    def value(self) -> tuple[dict[str, Any], dict[str, str]]:
        content: list[dict[str, Any]] = []
        pieces: dict[str, str] = {}
        for index in sorted(self.blocks):
            block, raw = self.blocks[index].value()
            if raw:
                pieces[f"/content/{len(content)}"] = raw
            content.append(block)
        return {**self.fields, "content": content}, pieces


def fold(events: tuple[Event, ...], payloads: tuple[object, ...], notes: Notes) -> Folded:
    """Join all events; the counts of message_delta override those of message_start."""
    message = _Message(notes)
    for event, payload in zip(events, payloads, strict=True):
        message.take(event, payload)
    body, pieces = message.value()
    return Folded(
        body=body if message.found else None,
        complete=message.stopped,
        usage_event=message.usage_event,
        pieces=pieces,
    )
