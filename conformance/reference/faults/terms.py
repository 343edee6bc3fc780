"""What several faults need: where an error was refused, what a request holds, refusals and forgiveness of problems."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from conformance.reference.hooks import Context
from conformance.reference.problems import Problem
from conformance.reference.refusals import Layer, Refusal, Refused, invalid
from conformance.values import Protocol

LIMITS = {
    Protocol.CHAT: "max_completion_tokens",
    Protocol.MESSAGES: "max_tokens",
    Protocol.RESPONSES: "max_output_tokens",
}
TURNS = {Protocol.CHAT: "messages", Protocol.MESSAGES: "messages", Protocol.RESPONSES: "input"}


def sent(context: Context, *names: str | int) -> Any:
    """The value at a path into the request's body; None where there is none."""
    value: Any = context.body
    for name in names:
        try:
            value = value[name]
        except (LookupError, TypeError):
            return None
    return value


def number(context: Context, name: str) -> float | None:
    """A top-level field of the request where it is a number."""
    value = sent(context, name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def turns(context: Context) -> list[dict[str, Any]]:
    """The messages, or the items of the input, that are objects."""
    given = sent(context, TURNS[context.protocol])
    return [turn for turn in given if isinstance(turn, dict)] if isinstance(given, list) else []


def blocks(context: Context) -> list[dict[str, Any]]:
    """Every content block of every turn."""
    contents = [turn.get("content") for turn in turns(context)]
    return [part for content in contents if isinstance(content, list) for part in content if isinstance(part, dict)]


def limit(context: Context) -> Any:
    """The output limit as it was sent."""
    return sent(context, LIMITS[context.protocol])


def effort(context: Context) -> Any:
    """The effort as it was sent."""
    paths = {
        Protocol.CHAT: ("reasoning_effort",),
        Protocol.MESSAGES: ("output_config", "effort"),
        Protocol.RESPONSES: ("reasoning", "effort"),
    }
    return sent(context, *paths[context.protocol])


def said(context: Context) -> str:
    """The request's bytes as text, to look for words in."""
    return context.raw.decode("utf-8", "replace")


def forgiven(problems: Iterable[Problem], *path: str | int, kinds: tuple[str, ...] = ()) -> list[Problem]:
    """The problems without those at or below a path, of these kinds only where any are named."""
    return [
        problem for problem in problems if problem.path[: len(path)] != path or (kinds and problem.kind not in kinds)
    ]


def forgiven_kind(problems: Iterable[Problem], kind: str) -> list[Problem]:
    """The problems without those of one kind."""
    return [problem for problem in problems if problem.kind != kind]


def found(problems: list[Problem], words: str, *, when: object) -> list[Problem]:
    """The problems, and one more where ``when`` is true: the server refuses what it should accept."""
    return [*problems, Problem(kind="unsupported", message=words)] if when else problems


def failure(message: str = "Internal service error.", *, status: int = 500) -> Refused:
    """The exception for a failure of the server itself."""
    return Refused(Refusal(layer=Layer.INTERNAL, status=status, type="internal_error", message=message))


def unacceptable(message: str, *, status: int = 400) -> Refused:
    """The exception for a request that the server does not accept."""
    refused = invalid(message, layer=Layer.VALIDATION)
    return refused if status == 400 else Refused(replace(refused.refusal, status=status))


def layer(context: Context, envelope: dict[str, Any]) -> Layer:
    """Where the error in an envelope was refused."""
    inner = envelope.get("error")
    kind = inner.get("type") if isinstance(inner, dict) else None
    named = {
        "authentication_error": Layer.AUTHENTICATION,
        "rate_limit_error": Layer.RATE,
        "internal_error": Layer.INTERNAL,
    }
    if kind in named:
        return named[kind]
    if kind == "not_found_error" or context.method != "POST":
        return Layer.ROUTING
    if context.body is None:
        return Layer.PARSING
    return Layer.VALIDATION if context.prompt is None else Layer.PROMPT


def dumped(body: object) -> bytes:
    """A body as the server writes it."""
    return json.dumps(body, ensure_ascii=False).encode()
