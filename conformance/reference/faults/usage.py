"""Faults in usage: counts that are missing, of a wrong type, or in another place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.models import K31
from conformance.reference.encoding.frame import Event
from conformance.reference.faults.registry import BOTH, CHAT, EVERY, JSON, MESSAGES, RESPONSES, STREAM, fault
from conformance.reference.hooks import Context
from conformance.values import Protocol

_COUNTS, _PRESENT, _KEYS = "usage.non-negative-integers", "usage.present", "usage.detail-keys"
INPUT = {CHAT: "prompt_tokens", MESSAGES: "input_tokens", RESPONSES: "input_tokens"}
OUTPUT = {CHAT: "completion_tokens", MESSAGES: "output_tokens", RESPONSES: "output_tokens"}
_CACHED = {CHAT: "prompt_tokens_details", RESPONSES: "input_tokens_details"}
_REASONED = {
    CHAT: ("completion_tokens_details", "reasoning_tokens"),
    MESSAGES: ("output_tokens_details", "thinking_tokens"),
    RESPONSES: ("output_tokens_details", "reasoning_tokens"),
}
Counts = Callable[[Context, dict[str, Any]], dict[str, Any]]


@fault("usage-null", "ending", on=(RESPONSES,), caught_by=(_PRESENT, "body.schema"))
def usage_null(_: Context, response: dict[str, Any]) -> dict[str, Any]:
    """The usage of a finished response is null."""
    return response | {"usage": None}


@fault("usage-null-in-body", "body", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=(_PRESENT, "body.schema"))
def usage_null_in_body(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The usage of a JSON answer is null."""
    return answer | {"usage": None}


@fault("usage-empty", "body", modes=(JSON,), caught_by=(_PRESENT,))
def usage_empty(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The usage is an empty object."""
    return answer | {"usage": {}}


def _renamed(names: dict[Protocol, str], new: dict[Protocol, str], sentence: str) -> Counts:
    def hook(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
        if names[context.protocol] in usage:
            usage[new[context.protocol]] = usage.pop(names[context.protocol])
        return usage

    hook.__doc__ = sentence
    return hook


_NAMES = (
    ("usage-input-of-other-surface", INPUT, "Input tokens are counted under another surface's name."),
    ("usage-output-of-other-surface", OUTPUT, "Output tokens are counted under another surface's name."),
)
for _name, _old, _sentence in _NAMES:
    _swapped = {CHAT: _old[MESSAGES], MESSAGES: _old[CHAT], RESPONSES: _old[CHAT]}
    fault(_name, "usage", on=(CHAT, RESPONSES), caught_by=(_PRESENT,))(_renamed(_old, _swapped, _sentence))
    fault(f"{_name}-in-messages", "usage", on=(MESSAGES,), modes=(JSON,), caught_by=(_PRESENT,))(
        _renamed(_old, _swapped, _sentence)
    )


def _changed(name: dict[Protocol, str], change: Callable[[int], object], sentence: str) -> Counts:
    def hook(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
        return usage | {name[context.protocol]: change(usage[name[context.protocol]])}

    hook.__doc__ = sentence
    return hook


_TYPES: tuple[tuple[str, dict[Protocol, str], Callable[[int], object], tuple[str, ...], str], ...] = (
    ("usage-input-float", INPUT, lambda count: count + 0.5, ("body.schema",), "The input count has a fraction."),
    ("usage-output-float", OUTPUT, lambda count: count + 0.25, ("body.schema",), "The output count has a fraction."),
    ("usage-input-string", INPUT, str, ("body.schema",), "The input count is a string of digits."),
    ("usage-output-string", OUTPUT, str, ("body.schema",), "The output count is a string of digits."),
    ("usage-output-null", OUTPUT, lambda _: None, ("body.schema",), "The output count is null."),
    ("usage-input-negative", INPUT, lambda _: -1, (), "The input count is -1, which stands for unknown."),
    ("usage-output-negative", OUTPUT, lambda count: -count - 1, (), "The output count is negative."),
    ("usage-output-true", OUTPUT, lambda _: True, ("body.schema",), "The output count is true."),
)
for _what, _field, _change, _more, _sentence in _TYPES:
    fault(_what, "usage", caught_by=(_COUNTS, *_more))(_changed(_field, _change, _sentence))


@fault("usage-reasoning-string", "usage", caught_by=(_COUNTS, "body.schema"))
def reasoning_string(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """The reasoning count alone is a string of digits."""
    outer, name = _REASONED[context.protocol]
    if outer in usage:
        usage[outer][name] = str(usage[outer][name])
    return usage


@fault("usage-cached-null", "usage", on=(CHAT, RESPONSES), caught_by=(_COUNTS, "body.schema"))
def cached_null(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """The count of cached tokens is null where nothing was cached."""
    usage[_CACHED[context.protocol]]["cached_tokens"] = usage[_CACHED[context.protocol]]["cached_tokens"] or None
    return usage


@fault("usage-cache-read-null", "usage", on=(MESSAGES,), caught_by=(_COUNTS, "body.schema"))
def cache_read_null(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """cache_read_input_tokens is null where nothing was read."""
    return usage | {"cache_read_input_tokens": usage["cache_read_input_tokens"] or None}


@fault(
    "usage-negative-input-after-cache",
    "usage",
    on=(MESSAGES,),
    models=K31,
    caught_by=(_COUNTS,),
    seen=("looplj/axonhub#1276",),
)
def negative_input_after_cache(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Cache reads are taken off input_tokens twice, so that a warm answer has a negative count."""
    return usage | {"input_tokens": usage["input_tokens"] - usage["cache_read_input_tokens"]}


@fault("usage-total-fraction", "usage", on=(CHAT, RESPONSES), caught_by=(_COUNTS, "body.schema"))
def total_fraction(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """total_tokens has a fraction."""
    return usage | {"total_tokens": usage["total_tokens"] + 0.5}


@fault("usage-float-at-start-only", "events", on=(MESSAGES,), modes=(STREAM,), caught_by=(_COUNTS,))
def float_at_start_only(_: Context, events: list[Event]) -> list[Event]:
    """Only message_start has a count with a fraction; message_delta sets it right."""
    first = events[0].data
    if isinstance(first, dict):
        first["message"]["usage"]["input_tokens"] += 0.5
    return events


# id, surfaces, modes, details object, count that it lacks, sentence
_LACKS: tuple[tuple[str, tuple[Protocol, ...], tuple[str, ...], str, str], ...] = (
    ("usage-no-cached-tokens", (CHAT,), BOTH, "prompt_tokens_details", "cached_tokens"),
    ("usage-no-cache-write-tokens", (CHAT,), BOTH, "prompt_tokens_details", "cache_write_tokens"),
    ("usage-no-reasoning-tokens", (CHAT,), BOTH, "completion_tokens_details", "reasoning_tokens"),
    ("usage-no-thinking-tokens", (MESSAGES,), BOTH, "output_tokens_details", "thinking_tokens"),
    ("usage-no-5m-writes", (MESSAGES,), BOTH, "cache_creation", "ephemeral_5m_input_tokens"),
    ("usage-no-1h-writes", (MESSAGES,), BOTH, "cache_creation", "ephemeral_1h_input_tokens"),
    ("usage-no-search-requests", (MESSAGES,), BOTH, "server_tool_use", "web_search_requests"),
    ("usage-no-cached-tokens-in-response", (RESPONSES,), BOTH, "input_tokens_details", "cached_tokens"),
    ("usage-no-reasoning-tokens-in-response", (RESPONSES,), BOTH, "output_tokens_details", "reasoning_tokens"),
)


def _lacking(outer: str, name: str) -> Counts:
    def hook(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
        if outer in usage:
            usage[outer].pop(name)
        return usage

    hook.__doc__ = f"{outer} has no {name}."
    return hook


for _name, _on, _modes, _outer, _lacked in _LACKS:
    _where = ("router-for-me/CLIProxyAPI#356",) if _name == "usage-no-reasoning-tokens" else ()
    fault(_name, "usage", on=_on, modes=_modes, caught_by=(_KEYS,), seen=_where)(_lacking(_outer, _lacked))


@fault("usage-zero-details-left-out", "usage", on=EVERY, caught_by=(_KEYS,))
def zero_details_left_out(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """A count within a details object is left out where it is 0."""
    return {
        name: {key: count for key, count in value.items() if count} if isinstance(value, dict) else value
        for name, value in usage.items()
    }


def _last_usage(events: list[Event]) -> dict[str, Any] | None:
    """The usage in the last chunk; None in a stream that broke off."""
    last = next(event.data for event in reversed(events) if isinstance(event.data, dict))
    return last.get("usage")


def _with_usage(event: Event, usage: dict[str, Any]) -> Event:
    return replace(event, data=event.data | {"usage": usage}) if isinstance(event.data, dict) else event


@fault(
    "usage-grows-in-chunks",
    "events",
    on=(CHAT,),
    modes=(STREAM,),
    caught_by=("usage.reported-once",),
    seen=("InsForge/InsForge#2015",),
)
def usage_grows_in_chunks(_: Context, events: list[Event]) -> list[Event]:
    """Each chunk reports the usage so far, the output growing by one token a chunk."""
    total = _last_usage(events)
    if total is None:
        return events
    found = []
    for number, event in enumerate(events):
        ended = isinstance(event.data, str) or "usage" in event.data
        generated = min(number, total["completion_tokens"])
        part = {"completion_tokens": generated, "total_tokens": total["prompt_tokens"] + generated}
        details = {"completion_tokens_details": {"reasoning_tokens": 0}}
        found.append(event if ended else _with_usage(event, total | part | details))
    return found


@fault("usage-zero-in-first-chunk", "events", on=(CHAT,), modes=(STREAM,), caught_by=("usage.reported-once",))
def usage_zero_in_first_chunk(_: Context, events: list[Event]) -> list[Event]:
    """The first chunk reports a usage of zeros, and the last one the real usage."""
    zeros = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    return [_with_usage(events[0], zeros), *events[1:]]


@fault("usage-twice-off-by-one", "events", on=(CHAT,), modes=(STREAM,), caught_by=("usage.reported-once",))
def usage_twice_off_by_one(_: Context, events: list[Event]) -> list[Event]:
    """The chunk before the last reports one output token less than the last."""
    places = [place for place, event in enumerate(events) if isinstance(event.data, dict)]
    total = _last_usage(events)
    if total is not None:
        less = {"completion_tokens": total["completion_tokens"] - 1, "total_tokens": total["total_tokens"] - 1}
        events[places[-2]] = _with_usage(events[places[-2]], total | less)
    return events
