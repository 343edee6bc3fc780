"""The parts of an answer that rules look at one by one, whatever state they are in.

Everything here yields what is there and of the right shape, and leaves out the rest: that a part is missing, or is of
the wrong type, is for the rules about schemas and required fields to say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from conformance.protocols.view import Answer, Call
from conformance.rules.registry import CHAT, MESSAGES
from conformance.values import Protocol

EARLIEST = datetime(2001, 9, 9, tzinfo=UTC)  # a second count of ten digits; zero means that a recorder kept no time
SHOWN = 200  # characters of a value from the wire that a finding quotes
Part = tuple[str, dict[str, Any]]  # a JSON pointer, and the object that stands there


def shown(value: object) -> Any:
    """A value from the wire as a finding may quote it: bounded, and JSON."""
    match value:
        case str():
            found: Any = value[:SHOWN]
        case None | bool():
            found = value
        case int():
            found = value if value.bit_length() < 64 else f"an integer of {value.bit_length()} bits"
        case float():
            found = value if isfinite(value) else str(value)
        case dict():
            found = f"an object of {len(value)}"
        case list():
            found = f"an array of {len(value)}"
        case _:
            found = "absent"
    return found


def objects(value: object, pointer: str) -> Iterator[Part]:
    """The objects of an array, with their pointers."""
    if isinstance(value, list):
        yield from ((f"{pointer}/{place}", item) for place, item in enumerate(value) if isinstance(item, dict))


def choices(answer: Answer) -> Iterator[Part]:
    """The choices of a chat answer."""
    yield from objects((answer.body or {}).get("choices"), "/choices")


def choice_count(answer: Answer) -> int:
    """How many choices an answer has, where its request asked for several with the format's n; else 1."""
    asked = answer.asked.body.get("n")
    return max(sum(1 for _ in choices(answer)), 1) if isinstance(asked, int) and asked > 1 else 1


def messages(answer: Answer) -> Iterator[Part]:
    """The messages of a chat answer's choices."""
    for pointer, choice in choices(answer):
        message = choice.get("message")
        if isinstance(message, dict):
            yield f"{pointer}/message", message


def blocks(answer: Answer) -> Iterator[Part]:
    """The content blocks of a messages answer."""
    yield from objects((answer.body or {}).get("content"), "/content")


def items(answer: Answer, kind: str | None = None) -> Iterator[Part]:
    """The output items of a Responses answer, all or those of one type."""
    for pointer, item in objects((answer.body or {}).get("output"), "/output"):
        if kind is None or item.get("type") == kind:
            yield pointer, item


def content_parts(answer: Answer, kind: str) -> Iterator[Part]:
    """The parts of one type in the message items of a Responses answer."""
    for pointer, item in items(answer, "message"):
        for place, part in objects(item.get("content"), f"{pointer}/content"):
            if part.get("type") == kind:
                yield place, part


def chunks(answer: Answer) -> Iterator[tuple[int, dict[str, Any]]]:
    """The data objects of a stream that are no error, with the number of their event."""
    if answer.streamed:
        for event, payload in zip(answer.events, answer.payloads, strict=False):
            if isinstance(payload, dict) and not payload.get("error") and payload.get("type") != "error":
                yield event.number, payload


def usage_reports(answer: Answer) -> Iterator[Part]:
    """Every usage object that an answer carries, in the order in which a client sees them.

    In a stream that is one for each chunk or event which has one, under the name "event N"; else the one of the body.
    """
    if not answer.streamed:
        usage = (answer.body or {}).get("usage")
        if isinstance(usage, dict):
            yield "/usage", usage
        return
    for number, payload in chunks(answer):
        holder: object = payload
        if answer.protocol is Protocol.RESPONSES:
            holder = payload.get("response")
        elif answer.protocol is Protocol.MESSAGES and payload.get("type") == "message_start":
            holder = payload.get("message")
        usage = holder.get("usage") if isinstance(holder, dict) else None
        if isinstance(usage, dict):
            yield f"event {number}", usage


def is_count(value: object) -> bool:
    """Whether a value is an integer of 0 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def count(usage: dict[str, Any], *path: str) -> int | None:
    """The integer of 0 or more at a path of a usage object; None where there is none."""
    value: Any = usage
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if is_count(value) else None


def refuses(answer: Answer) -> bool:
    """Whether an answer says in its own field or part that the model declined."""
    if answer.protocol is CHAT:
        return any(declines(message) for _, message in messages(answer))
    return answer.protocol is not MESSAGES and any(content_parts(answer, "refusal"))


SERVER_CALLS = ("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call")


def client_runs(answer: Answer) -> bool:
    """Whether an answer asks the client to run something: a function, or on Responses another tool of its own."""
    others = (call.type for call in answer.calls if answer.protocol is Protocol.RESPONSES)
    return bool(answer.client_calls) or any(kind not in SERVER_CALLS for kind in others)


def declines(message: dict[str, Any]) -> bool:
    """Whether a chat message carries a refusal, which is no normal end."""
    refusal = message.get("refusal")
    return isinstance(refusal, str) and bool(refusal)


def cut_search(answer: Answer) -> Call | None:
    """The search at the very end of an answer that was cut off, which was asked for and never made."""
    last = answer.calls[-1] if answer.calls and not answer.normal else None
    if last is None or not last.server or any(result.use_id == last.id for result in answer.results):
        return None
    return last


def sent_at(answer: Answer) -> datetime | None:
    """When the request was sent, in UTC; None where the evidence does not say, or its clock was never set."""
    try:
        moment = datetime.fromisoformat(answer.exchange.started or "")
        utc = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return utc if utc > EARLIEST else None


def seconds_between(first: Answer, second: Answer) -> float | None:
    """The seconds from one request to another; None where the evidence does not say."""
    one, two = sent_at(first), sent_at(second)
    return None if one is None or two is None else (two - one).total_seconds()


def written(value: object) -> str:
    """A JSON value as the shortest JSON text; what cannot be written (nested too deep) counts as nothing."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        return ""
