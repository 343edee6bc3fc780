"""The stages that a fault can sit on: the server's hooks, and a few that reach into JSON and SSE alike.

A hook of the server sees one value, for instance the JSON body. Much that can be wrong is wrong in both modes, so that
``usage``, ``message`` and the others here call the fault's function for the same thing wherever the surface carries it.
Values are copies: a fault may change them in place and return them.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields, replace
from typing import Any

from conformance.reference.encoding.frame import Event
from conformance.reference.faults.places import PLACES, places
from conformance.reference.hooks import Context, Hooks
from conformance.values import Protocol

Change = Callable[[Context, Any], Any]
Armed = Callable[[Context], bool]

HOOKS = {field.name for field in fields(Hooks)}
REACHING = {
    "usage": "the usage object: in the body, and in each event that carries one",
    "payload": "the JSON body, and the data object of each event",
    "answer": "the JSON body; on responses also the response in the events, on messages the message of message_start",
    **PLACES,
}
STAGES = sorted(HOOKS | REACHING.keys())


def hooks_of(stage: str, change: Change, armed: Armed) -> Hooks:
    """Hooks that call ``change`` at the stage, for contexts that are armed."""

    def guarded(context: Context, value: Any) -> Any:
        return change(context, _copied(value)) if armed(context) else value

    if stage in HOOKS:
        return Hooks(**{stage: guarded})
    return Hooks(
        body=lambda context, body: _in_body(stage, change, context, deepcopy(body)) if armed(context) else body,
        events=lambda context, events: (
            [_in_event(stage, change, context, event) for event in events] if armed(context) else events
        ),
    )


def _copied(value: Any) -> Any:
    """A copy to change; what the items of an array share is copied for each of them."""
    if isinstance(value, list):
        return [deepcopy(item) for item in value]
    return deepcopy(value) if isinstance(value, dict) else value


def merged(all_hooks: list[Hooks]) -> Hooks:
    """Several faults at once: where two sit on one hook, the later sees what the earlier made of the value."""
    together = Hooks()
    for hooks in all_hooks:
        for name in HOOKS:
            first, second = getattr(together, name), getattr(hooks, name)
            if second is not None:
                together = replace(together, **{name: second if first is None else _chained(first, second)})
    return together


def _chained(first: Change, second: Change) -> Change:
    return lambda context, value: second(context, first(context, value))


def _in_body(stage: str, change: Change, context: Context, body: dict[str, Any]) -> Any:
    if stage in PLACES:
        return _at_places(stage, change, context, body, event=False)
    if stage != "usage":
        return change(context, body)
    return _at(body, "usage", change, context)


def _in_event(stage: str, change: Change, context: Context, event: Event) -> Event:
    if not isinstance(event.data, dict):
        return event
    data = deepcopy(event.data)
    inner = {Protocol.RESPONSES: "response", Protocol.MESSAGES: "message"}.get(context.protocol)
    if stage in PLACES:
        data = _at_places(stage, change, context, data, event=True)
    elif stage == "payload":
        data = change(context, data)
    elif stage == "answer":
        if inner is not None:
            data = _at(data, inner, change, context)
    elif inner in data and isinstance(data[inner], dict):
        data[inner] = _at(data[inner], "usage", change, context)
    else:
        data = _at(data, "usage", change, context)
    return replace(event, data=data)


def _at_places(stage: str, change: Change, context: Context, value: dict[str, Any], *, event: bool) -> Any:
    root: dict[str, Any] = {"": value}
    for holder, key in list(places(stage, context.protocol, root, event=event)):
        holder[key] = change(context, holder[key])
    return root[""]


def _at(holder: dict[str, Any], name: str, change: Change, context: Context) -> dict[str, Any]:
    if isinstance(holder.get(name), dict):
        holder[name] = change(context, holder[name])
    return holder
