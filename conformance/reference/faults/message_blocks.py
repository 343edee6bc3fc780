"""Faults in the content blocks of a messages stream: indexes, types of deltas, the JSON of tool inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.reference.encoding.frame import Event
from conformance.reference.faults.edits import Events, data, inserted, kind, of, without
from conformance.reference.faults.registry import MESSAGES, STREAM, fault
from conformance.reference.hooks import Context

_ON = (MESSAGES,)
_ONLY = (STREAM,)
_INDEX = ("stream.messages.block-index",)
_TYPE = ("stream.messages.delta-type",)
_INPUT = ("stream.messages.tool-json",)
_BLOCKS = ("content_block_start", "content_block_delta", "content_block_stop")


def _deltas(events: Events, name: str) -> Iterator[dict[str, Any]]:
    """The deltas of a type, to change in place."""
    return (each["delta"] for each in of(events, "content_block_delta") if each["delta"]["type"] == name)


def _places(events: Events, block: str) -> list[list[int]]:
    """The places of the pieces of input, for each block of a type that has any."""
    found: dict[int, list[int]] = {}
    for place, event in enumerate(events):
        each = data(event)
        if kind(event) == "content_block_start" and each["content_block"]["type"] == block:
            found[each["index"]] = []
        elif kind(event) == "content_block_delta" and each["index"] in found:
            found[each["index"]].append(place)
    return [places for places in found.values() if places]


def _without_places(events: Events, places: list[int]) -> Events:
    return [event for place, event in enumerate(events) if place not in places]


@fault("block-index-always-zero", "events", on=_ON, modes=_ONLY, caught_by=_INDEX)
def always_zero(_: Context, events: Events) -> Events:
    """Every block has index 0."""
    for each in of(events, *_BLOCKS):
        each["index"] = 0
    return events


@fault("block-index-from-one", "events", on=_ON, modes=_ONLY, caught_by=_INDEX)
def from_one(_: Context, events: Events) -> Events:
    """The indexes of the blocks start at 1."""
    for each in of(events, *_BLOCKS):
        each["index"] += 1
    return events


@fault(
    "block-index-gap-before-call", "events", on=_ON, modes=_ONLY, caught_by=_INDEX, seen=("MadAppGang/claudish#127",)
)
def gap_before_call(_: Context, events: Events) -> Events:
    """The indexes skip a number before a tool call."""
    calls = [each["index"] for each in of(events, _BLOCKS[0]) if each["content_block"]["type"] == "tool_use"]
    for each in of(events, *_BLOCKS):
        if calls and each["index"] >= calls[0]:
            each["index"] += 1
    return events


@fault("block-index-missing-in-stop", "events", on=_ON, modes=_ONLY, caught_by=_INDEX)
def missing_in_stop(_: Context, events: Events) -> Events:
    """content_block_stop has no index."""
    for each in of(events, "content_block_stop"):
        del each["index"]
    return events


@fault("block-index-as-string", "events", on=_ON, modes=_ONLY, caught_by=_INDEX)
def as_string(_: Context, events: Events) -> Events:
    """The index of a block is a string."""
    for each in of(events, *_BLOCKS):
        each["index"] = str(each["index"])
    return events


@fault("block-delta-of-next-block", "events", on=_ON, modes=_ONLY, caught_by=_INDEX, seen=("Oaklight/llm-rosetta#246",))
def of_next_block(_: Context, events: Events) -> Events:
    """A delta names the block after the one that is open."""
    for each in of(events, "content_block_delta"):
        each["index"] += 1
        break
    return events


@fault("block-without-start", "events", on=_ON, modes=_ONLY, caught_by=_INDEX, seen=("BerriAI/litellm#30115",))
def without_start(_: Context, events: Events) -> Events:
    """The text has deltas and a stop, but its block never starts."""
    return without(events, lambda e: kind(e) == _BLOCKS[0] and data(e)["content_block"]["type"] in ("text", "tool_use"))


@fault("block-delta-after-stop", "events", on=_ON, modes=_ONLY, caught_by=_INDEX)
def after_stop(_: Context, events: Events) -> Events:
    """An empty delta of a block comes after its stop."""
    place = next(place for place, event in enumerate(events) if kind(event) == "content_block_stop")
    late = {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": ""}}
    return inserted(events, place + 1, Event(name="content_block_delta", data=late))


@fault("block-piece-of-text-lost", "events", on=_ON, modes=_ONLY, caught_by=("format.json-schema",))
def piece_of_text_lost(_: Context, events: Events) -> Events:
    """The last piece of the text is lost."""
    texts = [n for n, e in enumerate(events) if data(e).get("delta", {}).get("type") == "text_delta"]
    return _without_places(events, texts[-1:])


@fault("block-type-foreign", "events", on=_ON, modes=_ONLY, caught_by=(*_TYPE, "body.block-types"))
def type_foreign(_: Context, events: Events) -> Events:
    """A text block starts as output_text, as on responses."""
    for each in of(events, "content_block_start"):
        if each["content_block"]["type"] == "text":
            each["content_block"]["type"] = "output_text"
    return events


@fault("block-thinking-as-text-delta", "events", on=_ON, modes=_ONLY, caught_by=_TYPE)
def thinking_as_text(_: Context, events: Events) -> Events:
    """A thinking block gets text_delta."""
    for delta in _deltas(events, "thinking_delta"):
        delta |= {"type": "text_delta", "text": delta.pop("thinking")}
    return events


@fault("block-text-as-thinking-delta", "events", on=_ON, modes=_ONLY, caught_by=_TYPE)
def text_as_thinking(_: Context, events: Events) -> Events:
    """A text block gets thinking_delta."""
    for delta in _deltas(events, "text_delta"):
        delta |= {"type": "thinking_delta", "thinking": delta.pop("text")}
    return events


@fault("block-input-as-text-delta", "events", on=_ON, modes=_ONLY, caught_by=_TYPE, seen=("sgl-project/sglang#24294",))
def input_as_text(_: Context, events: Events) -> Events:
    """The input of a tool call comes as text_delta."""
    for delta in _deltas(events, "input_json_delta"):
        delta |= {"type": "text_delta", "text": delta.pop("partial_json")}
    return events


@fault("block-delta-type-unknown", "events", on=_ON, modes=_ONLY, caught_by=_TYPE)
def type_unknown(_: Context, events: Events) -> Events:
    """The deltas of a thinking block are of type reasoning_delta."""
    for delta in _deltas(events, "thinking_delta"):
        delta["type"] = "reasoning_delta"
    return events


@fault("block-delta-type-missing", "events", on=_ON, modes=_ONLY, caught_by=_TYPE)
def type_missing(_: Context, events: Events) -> Events:
    """Text deltas have no type."""
    for delta in _deltas(events, "text_delta"):
        del delta["type"]
    return events


@fault("block-signature-under-another-name", "events", on=_ON, modes=_ONLY, caught_by=_TYPE)
def signature_renamed(_: Context, events: Events) -> Events:
    """The signature of a thinking block comes under thinking_signature."""
    for delta in _deltas(events, "signature_delta"):
        delta["thinking_signature"] = delta.pop("signature")
    return events


@fault("block-text-null", "events", on=_ON, modes=_ONLY, caught_by=_TYPE)
def text_null(_: Context, events: Events) -> Events:
    """The text of the first text delta is null."""
    for delta in _deltas(events, "text_delta"):
        delta["text"] = None
        break
    return events


@fault("block-input-as-object", "events", on=_ON, modes=_ONLY, caught_by=(*_TYPE, *_INPUT))
def input_as_object(_: Context, events: Events) -> Events:
    """The input of a call comes at once, as an object in partial_json."""
    for places in _places(events, "tool_use"):
        joined = "".join(data(events[place])["delta"]["partial_json"] for place in places)
        data(events[places[0]])["delta"]["partial_json"] = {"input": joined}
    later = [place for places in _places(events, "tool_use") for place in places[1:]]
    return _without_places(events, later)


@fault("block-input-opens-as-string", "events", on=_ON, modes=_ONLY, caught_by=_INPUT)
def input_opens_as_string(_: Context, events: Events) -> Events:
    """A tool_use block opens with an empty string as its input."""
    for each in of(events, "content_block_start"):
        if each["content_block"]["type"] == "tool_use":
            each["content_block"]["input"] = ""
    return events


@fault("block-input-piece-lost", "events", on=_ON, modes=_ONLY, caught_by=_INPUT)
def input_piece_lost(_: Context, events: Events) -> Events:
    """The last piece of a call's input is lost."""
    return _without_places(events, [places[-1] for places in _places(events, "tool_use")])


@fault("block-search-piece-lost", "events", on=_ON, modes=_ONLY, caught_by=_INPUT)
def search_piece_lost(_: Context, events: Events) -> Events:
    """The first piece of a search's query is lost."""
    return _without_places(events, [places[0] for places in _places(events, "server_tool_use")])


@fault("block-input-sent-twice", "events", on=_ON, modes=_ONLY, caught_by=_INPUT, seen=("elizaOS/eliza#16973",))
def input_sent_twice(_: Context, events: Events) -> Events:
    """The input of a call is sent in pieces, and then once more at its end."""
    for places in _places(events, "tool_use"):
        joined = "".join(data(events[place])["delta"]["partial_json"] for place in places)
        data(events[places[-1]])["delta"]["partial_json"] += joined
    return events


@fault("block-input-after-empty-object", "events", on=_ON, modes=_ONLY, caught_by=_INPUT, seen=("ogx-ai/ogx#5462",))
def input_after_object(_: Context, events: Events) -> Events:
    """The first piece of a call's input begins with an empty object."""
    for places in _places(events, "tool_use"):
        first = data(events[places[0]])["delta"]
        first["partial_json"] = "{}" + first["partial_json"]
    return events


@fault("block-input-in-array", "events", on=_ON, modes=_ONLY, caught_by=_INPUT)
def input_in_array(_: Context, events: Events) -> Events:
    """The pieces of a call's input add up to an array."""
    for places in _places(events, "tool_use"):
        first, last = data(events[places[0]])["delta"], data(events[places[-1]])["delta"]
        first["partial_json"] = "[" + first["partial_json"]
        last["partial_json"] += "]"
    return events
