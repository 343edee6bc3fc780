"""Faults in the events of a messages stream: names, order, the start, usage at both ends."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

from conformance.reference.encoding.frame import Event
from conformance.reference.faults.edits import (
    Events,
    data,
    doubled,
    first,
    inserted,
    kind,
    last,
    moved,
    of,
    without,
    without_first,
)
from conformance.reference.faults.registry import MESSAGES, STREAM, fault
from conformance.reference.hooks import Context

_ON = (MESSAGES,)
_ONLY = (STREAM,)
_NAMES = ("stream.messages.event-names",)
_ORDER = ("stream.messages.order",)
_START = ("stream.messages.start-empty",)
_USAGE = ("stream.messages.usage",)


@fault(
    "message-events-unnamed",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=_NAMES,
    seen=("earendil-works/pi#4381", "earendil-works/pi#1984"),
)
def unnamed(_: Context, events: Events) -> Events:
    """The events have no names, as on chat."""
    return [replace(event, name=None) for event in events]


@fault("message-stop-unnamed", "events", on=_ON, modes=_ONLY, caught_by=_NAMES)
def stop_unnamed(_: Context, events: Events) -> Events:
    """Only message_stop has no name."""
    return [replace(event, name=None) if kind(event) == "message_stop" else event for event in events]


@fault("message-events-named-alike", "events", on=_ON, modes=_ONLY, caught_by=_NAMES)
def named_alike(_: Context, events: Events) -> Events:
    """Every event is named message."""
    return [replace(event, name="message") for event in events]


@fault("message-delta-named-otherwise", "events", on=_ON, modes=_ONLY, caught_by=_NAMES)
def named_otherwise(_: Context, events: Events) -> Events:
    """The event with the stop reason is named message_stop."""
    return [replace(event, name="message_stop") if kind(event) == "message_delta" else event for event in events]


@fault("message-event-type-missing", "events", on=_ON, modes=_ONLY, caught_by=_NAMES)
def type_missing(_: Context, events: Events) -> Events:
    """The type of an event stands in its name only, not in its data."""
    for event in events:
        data(event).pop("type", None)
    return events


@fault(
    "message-start-missing", "events", on=_ON, modes=_ONLY, caught_by=_ORDER, seen=("router-for-me/CLIProxyAPI#561",)
)
def start_missing(_: Context, events: Events) -> Events:
    """The stream has no message_start."""
    return without_first(events, "message_start")


@fault(
    "message-start-twice",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=_ORDER,
    seen=("BerriAI/litellm#33859", "LuthienResearch/luthien-proxy#59"),
)
def start_twice(_: Context, events: Events) -> Events:
    """The event message_start is sent twice."""
    return doubled(events, 0)


@fault(
    "message-start-late",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=_ORDER,
    seen=("router-for-me/CLIProxyAPI#530", "heyhuynhgiabuu/proxypal#20"),
)
def start_late(_: Context, events: Events) -> Events:
    """The first block starts before message_start."""
    return moved(events, 0, (first(events, "content_block_start") or 0) + 1)


@fault("message-blocks-overlap", "events", on=_ON, modes=_ONLY, caught_by=_ORDER, seen=("invergent-ai/surogate#113",))
def blocks_overlap(_: Context, events: Events) -> Events:
    """A block stops only after the next one has started."""
    starts = [place for place, event in enumerate(events) if kind(event) == "content_block_start"]
    return moved(events, starts[1] - 1, starts[1] + 1) if len(starts) > 1 else events


@fault("message-block-unstopped", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def unstopped(_: Context, events: Events) -> Events:
    """The last block never stops."""
    place = last(events, "content_block_stop")
    return [event for number, event in enumerate(events) if number != place]


@fault("message-delta-early", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def delta_early(_: Context, events: Events) -> Events:
    """The stop reason comes before the last block stops."""
    return moved(events, last(events, "message_delta"), last(events, "content_block_stop"))


@fault("message-delta-missing", "events", on=_ON, modes=_ONLY, caught_by=(*_ORDER, "finish.not-null"))
def delta_missing(_: Context, events: Events) -> Events:
    """The stream has no message_delta, and so no stop reason."""
    return without(events, lambda event: kind(event) == "message_delta")


@fault("message-stop-twice", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def stop_twice(_: Context, events: Events) -> Events:
    """The event message_stop is sent twice."""
    return doubled(events, len(events) - 1)


@fault("message-ping-after-stop", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def ping_after_stop(_: Context, events: Events) -> Events:
    """A ping follows message_stop."""
    return [*events, Event(name="ping", data={"type": "ping"})]


@fault("message-event-unknown", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def unknown(_: Context, events: Events) -> Events:
    """An event of a type that the format does not have comes before the end."""
    return inserted(events, len(events) - 1, Event(name="message_usage", data={"type": "message_usage"}))


@fault("message-block-after-delta", "events", on=_ON, modes=_ONLY, caught_by=_ORDER)
def block_after_delta(_: Context, events: Events) -> Events:
    """A piece of the text comes after the stop reason."""
    return moved(events, last(events, "content_block_delta"), len(events) - 1)


@fault("message-start-with-content", "events", on=_ON, modes=_ONLY, caught_by=_START)
def start_with_content(_: Context, events: Events) -> Events:
    """message_start already holds an empty text block."""
    for each in of(events, "message_start"):
        each["message"]["content"] = [{"type": "text", "text": ""}]
    return events


@fault(
    "message-start-without-content",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=(*_START, "body.required-fields"),
    seen=("farion1231/cc-switch#7396", "SaladDay/cc-switch-cli#320"),
)
def start_without_content(_: Context, events: Events) -> Events:
    """The message of message_start has no content."""
    for each in of(events, "message_start"):
        del each["message"]["content"]
    return events


@fault("message-start-with-stop-reason", "events", on=_ON, modes=_ONLY, caught_by=_START)
def start_with_stop_reason(_: Context, events: Events) -> Events:
    """message_start already has the stop reason."""
    for each in of(events, "message_start"):
        each["message"]["stop_reason"] = "end_turn"
    return events


@fault("message-start-unwrapped", "events", on=_ON, modes=_ONLY, caught_by=_START)
def start_unwrapped(_: Context, events: Events) -> Events:
    """The fields of the message stand in message_start itself."""
    for each in of(events, "message_start"):
        each.update(each.pop("message"), type="message_start")
    return events


@fault("message-input-counts-missing", "events", on=_ON, modes=_ONLY, caught_by=_USAGE)
def input_counts_missing(_: Context, events: Events) -> Events:
    """Neither end of the stream says how many tokens came in."""
    for each in of(events, "message_start"):
        each["message"]["usage"] = {"input_tokens": 0, "output_tokens": 0}
    for each in of(events, "message_delta"):
        each["usage"] = {"output_tokens": each["usage"]["output_tokens"]}
    return events


@fault("message-output-falls", "events", on=_ON, modes=_ONLY, caught_by=_USAGE)
def output_falls(_: Context, events: Events) -> Events:
    """message_start counts one output token more than the end."""
    end = next(of(events, "message_delta"))["usage"]
    for each in of(events, "message_start"):
        each["message"]["usage"]["output_tokens"] = end["output_tokens"] + 1
    return events


@fault("message-output-missing", "events", on=_ON, modes=_ONLY, caught_by=(*_USAGE, "usage.present"))
def output_missing(_: Context, events: Events) -> Events:
    """message_delta has no output count."""
    for each in of(events, "message_delta"):
        del each["usage"]["output_tokens"]
    return events


@fault("message-input-counted-twice", "events", on=_ON, modes=_ONLY, caught_by=(*_USAGE, "usage.stream-equals-json"))
def input_counted_twice(_: Context, events: Events) -> Events:
    """message_delta adds the input to what message_start has counted."""
    for each in of(events, "message_delta"):
        each["usage"]["input_tokens"] *= 2
    return events


@fault("message-input-off-by-one-at-end", "events", on=_ON, modes=_ONLY, caught_by=_USAGE)
def input_off_by_one(_: Context, events: Events) -> Events:
    """message_delta counts one input token more than message_start."""
    for each in of(events, "message_delta"):
        each["usage"] = deepcopy(each["usage"]) | {"input_tokens": each["usage"]["input_tokens"] + 1}
    return events
