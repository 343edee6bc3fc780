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
    "call": "each tool call: in a message, block or item; on streams where it starts (on responses wherever it comes)",
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
        if not event or "choices" in data:  # an error in a stream is no chunk
            yield root, ""
        return
    choices = data.get("choices", [])
    for place, choice in enumerate(choices):
        if stage == "ending" and choice.get("finish_reason") is not None:
            yield choices, place
        elif stage == "message":
            yield choice, "delta" if event else "message"
        elif stage == "call":
            calls = choice["delta" if event else "message"].get("tool_calls", [])
            yield from ((calls, number) for number, call in enumerate(calls) if "id" in call)


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
    elif stage in ("block", "call"):
        if kind == "content_block_start":
            found: list[Place] = [(data, "content_block")]
        else:
            found = [] if event else [(data["content"], place) for place in range(len(data["content"]))]
        yield from (place for place in found if stage == "block" or place[0][place[1]]["type"] == "tool_use")


def _responses(stage: str, root: dict[str, Any], data: dict[str, Any], *, event: bool) -> Iterator[Place]:
    holder, key = (data, "response") if event else (root, "")
    response = holder.get(key)
    if stage in ("item", "call") and "item" in data and _fits(stage, data["item"]):
        yield data, "item"
    if response is None:
        return
    if stage == "identity" or (stage == "ending" and (not event or data.get("type") in _TERMINAL)):
        yield holder, key
    elif stage in ("item", "call"):
        output = response["output"]
        yield from ((output, place) for place, item in enumerate(output) if _fits(stage, item))


def _fits(stage: str, item: dict[str, Any]) -> bool:
    return stage == "item" or item["type"] == "function_call"
