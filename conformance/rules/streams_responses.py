"""Events of a Responses stream: numbers, order, the response they wrap, its status."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.protocols.view import MISSING, Answer
from conformance.rules.payloads import (
    brief,
    event_pointer,
    is_filled,
    is_number,
    members,
    objects,
    sent,
    streamed,
    words,
)
from conformance.rules.registry import RESPONSES, Findings, cite, rule
from conformance.rules.streams import FORMAT, TERMINAL
from conformance.values import Basis, Finding, Level, Over

STATUS = cite("responses", "Response status. incomplete usually means the max_output_tokens limit was reached.")
_ENDS = TERMINAL[RESPONSES]
WITHIN_ITEM = (  # beginnings of the types of events that tell of one item
    "response.content_part.",
    "response.output_text.",
    "response.refusal.",
    "response.reasoning_",
    "response.function_call_arguments.",
)


def steps(answer: Answer) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Number, type and data of each event; the event's name stands in where the data has no type."""
    for event, data in sent(answer):
        if isinstance(data, dict):
            kind = data.get("type")
            yield event.number, kind if isinstance(kind, str) else words(event.name), data


def terminal(answer: Answer) -> tuple[int, str, dict[str, Any]] | None:
    """The first terminal event."""
    return next((step for step in steps(answer) if step[1] in _ENDS), None)


def has_events(answer: Answer) -> bool:
    """An event with a JSON object as its data."""
    return streamed(answer) and next(objects(answer), None) is not None


@rule(
    "stream.responses.sequence",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[RESPONSES],
    protocols=(RESPONSES,),
    when=has_events,
)
def sequence_numbers_rise(answer: Answer) -> Findings:
    """sequence_number is on every event and rises by one, from 0 or 1."""
    before: int | None = None
    told: set[str] = set()
    for number, data in objects(answer):
        value = data.get("sequence_number", MISSING)
        fault: Finding | None = None
        if not is_number(value):
            fault = Finding(message="an event without an integer sequence_number", expected="an integer")
        elif before is None:
            if value not in (0, 1):
                fault = Finding(message="the first sequence_number is neither 0 nor 1", expected=0, level=Level.SHOULD)
        elif value <= before:
            fault = Finding(message="sequence_number does not rise", expected=f"above {before}")
        elif value > before + 1:
            fault = Finding(message="a gap in the sequence numbers", expected=before + 1, level=Level.SHOULD)
        if fault is not None and fault.message not in told:
            told.add(fault.message)
            yield Finding(
                message=fault.message,
                pointer=event_pointer(number),
                expected=fault.expected,
                actual=brief(value),
                level=fault.level,
            )
        if is_number(value):
            before = value


def _ordered(answer: Answer) -> bool:
    """An event stream of which every event can be read."""
    return has_events(answer) and answer.stream is not None and not answer.stream.dropped


@rule(
    "stream.responses.order",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[RESPONSES],
    protocols=(RESPONSES,),
    when=_ordered,
)
def events_come_in_order(answer: Answer) -> Findings:
    """response.created is first, one terminal event last; every item is added before its parts and done after them."""
    order = _Order()
    told: set[str] = set()
    for number, kind, data in steps(answer):
        if answer.error is not None and number == answer.error.event:
            return
        for fault in order.take(kind, data):
            if fault.message not in told:
                told.add(fault.message)
                yield Finding(
                    message=fault.message, pointer=event_pointer(number), actual=brief(kind), level=fault.level
                )
    if answer.error is None and answer.broken is None and order.ended is None:
        yield Finding(
            message="the stream has no terminal event",
            pointer=event_pointer(max(len(answer.events) - 1, 0)),
            expected=" or ".join(sorted(_ENDS)),
        )
    yield from _names(answer)


def _names(answer: Answer) -> Iterator[Finding]:
    """Clients go by the type of an event's data, or by the event's name: so both are there, or the type, and agree."""
    untyped = next(((number, data) for number, data in objects(answer) if not is_filled(data.get("type"))), None)
    if untyped is not None:
        yield Finding(
            message="the data of an event has no type",
            pointer=event_pointer(untyped[0]),
            expected="a string that is not empty",
            actual=brief(untyped[1].get("type", MISSING)),
        )
    for event, data in sent(answer):
        kind = data.get("type") if isinstance(data, dict) else None
        if event.name and isinstance(kind, str) and event.name != kind:
            yield Finding(
                message="the name of an event is not the type of its data",
                pointer=event_pointer(event.number),
                expected=brief(kind),
                actual=brief(event.name),
                level=Level.SHOULD,
            )
            return


class _Order:
    """How far a Responses stream has come."""

    def __init__(self) -> None:
        self.begun = False
        self.ended: str | None = None
        self.open: set[int] = set()  # output indexes that were added and are not done
        self.done: set[int] = set()

    def take(self, kind: str, data: dict[str, Any]) -> Iterator[Finding]:
        """What is wrong with this event here."""
        if self.ended is not None:
            again = kind in _ENDS
            yield Finding(message="a second terminal event" if again else "an event after the terminal event")
            return
        if not self.begun:
            self.begun = True
            if kind != "response.created":
                yield Finding(message="the first event is not response.created")
        elif kind == "response.created":
            yield Finding(message="a second response.created")
        index = data.get("output_index")
        if kind in _ENDS:
            self.ended = kind
            if self.open and kind != "response.failed":
                level = None if kind == "response.completed" else Level.SHOULD
                yield Finding(message="the response ends before an output item is done", level=level)
        elif is_number(index):
            yield from self._item(kind, index)

    def _item(self, kind: str, index: int) -> Iterator[Finding]:
        if kind == "response.output_item.added":
            if index in self.open:
                yield Finding(message="an output item is added where one is not done yet")
            self.open.add(index)
            self.done.discard(index)
        elif kind == "response.output_item.done":
            if index not in self.open:
                yield Finding(message="an output item is done that was not added, or twice")
            self.open.discard(index)
            self.done.add(index)
        elif kind.startswith(WITHIN_ITEM) and index not in self.open:
            late = index in self.done
            yield Finding(
                message="a part of an output item after it is done"
                if late
                else "a part of an output item before it is added"
            )


def _wraps(answer: Answer) -> bool:
    """A response.created or a terminal event."""
    return streamed(answer) and any(kind == "response.created" or kind in _ENDS for _, kind, _ in steps(answer))


@rule(
    "stream.responses.wrapped",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[RESPONSES],
    protocols=(RESPONSES,),
    when=_wraps,
)
def response_is_wrapped(answer: Answer) -> Findings:
    """response.created and the terminal event carry the response object under response, and it is the same one."""
    first: object = None
    for number, kind, data in steps(answer):
        if kind != "response.created" and kind not in _ENDS:
            continue
        response = data.get("response", MISSING)
        if not isinstance(response, dict) or not response:
            yield Finding(
                message=f"{kind} does not carry the response",
                pointer=event_pointer(number),
                expected="an object under response",
                actual=brief(response),
            )
            continue
        name = response.get("id")
        if is_filled(first) and is_filled(name) and first != name:
            yield Finding(
                message="the response of the terminal event has another id than that of response.created",
                pointer=event_pointer(number),
                expected=brief(first),
                actual=brief(name),
            )
        first = first or name


def _ends(answer: Answer) -> bool:
    """A terminal event."""
    return streamed(answer) and terminal(answer) is not None


@rule(
    "stream.responses.status",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=STATUS,
    protocols=(RESPONSES,),
    when=_ends,
)
def status_fits_the_terminal_event(answer: Answer) -> Findings:
    """The name of the terminal event and the status of the response that it carries agree."""
    found = terminal(answer)
    if found is None:
        return
    number, kind, data = found
    status = members(data.get("response")).get("status", MISSING)
    expected = kind.removeprefix("response.")
    if status != expected:
        yield Finding(
            message=f"{kind} carries a response of another status",
            pointer=event_pointer(number),
            expected=expected,
            actual=brief(status),
        )
