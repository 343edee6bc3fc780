"""The body of an answer: its schema, its fields, its identity."""

from __future__ import annotations

import re
from datetime import datetime
from email.utils import parsedate_to_datetime

from conformance import specs
from conformance.protocols.view import MISSING, Answer, Kind
from conformance.rules import parts
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, cite, rule
from conformance.values import Basis, Finding, Level

DAY = 86_400  # seconds

# What a rule of its own judges: the spellings of these fields, and whatever stands at the end of an answer.
_ELSEWHERE = re.compile(r"/(object|type|output/\d+/role|content/\d+(/type)?)")
_ENDS = re.compile(r"/(choices/\d+/finish_reason|stop_reason|status)")
_NULLABLE = re.compile(r"/choices/\d+/message/(reasoning_content|tool_calls)")  # null counts as absent


def is_answer(answer: Answer) -> bool:
    """A whole 200 answer."""
    return answer.ok and answer.complete


def is_whole_object(answer: Answer) -> bool:
    """A 200 answer in JSON, or the final response of a Responses stream."""
    return is_answer(answer) and (answer.kind is Kind.JSON or answer.protocol is RESPONSES)


@rule(
    "body.schema",
    Level.MUST,
    Basis.DOCUMENTED,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatCompletionResponse"),
        MESSAGES: cite("messages-k31", "#/components/schemas/MessageResponse"),
        RESPONSES: cite("responses", '"object": "response"'),
    },
    when=lambda answer: is_answer(answer) or _is_no_object(answer),
    applies="a whole 200 answer",
)
def fits_the_schema(answer: Answer) -> Findings:
    """The body, or what the stream adds up to, is valid under the documented response schema."""
    if _is_no_object(answer):
        yield Finding(message="the body is no object", expected="an object", actual=parts.shown(answer.value))
        return
    for breach in specs.body_breaches(answer.protocol, answer.model, answer.body):
        if breach.open or _said_elsewhere(answer, breach) or _uncounted(answer, breach):
            continue
        absent = breach.value is None and breach.keyword == "type" and _NULLABLE.fullmatch(breach.path)
        if absent and answer.streamed:  # a delta may say null for nothing
            continue
        lacking = breach.keyword == "required"  # then the value is the name of what is not there
        yield Finding(
            message=f"{breach.path or 'the body'} {breach.message}",
            pointer=breach.path,
            expected=breach.value if lacking else breach.message,
            actual="absent" if lacking else parts.shown(breach.value),
            level=Level.SHOULD if absent or breach.inferred else None,
        )


def _said_elsewhere(answer: Answer, breach: specs.Breach) -> bool:
    """Whether a rule of its own judges the field, and says so with the level that the documents leave room for.

    A rule on the format's basis does not count where the schema says it itself: the role on messages, and null for a
    reason. In a stream null stands for a reason that never came, which no document speaks of.
    """
    if _ENDS.fullmatch(breach.path):
        return breach.value is not None or (answer.streamed and breach.path != "/status")
    return breach.keyword in ("enum", "oneOf", "const") and _ELSEWHERE.fullmatch(breach.path) is not None


def _is_no_object(answer: Answer) -> bool:
    """Whether a 200 answer is a JSON value that is no object."""
    return answer.status == 200 and answer.value is not MISSING and not isinstance(answer.value, dict)


def _uncounted(answer: Answer, breach: specs.Breach) -> bool:
    """Whether it is the null usage of an answer that failed."""
    return answer.finish == "failed" and breach.path == "/usage" and breach.value is None


@rule(
    "body.required-fields",
    Level.MUST,
    Basis.PROTOCOL,
    source={
        CHAT: cite("chat-k31", '"object": "chat.completion"'),
        MESSAGES: cite("messages-all", '"type": "message", "role": "assistant"'),
        RESPONSES: cite("responses", '"object": "response"'),
    },
    when=is_answer,
)
def example_fields_are_there(answer: Answer) -> Findings:
    """Every field that the documented example answer shows is there."""
    # A stream may leave usage out, but for the final response of a Responses stream; a failure counts nothing.
    uncounted = (answer.streamed and answer.protocol is not RESPONSES) or answer.finish == "failed"
    for breach in specs.body_breaches(answer.protocol, answer.model, answer.body, required=True):
        if breach.keyword != "required" or breach.rule != "body.required-fields":
            continue
        if not (breach.value == "usage" and uncounted):
            yield Finding(
                message=f"the answer has no {breach.value}, which the documented example shows",
                pointer=breach.path,
                expected=breach.value,
                actual="absent",
            )


@rule(
    "body.object-type",
    Level.MUST,
    Basis.DOCUMENTED,
    by_analogy=(CHAT,),
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatCompletionResponse/properties/object"),
        MESSAGES: cite("messages-k31", "#/components/schemas/MessageResponse/properties/type"),
        RESPONSES: cite("responses", 'response "response"'),
    },
    when=lambda answer: answer.ok,
    applies="a 200 answer",
)
def object_is_named(answer: Answer) -> Findings:
    """The type is message, the object response, chat.completion, or chat.completion.chunk in a stream."""
    if answer.protocol is CHAT:
        yield from _chat_objects(answer)
        return
    name, expected = ("type", "message") if answer.protocol is MESSAGES else ("object", "response")
    found = answer.type
    if found == expected or (found is MISSING and not answer.streamed):  # body.required-fields says that it is missing
        return
    yield Finding(message=f"{name} is not {expected}", pointer=f"/{name}", expected=expected, actual=parts.shown(found))


def _chat_objects(answer: Answer) -> Findings:
    expected = "chat.completion.chunk" if answer.streamed else "chat.completion"
    found = (
        [(f"event {number}", chunk.get("object", MISSING)) for number, chunk in parts.chunks(answer)]
        if answer.streamed
        else [("/object", answer.type)]
    )
    for pointer, name in found:
        if name == expected or (name is MISSING and not answer.streamed):
            continue
        yield Finding(
            message=f"object is not {expected}",
            pointer=pointer,
            expected=expected,
            actual=parts.shown(name),
            level=Level.SHOULD if name is MISSING or _respelled(name, expected) else None,
        )
        return  # once an answer: every chunk carries the same


def _respelled(name: object, expected: str) -> bool:
    """Whether a name is the expected one in other case or with other signs between its words."""
    return isinstance(name, str) and re.sub(r"[\W_]+", ".", name).lower() == expected


@rule(
    "body.created-seconds",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(CHAT, RESPONSES),
    by_analogy=(CHAT,),
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatCompletionResponse/properties/created"),
        RESPONSES: cite("responses", "Creation time as a Unix timestamp in seconds"),
    },
    must_on=(RESPONSES,),
    when=is_answer,
)
def created_in_seconds(answer: Answer) -> Findings:
    """The creation time is a Unix time in seconds, and the present."""
    pointer = "/created" if answer.protocol is CHAT else "/created_at"
    created = answer.created
    if isinstance(created, bool) or not isinstance(created, (int, float)) or not 10**9 < created < 10**11:
        yield Finding(
            message="the creation time is no Unix time in seconds",
            pointer=pointer,
            expected="an integer between 10^9 and 10^11",
            actual=parts.shown(created),
        )
        return
    if created != int(created):
        yield Finding(message="the creation time is no integer", pointer=pointer, expected="an integer", actual=created)
        return
    clock = _server_time(answer) or parts.sent_at(answer)
    if clock is not None and abs(created - clock.timestamp()) > DAY:
        yield Finding(
            message="the creation time is more than a day from the time of the answer",
            pointer=pointer,
            expected=int(clock.timestamp()),
            actual=created,
            level=Level.SHOULD,
        )


def _server_time(answer: Answer) -> datetime | None:
    try:
        return parsedate_to_datetime(answer.header("date") or "")
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


@rule(
    "body.role-assistant",
    Level.MUST,
    Basis.PROTOCOL,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatMessage/properties/role"),
        MESSAGES: cite("messages-k31", "#/components/schemas/MessageResponse/properties/role"),
        RESPONSES: cite("responses", '"role": "assistant"'),
    },
    when=lambda answer: answer.ok,
    applies="a 200 answer",
)
def assistant_answers(answer: Answer) -> Findings:
    """The answering role is assistant."""
    if answer.protocol is CHAT:
        holders = list(parts.messages(answer))
    elif answer.protocol is MESSAGES:
        holders = [("", answer.body or {})]
    else:
        holders = list(parts.items(answer, "message"))
    for pointer, holder in holders:
        role = holder.get("role", MISSING)
        if role is None and answer.streamed and answer.protocol is CHAT:  # a delta may say null for nothing
            role = MISSING
        # body.schema, body.required-fields and body.item-fields say that it is missing; a stream has no such rule
        if role == "assistant" or (role is MISSING and not (answer.streamed and answer.protocol is not RESPONSES)):
            continue
        yield Finding(
            message="the answering role is not assistant",
            pointer=f"{pointer}/role",
            expected="assistant",
            actual=parts.shown(role),
            level=Level.SHOULD if role is MISSING and answer.protocol is CHAT else None,
        )


@rule(
    "body.choice-index",
    Level.SHOULD,
    Basis.PROTOCOL,
    protocols=(CHAT,),
    source=cite("chat-all", "#/components/schemas/ChatCompletionResponse/properties/choices"),
    when=lambda answer: is_answer(answer) and isinstance((answer.body or {}).get("choices"), list),
    applies="a whole 200 answer with an array of choices",
)
def choices_are_numbered(answer: Answer) -> Findings:
    """The choices are not empty, and their indexes run 0, 1, … without gaps."""
    indexes = [choice.get("index", MISSING) for _, choice in parts.choices(answer)]
    if not indexes:
        yield Finding(message="choices is empty", pointer="/choices", expected="at least one choice", actual=[])
        return
    whole = [index for index in indexes if isinstance(index, int) and not isinstance(index, bool)]
    if len(whole) < len(indexes) or sorted(whole) != list(range(len(whole))):
        yield Finding(
            message="the indexes of the choices do not run 0, 1, … without gaps",
            pointer="/choices",
            expected=list(range(len(indexes)))[:20],
            actual=[parts.shown(index) for index in indexes[:20]],
        )
