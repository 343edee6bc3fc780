"""Folds a responses stream into the response object that the JSON answer would have been.

The terminal event carries it whole. Without one, or where it carries none, the items that were streamed are put
together. The faults of the order are for the stream rules, which read the events.
"""

from __future__ import annotations

from typing import Any

from conformance.protocols.content import Folded
from conformance.protocols.fields import Notes, integer
from conformance.protocols.messages_stream import kind_of
from conformance.sse import Event

TERMINAL = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
_TEXTS = {  # type of a delta to the array that its part is in, the index that names it, and the type of the part
    "response.output_text.delta": ("content", "content_index", "output_text"),
    "response.reasoning_text.delta": ("content", "content_index", "reasoning_text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_index", "summary_text"),
}
_ARGUMENTS = "response.function_call_arguments.delta"


class _Item:
    """An output item that arrives in pieces."""

    def __init__(self) -> None:
        self.start: dict[str, Any] = {}
        self.done: dict[str, Any] | None = None
        self.texts: dict[tuple[str, int], tuple[str, list[str]]] = {}
        self.arguments: list[str] = []

    def value(self) -> dict[str, Any]:
        if self.done is not None:
            return self.done
        item = dict(self.start)
        for array, index in sorted(self.texts):
            kind, pieces = self.texts[array, index]
            before = item.get(array)
            item[array] = [*(before if isinstance(before, list) else []), {"type": kind, "text": "".join(pieces)}]
        if self.arguments:
            item["arguments"] = "".join(self.arguments)
        return item


class _Response:
    """A response that arrives in pieces."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.base: dict[str, Any] | None = None  # of response.created and its like
        self.final: dict[str, Any] | None = None  # of the terminal event
        self.status: str | None = None
        self.final_event: int | None = None
        self.items: dict[int, _Item] = {}
        self.last_item = 0  # the highest index so far

    def take(self, event: Event, payload: object) -> None:
        kind, where = kind_of(event, payload), f"event {event.number}"
        if not isinstance(payload, dict):
            return
        if kind in TERMINAL:
            self.status, self.final_event = TERMINAL[kind], event.number
            if isinstance(payload.get("response"), dict):
                self.final = payload["response"]
            else:
                self.notes.add(f"{where}/response", "a terminal event without its response object")
        elif kind in ("response.created", "response.in_progress", "response.queued"):
            self.base = self.notes.mapping(payload.get("response"), f"{where}/response") or self.base
        elif kind in ("response.output_item.added", "response.output_item.done"):
            item = self.notes.mapping(payload.get("item"), f"{where}/item")
            if kind.endswith("added"):
                self._item(payload).start = item
            else:
                self._item(payload).done = item
        elif kind in _TEXTS or kind == _ARGUMENTS:
            self._piece(kind, payload, where)

    def _piece(self, kind: str, payload: dict[str, Any], where: str) -> None:
        piece = self.notes.text(payload.get("delta"), f"{where}/delta")
        if piece is None:
            return
        item = self._item(payload)
        if kind == _ARGUMENTS:
            item.arguments.append(piece)
        else:
            array, index, part = _TEXTS[kind]
            item.texts.setdefault((array, integer(payload.get(index)) or 0), (part, []))[1].append(piece)

    def _item(self, payload: dict[str, Any]) -> _Item:
        index = integer(payload.get("output_index"))
        if index is None:
            index = self.last_item
        self.last_item = max(self.last_item, index)
        return self.items.setdefault(index, _Item())

    def body(self) -> dict[str, Any] | None:
        if self.final is not None:
            return self.final
        if self.base is None and not self.items and self.status is None:
            return None
        output = [self.items[index].value() for index in sorted(self.items)]
        return {**(self.base or {}), "status": self.status or "in_progress", "output": output}


def fold(events: tuple[Event, ...], payloads: tuple[object, ...], notes: Notes) -> Folded:
    """The response of the terminal event as it came; without one, what the items amount to, with status in_progress."""
    response = _Response(notes)
    for event, payload in zip(events, payloads, strict=True):
        response.take(event, payload)
    return Folded(body=response.body(), complete=response.status is not None, usage_event=response.final_event)
