"""What faults in streams do with events: find them, take some out, put others in, and number anew what is numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

from conformance.reference.encoding.frame import Event
from conformance.reference.hooks import Context

Events = list[Event]
TERMINAL = ("message_stop", "response.completed", "response.incomplete", "response.failed")


def streams(context: Context) -> bool:
    """Whether the answer is an event stream, and no refusal."""
    return context.stream and context.refused is None


def kind(event: Event) -> str:
    """The type of an event's data; blank where it has none."""
    return str(event.data.get("type", "")) if isinstance(event.data, dict) else ""


def data(event: Event) -> dict[str, Any]:
    """The data of an event, to change in place; an empty object for a mark such as ``[DONE]``."""
    return event.data if isinstance(event.data, dict) else {}


def of(events: Events, *kinds: str) -> Iterator[dict[str, Any]]:
    """The data of the events of these types."""
    return (data(event) for event in events if kind(event) in kinds)


def output(events: Events) -> list[dict[str, Any]]:
    """The output of a responses stream's final response, to change in place."""
    return next((each["response"]["output"] for each in of(events, *TERMINAL)), [])


def first(events: Events, *kinds: str) -> int | None:
    """The place of the first event of these types."""
    return next((place for place, event in enumerate(events) if kind(event) in kinds), None)


def last(events: Events, *kinds: str) -> int | None:
    """The place of the last event of these types."""
    return next((place for place in reversed(range(len(events))) if kind(events[place]) in kinds), None)


def without(events: Events, dropped: Callable[[Event], bool]) -> Events:
    """The events but those that are dropped."""
    return numbered([event for event in events if not dropped(event)])


def without_first(events: Events, *kinds: str) -> Events:
    """The events but the first one of these types."""
    place = first(events, *kinds)
    return events if place is None else numbered([*events[:place], *events[place + 1 :]])


def moved(events: Events, source: int | None, target: int | None) -> Events:
    """The events with one of them taken out and put in before the one that stood at ``target``."""
    if source is None or target is None:
        return events
    left = [*events[:source], *events[source + 1 :]]
    place = target - (source < target)
    return numbered([*left[:place], events[source], *left[place:]])


def doubled(events: Events, place: int | None) -> Events:
    """The events with one of them sent twice."""
    if place is None:
        return events
    return numbered([*events[: place + 1], deepcopy(events[place]), *events[place + 1 :]])


def inserted(events: Events, place: int | None, *added: Event) -> Events:
    """The events with others put in at a place."""
    return events if place is None else numbered([*events[:place], *added, *events[place:]])


def numbered(events: Events) -> Events:
    """The events with sequence numbers from 0 where they have any (responses)."""
    found: Events = []
    number = 0
    for event in events:
        if "sequence_number" in data(event):
            found.append(replace(event, data=data(event) | {"sequence_number": number}))
            number += 1
        else:
            found.append(event)
    return found


def choices(events: Events) -> Iterator[dict[str, Any]]:
    """The choices of a chat stream's chunks, to change in place."""
    return (choice for event in events for choice in data(event).get("choices", []))


def fragments(events: Events) -> Iterator[dict[str, Any]]:
    """The tool call fragments of a chat stream, to change in place."""
    return (part for choice in choices(events) for part in choice["delta"].get("tool_calls", []))


def holding(events: Events, name: str) -> list[int]:
    """The places of a chat stream's chunks whose delta has a field that is not empty."""
    return [place for place, event in enumerate(events) if any(c["delta"].get(name) for c in choices([event]))]


def last_holding(events: Events, name: str) -> int | None:
    """The place of the last chunk whose delta has a field that is not empty."""
    return next(reversed(holding(events, name)), None)


def after_finish(events: Events) -> int | None:
    """The place behind a chat stream's chunk with the finish_reason."""
    end = finishing(events)
    return None if end is None else end + 1


def finishing(events: Events) -> int | None:
    """The place of a chat stream's chunk with the finish_reason."""
    return next((n for n, event in enumerate(events) if any(c.get("finish_reason") for c in choices([event]))), None)
