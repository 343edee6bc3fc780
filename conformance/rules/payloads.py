"""What event data and bodies hold, read without trust: shapes first, contents after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from conformance.protocols.view import MISSING, Answer
from conformance.sse import Event

DONE = "[DONE]"
_SHOWN = 120  # characters of a string from the wire that a finding quotes


def members(value: object) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def entries(value: object) -> list[Any]:
    """The value where it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def words(value: object) -> str:
    """The value where it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def is_number(value: object) -> TypeGuard[int]:
    """Whether the value is a JSON integer; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_filled(value: object) -> TypeGuard[str]:
    """Whether the value is a string that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def brief(value: object) -> Any:
    """The value as a finding may show it: bounded, and JSON; what is MISSING is called absent."""
    if value is MISSING:
        return "absent"
    if isinstance(value, str):
        return value if len(value) <= _SHOWN else f"{value[:_SHOWN]}… ({len(value)} characters)"
    if isinstance(value, (dict, list)):
        kind = "an object" if isinstance(value, dict) else "an array"
        return f"{kind} of {len(value)}" if value else value
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    return value if value is None or isinstance(value, (bool, int, float)) else repr(value)[:_SHOWN]


def event_pointer(number: int) -> str:
    """How a finding points at an event of a stream."""
    return f"event {number}"


def sent(answer: Answer) -> Iterator[tuple[Event, object]]:
    """Each event with the JSON value of its data, MISSING where it has none."""
    return zip(answer.events, answer.payloads, strict=True)


def objects(answer: Answer) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number and the data of each event whose data is a JSON object."""
    return ((event.number, data) for event, data in sent(answer) if isinstance(data, dict))


def is_done(event: Event) -> bool:
    """Whether an event is the end mark of the Chat Completions format."""
    return (event.data or "").strip() == DONE


def streamed(answer: Answer) -> bool:
    """An event stream with status 200."""
    return answer.streamed and answer.status == 200 and answer.stream is not None


def unfailed(answer: Answer) -> bool:
    """An event stream with status 200 that carries no error."""
    return streamed(answer) and answer.error is None
