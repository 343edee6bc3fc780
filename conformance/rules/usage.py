"""Token counts: that they are there, and that they are counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.protocols.view import MISSING, Answer
from conformance.rules import parts
from conformance.rules.bodies import is_answer, is_whole_object
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, cite, rule
from conformance.values import Basis, Finding, Level, Over, Protocol

USAGE = {
    CHAT: cite("chat-all", "#/components/schemas/ChatUsage"),
    MESSAGES: cite("messages-k31", "#/components/schemas/MessageUsage"),
    RESPONSES: cite("responses", '"input_tokens": 24'),
}
INPUT = {CHAT: "prompt_tokens", MESSAGES: "input_tokens", RESPONSES: "input_tokens"}
OUTPUT = {CHAT: "completion_tokens", MESSAGES: "output_tokens", RESPONSES: "output_tokens"}
DETAILS: dict[Protocol, dict[str, tuple[str, ...]]] = {  # each details object, and the counts that it documents
    CHAT: {
        "prompt_tokens_details": ("cached_tokens", "cache_write_tokens"),
        "completion_tokens_details": ("reasoning_tokens",),
    },
    MESSAGES: {
        "output_tokens_details": ("thinking_tokens",),
        "cache_creation": ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"),
        "server_tool_use": ("web_search_requests",),
    },
    RESPONSES: {
        "input_tokens_details": ("cached_tokens",),
        "output_tokens_details": ("reasoning_tokens",),
    },
}
_TOP = {
    CHAT: ("prompt_tokens", "completion_tokens", "total_tokens"),
    MESSAGES: ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"),
    RESPONSES: ("input_tokens", "output_tokens", "total_tokens"),
}


def has_usage(answer: Answer) -> bool:
    """A 200 answer with usage."""
    return answer.ok and any(parts.usage_reports(answer))


@rule(
    "usage.present",
    Level.MUST,
    Basis.PROTOCOL,
    source=USAGE,
    when=lambda answer: (
        (is_whole_object(answer) or (answer.protocol is CHAT and is_answer(answer) and has_usage(answer)))
        and answer.finish != "failed"
    ),
    applies="a 200 answer in JSON, the final response of a Responses stream, or a chat stream that reports usage",
)
def usage_is_reported(answer: Answer) -> Findings:
    """A usage object with the counts of input and output tokens is there."""
    usage = (answer.body or {}).get("usage", MISSING)
    if not isinstance(usage, dict):
        yield Finding(
            message="the answer has no usage object", pointer="/usage", expected="an object", actual=parts.shown(usage)
        )
        return
    for name in (INPUT[answer.protocol], OUTPUT[answer.protocol]):
        if name not in usage:
            yield Finding(
                message=f"usage has no {name}", pointer=f"/usage/{name}", expected="an integer", actual="absent"
            )


@rule(
    "usage.non-negative-integers",
    Level.MUST,
    Basis.DOCUMENTED,
    source=USAGE,
    when=has_usage,
)
def counts_are_integers(answer: Answer) -> Findings:
    """Every documented count is an integer of 0 or more."""
    seen: set[str] = set()
    for pointer, usage in parts.usage_reports(answer):
        for name, value in _counts(answer, usage):
            if parts.is_count(value) or name in seen:
                continue
            seen.add(name)
            yield Finding(
                message=f"{name} is no integer of 0 or more",
                pointer=f"{pointer}/{name}" if pointer.startswith("/") else pointer,
                expected="an integer of 0 or more",
                actual=parts.shown(value),
            )


def _counts(answer: Answer, usage: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """The documented counts that a usage object has, by their path within it."""
    yield from ((name, usage[name]) for name in _TOP[answer.protocol] if name in usage)
    for outer, names in DETAILS[answer.protocol].items():
        details = usage.get(outer)
        if isinstance(details, dict):
            yield from ((f"{outer}/{name}", details[name]) for name in names if name in details)


@rule(
    "usage.detail-keys",
    Level.SHOULD,
    Basis.DOCUMENTED,
    source=USAGE,
    when=lambda answer: any(details for _, usage in _ok_reports(answer) for details in _details(answer, usage)),
    applies="a 200 answer whose usage has a details object",
)
def details_are_whole(answer: Answer) -> Findings:
    """A details object of usage holds its documented counts."""
    seen: set[str] = set()
    for pointer, usage in parts.usage_reports(answer):
        for outer, details in _details(answer, usage):
            for name in DETAILS[answer.protocol][outer]:
                optional = name == "cache_write_tokens" and answer.model == "kimi-k3"
                if name in details or optional or name in seen:
                    continue
                seen.add(name)
                yield Finding(
                    message=f"{outer} has no {name}",
                    pointer=f"{pointer}/{outer}" if pointer.startswith("/") else pointer,
                    expected="an integer",
                    actual="absent",
                )


def _ok_reports(answer: Answer) -> Iterator[parts.Part]:
    return parts.usage_reports(answer) if answer.ok else iter(())


def _details(answer: Answer, usage: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for outer in DETAILS[answer.protocol]:
        details = usage.get(outer)
        if isinstance(details, dict):
            yield outer, details


@rule(
    "usage.reported-once",
    Level.SHOULD,
    Basis.PROTOCOL,
    over=Over.STREAM,
    protocols=(CHAT,),
    source=cite("chat-all", "#/components/schemas/ChatUsage"),
    when=lambda answer: has_usage(answer) and answer.streamed,
    applies="a stream that reports usage",
)
def reports_are_equal(answer: Answer) -> Findings:
    """Where more than one chunk reports usage, the reports are equal."""
    (_, first), *later = parts.usage_reports(answer)
    for pointer, usage in later:
        if usage != first:
            yield Finding(
                message="two chunks report different usage, so that a client which adds or overwrites is wrong",
                pointer=pointer,
                expected=parts.shown(parts.count(first, "total_tokens")),
                actual=parts.shown(parts.count(usage, "total_tokens")),
            )
            return
