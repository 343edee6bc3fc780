"""Faults in the chunks of a chat stream: their shape, what must stay the same, how they begin and end."""

from __future__ import annotations

from dataclasses import replace

from conformance.reference.encoding.frame import Event
from conformance.reference.faults.edits import (
    Events,
    after_finish,
    choices,
    data,
    doubled,
    finishing,
    holding,
    last_holding,
    moved,
)
from conformance.reference.faults.registry import CHAT, STREAM, fault
from conformance.reference.hooks import Context

_ON = (CHAT,)
_ONLY = (STREAM,)
_SAME = ("stream.chat.constant-fields",)
_DONE = ("stream.chat.done",)
_FINISH = ("stream.chat.one-finish",)
_ROLE = ("stream.chat.role-first",)
_REASONING = ("stream.chat.reasoning-first",)
_USAGE = ("stream.chat.usage",)


@fault("chunk-id-changes", "events", on=_ON, modes=_ONLY, caught_by=_SAME)
def id_changes(_: Context, events: Events) -> Events:
    """Each chunk has an id of its own."""
    for number, event in enumerate(events):
        if "id" in data(event):
            data(event)["id"] += f"-{number}"
    return events


@fault("chunk-id-changes-at-end", "events", on=_ON, modes=_ONLY, caught_by=_SAME)
def id_changes_at_end(_: Context, events: Events) -> Events:
    """Only the chunk that finishes has another id."""
    data(events[-2])["id"] = "chatcmpl-0"
    return events


@fault("chunk-model-changes", "events", on=_ON, modes=_ONLY, caught_by=(*_SAME, "model.echoed"))
def model_changes(_: Context, events: Events) -> Events:
    """The last chunk names the model as the engine calls it."""
    data(events[-2])["model"] = "kimi-engine"
    return events


@fault("chunk-created-changes", "events", on=_ON, modes=_ONLY, caught_by=_SAME)
def created_changes(_: Context, events: Events) -> Events:
    """The field created is the time of each chunk instead of the answer's."""
    for number, event in enumerate(events):
        if "created" in data(event):
            data(event)["created"] += number // 2
    return events


@fault("chunk-created-missing-at-end", "events", on=_ON, modes=_ONLY, caught_by=_SAME)
def created_missing(_: Context, events: Events) -> Events:
    """The last chunk has no created."""
    del data(events[-2])["created"]
    return events


@fault("chunk-done-twice", "events", on=_ON, modes=_ONLY, caught_by=_DONE)
def done_twice(_: Context, events: Events) -> Events:
    """[DONE] is sent twice."""
    return doubled(events, len(events) - 1)


@fault("chunk-after-done", "events", on=_ON, modes=_ONLY, caught_by=_DONE)
def after_done(_: Context, events: Events) -> Events:
    """The last chunk comes after [DONE]."""
    return [*events[:-2], events[-1], events[-2]]


@fault("chunk-done-in-lower-case", "events", on=_ON, modes=_ONLY, caught_by=(*_DONE, "stream.data-json"))
def done_in_lower_case(_: Context, events: Events) -> Events:
    """The end mark is written [done]."""
    return [*events[:-1], Event(data="[done]")]


@fault("chunk-done-as-object", "events", on=_ON, modes=_ONLY, caught_by=_DONE)
def done_as_object(_: Context, events: Events) -> Events:
    """An object that says done stands in place of the end mark."""
    return [*events[:-1], replace(events[0], data={**data(events[0]), "choices": [], "done": True})]


@fault("chunk-finish-missing", "events", on=_ON, modes=_ONLY, caught_by=(*_FINISH, "finish.not-null"))
def finish_missing(_: Context, events: Events) -> Events:
    """No chunk has a finish_reason."""
    for choice in choices(events):
        choice["finish_reason"] = None
    return events


@fault("chunk-finish-in-each", "events", on=_ON, modes=_ONLY, caught_by=_FINISH)
def finish_in_each(_: Context, events: Events) -> Events:
    """Every chunk says that the choice has finished."""
    for choice in choices(events):
        choice["finish_reason"] = choice["finish_reason"] or "stop"
    return events


@fault("chunk-finish-blank-until-end", "events", on=_ON, modes=_ONLY, caught_by=(*_FINISH, "finish.enum"))
def finish_blank(_: Context, events: Events) -> Events:
    """finish_reason is an empty string instead of null until the end."""
    for choice in choices(events):
        choice["finish_reason"] = choice["finish_reason"] or ""
    return events


@fault("chunk-finish-twice", "events", on=_ON, modes=_ONLY, caught_by=_FINISH, seen=("RayBytes/ChatMock#114",))
def finish_twice(_: Context, events: Events) -> Events:
    """A second chunk with finish_reason stop follows the first."""
    place = finishing(events)
    events = doubled(events, place)
    for choice in choices(events[(place or 0) + 1 :]):
        choice["finish_reason"] = "stop"
    return events


@fault("chunk-text-after-finish", "events", on=_ON, modes=_ONLY, caught_by=_FINISH)
def text_after_finish(_: Context, events: Events) -> Events:
    """The last piece of the text comes after the finish_reason."""
    return moved(events, last_holding(events, "content"), after_finish(events))


@fault("chunk-arguments-after-finish", "events", on=_ON, modes=_ONLY, caught_by=_FINISH)
def arguments_after_finish(_: Context, events: Events) -> Events:
    """The last piece of a call's arguments comes after the finish_reason."""
    return moved(events, last_holding(events, "tool_calls"), after_finish(events))


@fault("chunk-of-text-lost", "events", on=_ON, modes=_ONLY, caught_by=("format.json-schema", "format.json-object"))
def text_lost(_: Context, events: Events) -> Events:
    """The first piece of the text is lost."""
    lost = next(iter(holding(events, "content")), None)
    return [event for place, event in enumerate(events) if place != lost]


@fault("chunk-role-missing", "events", on=_ON, modes=_ONLY, caught_by=_ROLE, seen=("router-for-me/CLIProxyAPI#530",))
def role_missing(_: Context, events: Events) -> Events:
    """No delta has a role."""
    for choice in choices(events):
        choice["delta"].pop("role", None)
    return events


@fault("chunk-role-last", "events", on=_ON, modes=_ONLY, caught_by=_ROLE)
def role_last(_: Context, events: Events) -> Events:
    """The role comes with the finish_reason instead of the first delta."""
    found = [choice for choice in choices(events) if choice["delta"].pop("role", None) or choice["finish_reason"]]
    found[-1]["delta"]["role"] = "assistant"
    return events


@fault("chunk-role-of-user", "events", on=_ON, modes=_ONLY, caught_by=(*_ROLE, "body.role-assistant"))
def role_of_user(_: Context, events: Events) -> Events:
    """The first delta has the role of the last message of the request."""
    for choice in choices(events):
        if "role" in choice["delta"]:
            choice["delta"]["role"] = "user"
    return events


@fault("chunk-none-before-done", "events", on=_ON, modes=_ONLY, caught_by=_FINISH)
def none_before_done(_: Context, events: Events) -> Events:
    """The stream is [DONE] and nothing else."""
    return events[-1:]


@fault("chunk-role-changes", "events", on=_ON, modes=_ONLY, caught_by=_ROLE)
def role_changes(_: Context, events: Events) -> Events:
    """The finishing delta has another role than the first."""
    found = [choice for choice in choices(events) if choice["finish_reason"]]
    found[0]["delta"]["role"] = "tool"
    return events


@fault("chunk-reasoning-last", "events", on=_ON, modes=_ONLY, caught_by=_REASONING)
def reasoning_last(_: Context, events: Events) -> Events:
    """All reasoning comes after the content."""
    thoughts = holding(events, "reasoning_content")
    rest = [event for place, event in enumerate(events[1:], start=1) if place not in thoughts]
    end = finishing(rest) or 0
    return [events[0], *rest[:end], *(events[place] for place in thoughts), *rest[end:]]


@fault("chunk-reasoning-overlaps", "events", on=_ON, modes=_ONLY, caught_by=_REASONING)
def reasoning_overlaps(_: Context, events: Events) -> Events:
    """The last piece of the reasoning comes after the first piece of the content."""
    content = holding(events, "content")
    thoughts = holding(events, "reasoning_content")
    return moved(events, thoughts[-1], content[0] + 1) if content and thoughts else events


@fault("chunk-usage-missing", "events", on=_ON, modes=_ONLY, caught_by=_USAGE)
def usage_missing(_: Context, events: Events) -> Events:
    """No chunk reports usage."""
    for event in events:
        data(event).pop("usage", None)
    return events


@fault("chunk-usage-in-each", "events", on=_ON, modes=_ONLY, caught_by=_USAGE)
def usage_in_each(_: Context, events: Events) -> Events:
    """Every chunk reports the usage of the whole answer."""
    usage = next((data(event)["usage"] for event in events if "usage" in data(event)), None)
    for event in events[:-1]:
        data(event)["usage"] = usage
    return events
