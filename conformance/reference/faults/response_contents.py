"""Faults in what the items of a responses stream hold: text, and the arguments of calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.reference.faults.edits import Events, kind, of, output, without, without_first
from conformance.reference.faults.registry import RESPONSES, STREAM, fault
from conformance.reference.hooks import Context

_ON = (RESPONSES,)
_ONLY = (STREAM,)
_TEXT = ("stream.responses.text",)
_CALLS = ("stream.responses.calls",)
_ADDED, _DONE = "response.output_item.added", "response.output_item.done"
_DELTA = "response.output_text.delta"
_ARGUMENTS = "response.function_call_arguments"


def _added_calls(events: Events, *kinds: str) -> Iterator[dict[str, Any]]:
    """The function calls in events of these types, to change in place."""
    return (each["item"] for each in of(events, *kinds) if each["item"]["type"] == "function_call")


@fault("text-delta-lost", "events", on=_ON, modes=_ONLY, caught_by=_TEXT)
def delta_lost(_: Context, events: Events) -> Events:
    """One delta of the text is lost."""
    return without_first(events, _DELTA)


@fault("text-delta-twice", "events", on=_ON, modes=_ONLY, caught_by=_TEXT)
def delta_twice(_: Context, events: Events) -> Events:
    """One delta of the text holds its piece twice."""
    for each in of(events, _DELTA):
        each["delta"] *= 2
        break
    return events


@fault("text-delta-as-object", "events", on=_ON, modes=_ONLY, caught_by=_TEXT)
def delta_as_object(_: Context, events: Events) -> Events:
    """A delta of the text is an object around the piece."""
    for each in of(events, _DELTA):
        each["delta"] = {"text": each["delta"]}
    return events


@fault("text-done-differs", "events", on=_ON, modes=_ONLY, caught_by=_TEXT)
def done_differs(_: Context, events: Events) -> Events:
    """The text of output_text.done lacks the last character of its deltas."""
    for each in of(events, "response.output_text.done"):
        each["text"] = each["text"][:-1]
    return events


@fault("text-missing-when-done", "events", on=_ON, modes=_ONLY, caught_by=_TEXT)
def missing_when_done(_: Context, events: Events) -> Events:
    """A message has no content when it is done."""
    for each in of(events, _DONE):
        if each["item"]["type"] == "message":
            each["item"]["content"] = []
    return events


@fault("text-differs-at-end", "events", on=_ON, modes=_ONLY, caught_by=_TEXT)
def differs_at_end(_: Context, events: Events) -> Events:
    """The text of the final response has a space more than its deltas."""
    for item in output(events):
        for part in item.get("content", []):
            part["text"] += " "
    return events


@fault("text-part-of-another-type-at-end", "events", on=_ON, modes=_ONLY, caught_by=(*_TEXT, "body.answer-findable"))
def part_of_another_type(_: Context, events: Events) -> Events:
    """In the final response the part with the answer is of type text."""
    for item in output(events):
        for part in item.get("content", []):
            part["type"] = "text"
    return events


@fault("text-unstreamed", "events", on=_ON, modes=_ONLY, caught_by=_TEXT)
def unstreamed(_: Context, events: Events) -> Events:
    """The text comes only with the final response, without deltas."""
    names = (_DELTA, "response.output_text.done", "response.content_part.added", "response.content_part.done")
    events = without(events, lambda event: kind(event) in names)
    for each in of(events, _DONE):
        if each["item"]["type"] == "message":
            each["item"]["content"] = []
    return events


@fault("text-of-reasoning-lost", "events", on=_ON, modes=_ONLY, caught_by=_TEXT)
def reasoning_lost(_: Context, events: Events) -> Events:
    """One delta of the reasoning is lost."""
    return without_first(events, "response.reasoning_summary_text.delta")


@fault("call-added-without-name", "events", on=_ON, modes=_ONLY, caught_by=_CALLS)
def added_without_name(_: Context, events: Events) -> Events:
    """A function call is added without its name."""
    for call in _added_calls(events, _ADDED):
        call["name"] = ""
    return events


@fault("call-name-lost-when-done", "events", on=_ON, modes=_ONLY, caught_by=_CALLS)
def name_lost(_: Context, events: Events) -> Events:
    """A function call has no name when it is done."""
    for call in _added_calls(events, _DONE):
        del call["name"]
    return events


@fault("call-name-differs-when-arguments-done", "events", on=_ON, modes=_ONLY, caught_by=_CALLS)
def name_differs(_: Context, events: Events) -> Events:
    """function_call_arguments.done names another function."""
    for each in of(events, f"{_ARGUMENTS}.done"):
        each["name"] = "another_function"
    return events


@fault("call-id-added-late", "events", on=_ON, modes=_ONLY, caught_by=_CALLS)
def id_added_late(_: Context, events: Events) -> Events:
    """A function call is added without call_id."""
    for call in _added_calls(events, _ADDED):
        del call["call_id"]
    return events


@fault("call-id-changes-at-end", "events", on=_ON, modes=_ONLY, caught_by=_CALLS)
def call_id_changes(_: Context, events: Events) -> Events:
    """A function call has another call_id in the final response."""
    for item in output(events):
        if item["type"] == "function_call":
            item["call_id"] += "0"
    return events


@fault("call-delta-lost", "events", on=_ON, modes=_ONLY, caught_by=_CALLS)
def call_delta_lost(_: Context, events: Events) -> Events:
    """One delta of a call's arguments is lost."""
    return without_first(events, f"{_ARGUMENTS}.delta")


@fault("call-without-deltas", "events", on=_ON, modes=_ONLY, caught_by=_CALLS)
def without_deltas(_: Context, events: Events) -> Events:
    """The arguments of a call come without deltas."""
    return without(events, lambda event: kind(event) == f"{_ARGUMENTS}.delta")


@fault("call-arguments-never-done", "events", on=_ON, modes=_ONLY, caught_by=_CALLS)
def arguments_never_done(_: Context, events: Events) -> Events:
    """The stream has no function_call_arguments.done."""
    return without(events, lambda event: kind(event) == f"{_ARGUMENTS}.done")


@fault("call-arguments-done-differ", "events", on=_ON, modes=_ONLY, caught_by=_CALLS)
def arguments_done_differ(_: Context, events: Events) -> Events:
    """The arguments of function_call_arguments.done are empty."""
    for each in of(events, f"{_ARGUMENTS}.done"):
        each["arguments"] = ""
    return events


@fault("call-arguments-differ-when-done", "events", on=_ON, modes=_ONLY, caught_by=_CALLS)
def arguments_differ_when_done(_: Context, events: Events) -> Events:
    """The arguments of a call that is done are written with other spaces than its deltas."""
    for call in _added_calls(events, _DONE):
        call["arguments"] = call["arguments"].replace(": ", ":")
    return events


@fault("call-delta-as-object", "events", on=_ON, modes=_ONLY, caught_by=_CALLS)
def call_delta_as_object(_: Context, events: Events) -> Events:
    """A delta of a call's arguments is an object around the piece."""
    for each in of(events, f"{_ARGUMENTS}.delta"):
        each["delta"] = {"arguments": each["delta"]}
    return events
