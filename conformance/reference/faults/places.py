"""Where a surface carries the same thing in a JSON body and in the data of an event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.values import Protocol

Place = tuple[Any, Any]  # an object or array, and the key or index in it
PLACES = {
    "identity": "the object with the answer's id: the body, each chunk, the message of message_start, each response",
    "ending": "the object that says how the answer ended: the last choice, message or its delta, the final response",
    "message": "the message of each choice, and on streams each delta (chat)",
    "block": "each content block, as it is or as it starts (messages)",
    "item": "each output item, also as it is added and done (responses)",
}
_TERMINAL = ("response.completed", "response.incomplete", "response.failed")


def places(stage: str, protocol: Protocol, root: dict[str, Any], *, event: bool) -> Iterator[Place]:
    """The places of a stage under ``root[""]``, which is a body or the data of an event."""
    data = root[""]
    if protocol is Protocol.CHAT:
        yield from _chat(stage, root, data, event=event)
    elif protocol is Protocol.MESSAGES:
        yield from _messages(stage, root, data, event=event)
    else:
        yield from _responses(stage, root, data, event=event)


def _chat(stage: str, root: dict[str, Any], data: dict[str, Any], *, event: bool) -> Iterator[Place]:
    if stage == "identity":
        yield root, ""
        return
    choices = data.get("choices", [])
    for place, choice in enumerate(choices):
        if stage == "ending" and choice.get("finish_reason") is not None:
            yield choices, place
        elif stage == "message":
            yield choice, "delta" if event else "message"


def _messages(stage: str, root: dict[str, Any], data: dict[str, Any], *, event: bool) -> Iterator[Place]:
    kind = data.get("type")
    if stage == "identity":
        if not event:
            yield root, ""
        elif kind == "message_start":
            yield data, "message"
    elif stage == "ending":
        if not event:
            yield root, ""
        elif kind == "message_delta":
            yield data, "delta"
    elif stage == "block":
        if kind == "content_block_start":
            yield data, "content_block"
        elif not event:
            yield from ((data["content"], place) for place in range(len(data["content"])))


def _responses(stage: str, root: dict[str, Any], data: dict[str, Any], *, event: bool) -> Iterator[Place]:
    holder, key = (data, "response") if event else (root, "")
    response = holder.get(key)
    if stage == "item" and "item" in data:
        yield data, "item"
    if response is None:
        return
    if stage == "identity" or (stage == "ending" and (not event or data.get("type") in _TERMINAL)):
        yield holder, key
    elif stage == "item":
        yield from ((response["output"], place) for place in range(len(response["output"])))
