"""Events of a Messages stream: names, order, the start, usage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.protocols.view import MISSING, Answer
from conformance.rules.payloads import (
    brief,
    event_pointer,
    is_done,
    is_number,
    members,
    objects,
    sent,
    streamed,
    unfailed,
)
from conformance.rules.registry import MESSAGES, Findings, cite, rule
from conformance.rules.streams import FORMAT
from conformance.values import Basis, Finding, Level, Over

ORDER = cite(
    "messages-k31",
    "The event sequence typically includes message_start, content_block_*, message_delta, and message_stop",
)
_KNOWN = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
    }
)
_INPUTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def steps(answer: Answer) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Number, type and data of each event; the event's name stands in where the data has no type."""
    for event, data in sent(answer):
        if isinstance(data, dict):
            kind = data.get("type")
            yield event.number, kind if isinstance(kind, str) else (event.name or ""), data


def has_events(answer: Answer) -> bool:
    """An event with a JSON object as its data."""
    return streamed(answer) and next(objects(answer), None) is not None


def _ordered(answer: Answer) -> bool:
    """An event stream of which every event can be read."""
    return has_events(answer) and answer.stream is not None and not answer.stream.dropped


@rule(
    "stream.messages.event-names",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=ORDER,
    protocols=(MESSAGES,),
    when=has_events,
)
def events_are_named_by_type(answer: Answer) -> Findings:
    """Every event has a name, and it equals the type of its data."""
    told: set[str] = set()
    for event, data in sent(answer):
        if is_done(event) and data is MISSING:
            continue
        kind = data.get("type", MISSING) if isinstance(data, dict) else MISSING
        if not event.name:
            fault = "an event without a name"
        elif isinstance(data, dict) and event.name != kind:
            fault = "the name of an event is not the type of its data"
        else:
            continue
        if fault not in told:
            told.add(fault)
            yield Finding(
                message=fault, pointer=event_pointer(event.number), expected=brief(kind), actual=brief(event.name)
            )


@rule(
    "stream.messages.order",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=ORDER,
    protocols=(MESSAGES,),
    when=_ordered,
)
def events_come_in_order(answer: Answer) -> Findings:
    """message_start, then blocks one at a time, then message_delta, and message_stop once and last."""
    order = _Order()
    told: set[str] = set()
    for number, kind, _ in steps(answer):
        if kind == "error" and answer.error is not None:
            return
        for message, level in order.take(kind):
            if message not in told:
                told.add(message)
                yield Finding(message=message, pointer=event_pointer(number), actual=brief(kind), level=level)
    if answer.error is None and answer.broken is None:
        end = event_pointer(max(len(answer.events) - 1, 0))
        for message in order.missing():
            yield Finding(message=message, pointer=end)


class _Order:
    """How far a Messages stream has come."""

    def __init__(self) -> None:
        self.started = self.delta = self.stopped = False
        self.open = 0  # blocks that were started and not stopped

    def take(self, kind: str) -> Iterator[tuple[str, Level | None]]:
        """What is wrong with an event of this type here, and the level of it where that is milder."""
        if kind not in _KNOWN:
            yield "an event of a type that the format does not have", Level.SHOULD
            return
        if self.stopped:
            yield "an event after message_stop", Level.SHOULD if kind == "ping" else None
        elif not self.started and kind != "message_start":
            yield "an event before message_start", Level.SHOULD if kind == "ping" else None
        if kind == "message_start":
            if self.started:
                yield "a second message_start", None
            self.started = True
        elif kind.startswith("content_block_"):
            yield from self._block(kind)
        elif kind in ("message_delta", "message_stop"):
            if self.open:
                yield f"{kind} before the last block is closed", None
                self.open = 0
            self.delta = self.delta or kind == "message_delta"
            self.stopped = self.stopped or kind == "message_stop"

    def _block(self, kind: str) -> Iterator[tuple[str, Level | None]]:
        if self.delta and not self.stopped:
            yield "a block event after message_delta", None
        if kind == "content_block_start":
            if self.open:
                yield "a block opens before the one before it is closed", None
            self.open += 1
        elif kind == "content_block_stop" and self.open:
            self.open -= 1

    def missing(self) -> Iterator[str]:
        """What has not come by the end."""
        if not self.started:
            yield "the stream has no message_start"
        if not self.delta:
            yield "the stream has no message_delta"
        if not self.stopped:
            yield "the stream has no message_stop"


def _starts(answer: Answer) -> bool:
    """A message_start."""
    return streamed(answer) and any(kind == "message_start" for _, kind, _ in steps(answer))


@rule(
    "stream.messages.start-empty",
    Level.SHOULD,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[MESSAGES],
    protocols=(MESSAGES,),
    when=_starts,
)
def start_is_empty(answer: Answer) -> Findings:
    """message_start carries a message with an empty content and a null stop_reason."""
    number, data = next((number, data) for number, kind, data in steps(answer) if kind == "message_start")
    pointer, message = event_pointer(number), data.get("message", MISSING)
    if not isinstance(message, dict):
        yield Finding(message="message_start carries no message", pointer=pointer, actual=brief(message))
        return
    if message.get("content") != []:
        yield Finding(
            message="the content of message_start is not an empty array",
            pointer=pointer,
            expected=[],
            actual=brief(message.get("content", MISSING)),
        )
    if message.get("stop_reason") is not None:
        yield Finding(
            message="message_start has a stop_reason",
            pointer=pointer,
            expected=None,
            actual=brief(message["stop_reason"]),
        )


def _whole(answer: Answer) -> bool:
    """A whole stream without an error that has a message_start."""
    return unfailed(answer) and answer.complete and _starts(answer)


@rule(
    "stream.messages.usage",
    Level.SHOULD,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=cite("messages-k31", "#/components/schemas/MessageUsage"),
    protocols=(MESSAGES,),
    when=_whole,
)
def usage_comes_at_both_ends(answer: Answer) -> Findings:
    """message_start has the input counts, message_delta the final output count, no less than that of the start."""
    start: dict[str, Any] = {}
    ends: list[tuple[int, dict[str, Any]]] = []
    first = 0
    for number, kind, data in steps(answer):
        if kind == "message_start" and not start:
            first, start = number, members(members(data.get("message")).get("usage"))
        elif kind == "message_delta":
            ends.append((number, members(data.get("usage"))))
    final = {name: value for _, usage in ends for name, value in usage.items()}
    last = event_pointer(ends[-1][0] if ends else first)
    if not _counted(start) and not _counted(final):
        yield Finding(
            message="neither message_start nor message_delta has input counts",
            pointer=event_pointer(first),
            actual=brief(start.get("input_tokens")),
        )
    yield from _growth(answer, start, final, last)
    output, before = final.get("output_tokens"), start.get("output_tokens")
    if not is_number(output):
        yield Finding(message="no message_delta has the output count", pointer=last, actual=brief(output))
    elif is_number(before) and output < before:
        yield Finding(
            message="the final output count is below that of message_start",
            pointer=last,
            expected=f"{before} or more",
            actual=output,
        )


def _counted(usage: dict[str, Any]) -> bool:
    return any(is_number(usage.get(name)) and usage[name] > 0 for name in _INPUTS)


def _growth(answer: Answer, start: dict[str, Any], final: dict[str, Any], pointer: str) -> Iterator[Finding]:
    """Input counts that message_delta repeats are those of the start; what a search brings in may add to them."""
    if not _counted(start) or any(call.server for call in answer.calls):
        return
    for name in _INPUTS:
        before, after = start.get(name), final.get(name)
        if is_number(before) and is_number(after) and before != after:
            yield Finding(
                message=f"{name} is not the same in message_start and message_delta",
                pointer=pointer,
                expected=before,
                actual=after,
            )
