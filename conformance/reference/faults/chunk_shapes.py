"""Faults in the shape of a chat stream's chunks and of the tool call fragments in them."""

from __future__ import annotations

import json

from conformance.reference.faults.edits import Events, choices, data, fragments, without
from conformance.reference.faults.registry import CHAT, STREAM, fault
from conformance.reference.hooks import Context

_ON = (CHAT,)
_ONLY = (STREAM,)
_SHAPE = ("stream.chat.chunk-shape",)
_FRAGMENTS = ("stream.chat.tool-deltas",)
_IDS = (*_FRAGMENTS, "tool.ids")


@fault(
    "chunk-usage-without-choices",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=_SHAPE,
    seen=("ROCm/ATOM#1711", "Oaklight/llm-rosetta#55"),
)
def usage_without_choices(_: Context, events: Events) -> Events:
    """The chunk that only reports usage has no choices, not even an empty array."""
    for event in events:
        if data(event).get("choices") == []:
            del data(event)["choices"]
    return events


@fault("chunk-usage-with-null-choices", "events", on=_ON, modes=_ONLY, caught_by=_SHAPE, seen=("cline/cline#8518",))
def null_choices(_: Context, events: Events) -> Events:
    """The chunk that only reports usage has null for choices."""
    for event in events:
        if data(event).get("choices") == []:
            data(event)["choices"] = None
    return events


@fault("chunk-choices-as-object", "events", on=_ON, modes=_ONLY, caught_by=_SHAPE)
def choices_as_object(_: Context, events: Events) -> Events:
    """The field choices is the one choice instead of an array."""
    for event in events:
        if data(event).get("choices"):
            data(event)["choices"] = data(event)["choices"][0]
    return events


@fault("chunk-delta-missing", "events", on=_ON, modes=_ONLY, caught_by=_SHAPE, seen=("QwenLM/qwen-code#1448",))
def delta_missing(_: Context, events: Events) -> Events:
    """The first chunk has a choice without a delta."""
    del next(choices(events))["delta"]
    return events


@fault("chunk-delta-null-at-end", "events", on=_ON, modes=_ONLY, caught_by=_SHAPE, seen=("maximhq/bifrost#5878",))
def delta_null(_: Context, events: Events) -> Events:
    """The delta beside the finish_reason is null."""
    for choice in choices(events):
        if choice["finish_reason"]:
            choice["delta"] = None
    return events


@fault("chunk-message-for-delta", "events", on=_ON, modes=_ONLY, caught_by=_SHAPE)
def message_for_delta(_: Context, events: Events) -> Events:
    """Chunks carry their piece under message, as a whole answer does."""
    for choice in choices(events):
        choice["message"] = choice.pop("delta")
    return events


@fault("chunk-index-missing", "events", on=_ON, modes=_ONLY, caught_by=_SHAPE)
def index_missing(_: Context, events: Events) -> Events:
    """The choices have no index."""
    for choice in choices(events):
        del choice["index"]
    return events


@fault("chunk-index-as-string", "events", on=_ON, modes=_ONLY, caught_by=_SHAPE)
def index_as_string(_: Context, events: Events) -> Events:
    """The index of a choice is a string."""
    for choice in choices(events):
        choice["index"] = str(choice["index"])
    return events


@fault("chunk-content-in-parts", "events", on=_ON, modes=_ONLY, caught_by=_SHAPE)
def content_in_parts(_: Context, events: Events) -> Events:
    """A content delta is an array of parts."""
    for choice in choices(events):
        if choice["delta"].get("content"):
            choice["delta"]["content"] = [{"type": "text", "text": choice["delta"]["content"]}]
    return events


@fault("chunk-reasoning-as-object", "events", on=_ON, modes=_ONLY, caught_by=_SHAPE)
def reasoning_as_object(_: Context, events: Events) -> Events:
    """A reasoning delta is an object around the text."""
    for choice in choices(events):
        if choice["delta"].get("reasoning_content"):
            choice["delta"]["reasoning_content"] = {"text": choice["delta"]["reasoning_content"]}
    return events


@fault(
    "fragment-index-missing",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=_FRAGMENTS,
    seen=("ollama/ollama#7881", "EricLBuehler/mistral.rs#1507", "SamSaffron/term-llm#314"),
)
def fragment_index_missing(_: Context, events: Events) -> Events:
    """Tool call fragments have no index."""
    for fragment in fragments(events):
        del fragment["index"]
    return events


@fault(
    "fragment-index-from-one", "events", on=_ON, modes=_ONLY, caught_by=_FRAGMENTS, seen=("pipecat-ai/pipecat#4987",)
)
def fragment_index_from_one(_: Context, events: Events) -> Events:
    """The indexes of the calls start at 1."""
    for fragment in fragments(events):
        fragment["index"] += 1
    return events


@fault("fragment-index-gap", "events", on=_ON, modes=_ONLY, caught_by=_FRAGMENTS)
def fragment_index_gap(_: Context, events: Events) -> Events:
    """The second call of an answer has index 2."""
    for fragment in fragments(events):
        fragment["index"] *= 2
    return events


@fault("fragment-index-always-zero", "events", on=_ON, modes=_ONLY, caught_by=_FRAGMENTS)
def fragment_index_zero(_: Context, events: Events) -> Events:
    """All calls of an answer have index 0."""
    for fragment in fragments(events):
        fragment["index"] = 0
    return events


@fault("fragment-id-missing", "events", on=_ON, modes=_ONLY, caught_by=_IDS, seen=("continuedev/continue#13225",))
def fragment_id_missing(_: Context, events: Events) -> Events:
    """No fragment of a call has its id."""
    for fragment in fragments(events):
        fragment.pop("id", None)
    return events


@fault("fragment-id-missing-after-first-call", "events", on=_ON, modes=_ONLY, caught_by=_IDS)
def fragment_id_missing_later(_: Context, events: Events) -> Events:
    """Only the first call of an answer has an id."""
    for fragment in fragments(events):
        if fragment["index"]:
            fragment.pop("id", None)
    return events


@fault("fragment-id-late", "events", on=_ON, modes=_ONLY, caught_by=_FRAGMENTS)
def fragment_id_late(_: Context, events: Events) -> Events:
    """The id of a call comes with its second fragment."""
    held: dict[int, str] = {}
    for fragment in fragments(events):
        if "id" in fragment:
            held[fragment["index"]] = fragment.pop("id")
        elif fragment["index"] in held:
            fragment["id"] = held.pop(fragment["index"])
    return events


@fault("fragment-id-changes", "events", on=_ON, modes=_ONLY, caught_by=_FRAGMENTS)
def fragment_id_changes(_: Context, events: Events) -> Events:
    """Each fragment of a call has a new id."""
    for number, fragment in enumerate(fragments(events)):
        fragment["id"] = f"call_{number}"
    return events


@fault("fragment-name-missing", "events", on=_ON, modes=_ONLY, caught_by=(*_FRAGMENTS, "tool.declared-only"))
def fragment_name_missing(_: Context, events: Events) -> Events:
    """No fragment of a call has its name."""
    for fragment in fragments(events):
        fragment["function"].pop("name", None)
    return events


@fault("fragment-name-in-pieces", "events", on=_ON, modes=_ONLY, caught_by=(*_FRAGMENTS, "tool.declared-only"))
def fragment_name_in_pieces(_: Context, events: Events) -> Events:
    """The name of a call comes in two pieces, like its arguments."""
    rest: dict[int, str] = {}
    for fragment in fragments(events):
        name = fragment["function"].get("name")
        if name:
            fragment["function"]["name"], rest[fragment["index"]] = name[:3], name[3:]
        elif fragment["index"] in rest:
            fragment["function"]["name"] = rest.pop(fragment["index"])
    return events


@fault(
    "fragment-arguments-as-object",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=(*_FRAGMENTS, "tool.arguments-json"),
    seen=("ggml-org/llama.cpp#20198",),
)
def fragment_arguments_as_object(_: Context, events: Events) -> Events:
    """The arguments of a call come at once, as an object instead of a string."""
    joined: dict[int, str] = {}
    for fragment in fragments(events):
        joined[fragment["index"]] = joined.get(fragment["index"], "") + fragment["function"]["arguments"]
    for fragment in fragments(events):
        if "id" in fragment:
            fragment["function"]["arguments"] = _parsed(joined[fragment["index"]])
    return without(events, lambda event: any("id" not in fragment for fragment in fragments([event])))


def _parsed(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


@fault("fragment-calls-as-object", "events", on=_ON, modes=_ONLY, caught_by=_FRAGMENTS)
def fragment_calls_as_object(_: Context, events: Events) -> Events:
    """tool_calls of a delta is one fragment instead of an array."""
    for choice in choices(events):
        if choice["delta"].get("tool_calls"):
            choice["delta"]["tool_calls"] = choice["delta"]["tool_calls"][0]
    return events


@fault(
    "fragment-of-arguments-lost",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=("tool.arguments-json", "stream.tools-equal-json"),
)
def fragment_lost(_: Context, events: Events) -> Events:
    """The last fragment of a call's arguments is lost."""
    found = [place for place, event in enumerate(events) if any("id" not in part for part in fragments([event]))]
    return events if not found else [*events[: found[-1]], *events[found[-1] + 1 :]]
