"""Faults in the events of a responses stream: numbers, order, the response that they wrap, its status, its parts."""

from __future__ import annotations

from dataclasses import replace

from conformance.reference.faults.edits import (
    TERMINAL,
    Events,
    data,
    doubled,
    first,
    kind,
    last,
    moved,
    of,
    without,
    without_first,
)
from conformance.reference.faults.registry import RESPONSES, STREAM, fault
from conformance.reference.hooks import Context

_ON = (RESPONSES,)
_ONLY = (STREAM,)
_SEQUENCE = ("stream.responses.sequence",)
_ORDER = ("stream.responses.order",)
_WRAPPED = ("stream.responses.wrapped",)
_STATUS = ("stream.responses.status",)
_PARTS = ("stream.responses.parts",)
_DELTA = "response.output_text.delta"


@fault(
    "response-sequence-missing", "events", on=_ON, modes=_ONLY, caught_by=_SEQUENCE, seen=("onyx-dot-app/onyx#13624",)
)
def sequence_missing(_: Context, events: Events) -> Events:
    """The events have no sequence_number."""
    for event in events:
        del data(event)["sequence_number"]
    return events


@fault("response-sequence-missing-in-done", "events", on=_ON, modes=_ONLY, caught_by=_SEQUENCE)
def sequence_missing_in_done(_: Context, events: Events) -> Events:
    """Only the events that are done have no sequence_number."""
    for event in events:
        if kind(event).endswith(".done"):
            del data(event)["sequence_number"]
    return events


@fault(
    "response-sequence-repeated", "events", on=_ON, modes=_ONLY, caught_by=_SEQUENCE, seen=("BerriAI/litellm#28899",)
)
def sequence_repeated(_: Context, events: Events) -> Events:
    """output_item.done always has sequence_number 1."""
    for each in of(events, "response.output_item.done"):
        each["sequence_number"] = 1
    return events


@fault("response-sequence-stands-still", "events", on=_ON, modes=_ONLY, caught_by=_SEQUENCE)
def sequence_stands_still(_: Context, events: Events) -> Events:
    """The terminal event has the number of the event before it."""
    data(events[-1])["sequence_number"] -= 1
    return events


@fault("response-sequence-restarts", "events", on=_ON, modes=_ONLY, caught_by=_SEQUENCE)
def sequence_restarts(_: Context, events: Events) -> Events:
    """The numbers start again with each output item."""
    number = 0
    for event in events:
        number = 0 if kind(event) == "response.output_item.added" else number
        data(event)["sequence_number"] = number
        number += 1
    return events


@fault("response-sequence-gap", "events", on=_ON, modes=_ONLY, caught_by=_SEQUENCE)
def sequence_gap(_: Context, events: Events) -> Events:
    """A number is left out before the terminal event."""
    data(events[-1])["sequence_number"] += 1
    return events


@fault("response-sequence-from-100", "events", on=_ON, modes=_ONLY, caught_by=_SEQUENCE)
def sequence_from_100(_: Context, events: Events) -> Events:
    """The numbers start at 100."""
    for event in events:
        data(event)["sequence_number"] += 100
    return events


@fault("response-sequence-as-string", "events", on=_ON, modes=_ONLY, caught_by=_SEQUENCE)
def sequence_as_string(_: Context, events: Events) -> Events:
    """The numbers are strings."""
    for event in events:
        data(event)["sequence_number"] = str(data(event)["sequence_number"])
    return events


@fault("response-created-missing", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def created_missing(_: Context, events: Events) -> Events:
    """The stream begins with response.in_progress."""
    return without_first(events, "response.created")


@fault("response-created-twice", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def created_twice(_: Context, events: Events) -> Events:
    """The event response.created is sent twice."""
    return doubled(events, 0)


@fault("response-terminal-twice", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def terminal_twice(_: Context, events: Events) -> Events:
    """The terminal event is sent twice."""
    return doubled(events, len(events) - 1)


@fault("response-event-after-terminal", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def after_terminal(_: Context, events: Events) -> Events:
    """The last output item is done only after the terminal event."""
    return moved(events, last(events, "response.output_item.done"), len(events))


@fault("response-item-never-done", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def never_done(_: Context, events: Events) -> Events:
    """No output item is done."""
    return without(events, lambda event: kind(event) == "response.output_item.done")


@fault(
    "response-item-never-added",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=_ORDER,
    seen=("BerriAI/litellm#30115", "maximhq/bifrost#5169"),
)
def never_added(_: Context, events: Events) -> Events:
    """No output item is added before its parts come."""
    return without(events, lambda event: kind(event) == "response.output_item.added")


@fault("response-item-added-late", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def added_late(_: Context, events: Events) -> Events:
    """The last output item is added after its first part."""
    place = last(events, "response.output_item.added")
    return moved(events, place, None if place is None else place + 2)


@fault("response-item-done-twice", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def done_twice(_: Context, events: Events) -> Events:
    """An output item is done twice."""
    return doubled(events, last(events, "response.output_item.done"))


@fault("response-part-after-done", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def part_after_done(_: Context, events: Events) -> Events:
    """The last part of an output item comes after the item is done."""
    place = first(events, "response.output_item.done")
    return moved(events, place, None if place is None else place - 1)


@fault("response-events-named-alike", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def named_alike(_: Context, events: Events) -> Events:
    """Every event is named message, whatever the type of its data."""
    return [replace(event, name="message") for event in events]


@fault("response-unwrapped-in-created", "events", on=_ON, modes=_ONLY, caught_by=_WRAPPED)
def unwrapped_in_created(_: Context, events: Events) -> Events:
    """The fields of the response stand in response.created itself."""
    for each in of(events, "response.created"):
        each.update(each.pop("response"))
    return events


@fault("response-unwrapped-at-end", "events", on=_ON, modes=_ONLY, caught_by=_WRAPPED)
def unwrapped_at_end(_: Context, events: Events) -> Events:
    """The fields of the response stand in the terminal event itself."""
    for each in of(events, *TERMINAL):
        each.update(each.pop("response"))
    return events


@fault("response-missing-in-created", "events", on=_ON, modes=_ONLY, caught_by=_WRAPPED)
def missing_in_created(_: Context, events: Events) -> Events:
    """The event response.created carries no response."""
    for each in of(events, "response.created"):
        del each["response"]
    return events


@fault("response-empty-at-end", "events", on=_ON, modes=_ONLY, caught_by=(*_WRAPPED, *_STATUS))
def empty_at_end(_: Context, events: Events) -> Events:
    """The terminal event carries an empty response."""
    for each in of(events, *TERMINAL):
        each["response"] = {}
    return events


@fault("response-id-changes", "events", on=_ON, modes=_ONLY, caught_by=_WRAPPED)
def id_changes(_: Context, events: Events) -> Events:
    """The response of the terminal event has another id than at the start."""
    for each in of(events, *TERMINAL):
        each["response"]["id"] += "0"
    return events


@fault("response-event-untyped", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def event_untyped(_: Context, events: Events) -> Events:
    """Only the name of an event tells its type, its data does not."""
    for each in of(events, _DELTA):
        del each["type"]
    return events


@fault("response-status-in-progress-at-end", "events", on=_ON, modes=_ONLY, caught_by=_STATUS)
def status_in_progress(_: Context, events: Events) -> Events:
    """The final response is still in_progress."""
    for each in of(events, *TERMINAL):
        each["response"]["status"] = "in_progress"
    return events


@fault(
    "response-status-missing-at-end",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=_STATUS,
    seen=("diegosouzapw/OmniRoute#13964",),
)
def status_missing(_: Context, events: Events) -> Events:
    """The final response has no status."""
    for each in of(events, *TERMINAL):
        del each["response"]["status"]
    return events


@fault("response-completed-when-incomplete", "events", on=_ON, modes=_ONLY, caught_by=_STATUS)
def completed_when_incomplete(_: Context, events: Events) -> Events:
    """The terminal event of a response that the limit cut off is response.completed."""
    if kind(events[-1]) == "response.incomplete":
        events[-1] = replace(
            events[-1], name="response.completed", data={**data(events[-1]), "type": "response.completed"}
        )
    return events


@fault("response-part-never-added", "events", on=_ON, modes=_ONLY, caught_by=_PARTS)
def part_never_added(_: Context, events: Events) -> Events:
    """The text part is not added before its first delta."""
    return without(events, lambda event: kind(event) == "response.content_part.added")


@fault("response-part-added-late", "events", on=_ON, modes=_ONLY, caught_by=_PARTS)
def part_added_late(_: Context, events: Events) -> Events:
    """The text part is added after its first delta."""
    place = first(events, _DELTA)
    return moved(events, first(events, "response.content_part.added"), None if place is None else place + 1)


@fault("response-text-never-done", "events", on=_ON, modes=_ONLY, caught_by=_PARTS)
def text_never_done(_: Context, events: Events) -> Events:
    """The stream has no output_text.done."""
    return without(events, lambda event: kind(event) == "response.output_text.done")


@fault("response-part-never-done", "events", on=_ON, modes=_ONLY, caught_by=_PARTS)
def part_never_done(_: Context, events: Events) -> Events:
    """The stream has no content_part.done."""
    return without(events, lambda event: kind(event) == "response.content_part.done")


@fault("response-text-done-early", "events", on=_ON, modes=_ONLY, caught_by=_PARTS)
def text_done_early(_: Context, events: Events) -> Events:
    """The event output_text.done comes before the last delta."""
    return moved(events, first(events, "response.output_text.done"), last(events, _DELTA))
