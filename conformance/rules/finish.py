"""How an answer says that it ended."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.protocols.view import MISSING, Answer, Finish
from conformance.rules import parts
from conformance.rules.bodies import is_answer
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, cite, rule
from conformance.values import Basis, Finding, Level

DOCUMENTED = {
    CHAT: ("stop", "length", "tool_calls"),
    MESSAGES: ("end_turn", "max_tokens", "tool_use", "refusal"),
    RESPONSES: ("completed", "incomplete", "failed"),
}
TOLERATED = {CHAT: ("content_filter",), MESSAGES: ("pause_turn",), RESPONSES: ()}  # the formats have them
REASON = {CHAT: "finish_reason", MESSAGES: "stop_reason", RESPONSES: "status"}
CALLS = {CHAT: "tool_calls", MESSAGES: "tool_use"}


def reasons(answer: Answer) -> Iterator[tuple[str, object]]:
    """Each reason that an answer gives for its end, with its pointer; on chat one a choice."""
    if answer.protocol is not CHAT:
        yield f"/{REASON[answer.protocol]}", answer.finish
        return
    for pointer, choice in parts.choices(answer):
        yield f"{pointer}/finish_reason", choice.get("finish_reason", MISSING)


def gives_reason(answer: Answer) -> bool:
    """A 200 answer that says why it ended."""
    return answer.ok and any(reason is not None and reason is not MISSING for _, reason in reasons(answer))


@rule(
    "finish.enum",
    Level.MUST,
    Basis.DOCUMENTED,
    source={
        CHAT: cite(
            "chat-all", "#/components/schemas/ChatCompletionResponse/properties/choices/items/properties/finish_reason"
        ),
        MESSAGES: cite("messages-k31", "#/components/schemas/MessageResponse/properties/stop_reason"),
        RESPONSES: cite("responses", "completed, incomplete, failed"),
    },
    when=lambda answer: gives_reason(answer) and answer.complete,
    applies="a whole 200 answer that says why it ended",
)
def reason_is_documented(answer: Answer) -> Findings:
    """The reason for the end is one of those that the documents list."""
    for pointer, reason in reasons(answer):
        if reason is None or reason is MISSING or reason in DOCUMENTED[answer.protocol]:
            continue
        yield Finding(
            message=f"{REASON[answer.protocol]} has a value that the documents do not list",
            pointer=pointer,
            expected=list(DOCUMENTED[answer.protocol]),
            actual=parts.shown(reason),
            level=Level.SHOULD if reason in TOLERATED[answer.protocol] else None,
        )


@rule(
    "finish.not-null",
    Level.MUST,
    Basis.PROTOCOL,
    protocols=(CHAT, MESSAGES),
    source={
        CHAT: cite(
            "chat-all", "#/components/schemas/ChatCompletionResponse/properties/choices/items/properties/finish_reason"
        ),
        MESSAGES: cite("messages-k31", "#/components/schemas/MessageResponse/properties/stop_reason"),
    },
    when=is_answer,
)
def reason_is_given(answer: Answer) -> Findings:
    """A finished answer says why it ended: null is for chunks and message_start."""
    found = list(reasons(answer)) or [("/choices", MISSING)]
    for pointer, reason in found:
        if reason is None or reason is MISSING:
            yield Finding(
                message=f"a finished answer has no {REASON[answer.protocol]}",
                pointer=pointer,
                expected=list(DOCUMENTED[answer.protocol]),
                actual=parts.shown(reason),
            )


@rule(
    "finish.tool-iff-call",
    Level.MUST,
    Basis.PROTOCOL,
    protocols=(CHAT, MESSAGES),
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatMessage/properties/tool_calls"),
        MESSAGES: cite("messages-k31", "#/components/schemas/ToolUseBlock"),
    },
    when=lambda answer: (
        is_answer(answer) and gives_reason(answer) and answer.ending not in (Finish.LENGTH, Finish.REFUSAL)
    ),
    applies="a whole 200 answer that was neither cut off by the limit nor refused",
)
def tool_reason_means_call(answer: Answer) -> Findings:
    """The reason is tool_calls or tool_use exactly when the answer asks the client to run a tool."""
    expected = CALLS[answer.protocol]
    for pointer, reason in reasons(answer):
        calls = _calls_of(answer, pointer)
        if reason is None or reason is MISSING or reason == "length" or (reason == expected) == bool(calls):
            continue
        named = answer.asked.choice == "named" and reason == "stop"  # OpenAI answers a named choice so
        yield Finding(
            message=f"{REASON[answer.protocol]} is {parts.shown(reason)}, and the answer has "
            + (f"{calls} tool call{'s' * (calls > 1)}" if calls else "no tool call"),
            pointer=pointer,
            expected=expected if calls else [value for value in DOCUMENTED[answer.protocol] if value != expected],
            actual=parts.shown(reason),
            level=Level.SHOULD if named and calls else None,
        )


def _calls_of(answer: Answer, pointer: str) -> int:
    """How many calls the client is to run, on chat within the choice that a reason stands in."""
    if answer.protocol is not CHAT:
        return len(answer.client_calls)
    choice = pointer.removesuffix("finish_reason")
    return sum(call.pointer.startswith(choice) for call in answer.client_calls)


@rule(
    "finish.incomplete-details",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(RESPONSES,),
    source=cite("responses", "Reason provided when status is incomplete"),
    when=lambda answer: answer.ok and answer.finish in ("completed", "incomplete"),
    applies="a 200 answer that is completed or incomplete",
)
def incomplete_says_why(answer: Answer) -> Findings:
    """An incomplete answer has incomplete_details.reason, a completed one has none."""
    details = (answer.body or {}).get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if answer.finish == "completed":
        if details is not None:
            yield Finding(
                message="a completed answer carries incomplete_details",
                pointer="/incomplete_details",
                expected=None,
                actual=parts.shown(details if reason is None else reason),
                level=Level.SHOULD,
            )
    elif not isinstance(reason, str) or not reason:
        yield Finding(
            message="an incomplete answer does not say why",
            pointer="/incomplete_details/reason" if isinstance(details, dict) else "/incomplete_details",
            expected="max_output_tokens",
            actual=parts.shown(details if not isinstance(details, dict) else details.get("reason", MISSING)),
        )
    elif reason != "max_output_tokens":
        yield Finding(
            message="the reason of an incomplete answer is not the documented one",
            pointer="/incomplete_details/reason",
            expected="max_output_tokens",
            actual=parts.shown(reason),
            level=Level.SHOULD,
        )


@rule(
    "finish.failed-has-error",
    Level.SHOULD,
    Basis.PROTOCOL,
    protocols=(RESPONSES,),
    source=cite("responses", "completed, incomplete, failed"),
    when=lambda answer: answer.ok and answer.finish == "failed",
    applies="a failed answer",
)
def failed_says_why(answer: Answer) -> Findings:
    """A failed answer carries an error object with a message."""
    error = (answer.body or {}).get("error", MISSING)
    message = error.get("message") if isinstance(error, dict) else None
    if not isinstance(message, str) or not message.strip():
        yield Finding(
            message="a failed answer has no error with a message",
            pointer="/error",
            expected="an object with a message",
            actual=parts.shown(error),
        )
