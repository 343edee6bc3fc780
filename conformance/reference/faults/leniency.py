"""Faults of leniency: limits, turns and models that break the schema are accepted."""

from __future__ import annotations

from typing import Any

from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, RESPONSES, fault
from conformance.reference.faults.terms import LIMITS, TURNS, forgiven, limit, sent
from conformance.reference.hooks import Context
from conformance.reference.problems import Problem

Problems = list[Problem]
_INVALID = ("request.invalid-rejected",)
_MODEL = ("request.unknown-model-rejected",)
_TURNS_BASED = (CHAT, MESSAGES)


def _limits(context: Context, problems: Problems, *, when: bool) -> Problems:
    return forgiven(problems, LIMITS[context.protocol]) if when else problems


def _content(context: Context, *path: str | int) -> Any:
    return sent(context, "messages", 0, *path)


@fault("accepts-limit-zero", "problems", caught_by=_INVALID)
def limit_zero(context: Context, problems: Problems) -> Problems:
    """An output limit of 0 is accepted."""
    return _limits(context, problems, when=limit(context) == 0)


@fault("accepts-limit-negative", "problems", modes=(JSON,), caught_by=_INVALID)
def limit_negative(context: Context, problems: Problems) -> Problems:
    """An output limit of -1 is accepted."""
    return _limits(context, problems, when=limit(context) == -1)


@fault("accepts-limit-above-maximum", "problems", modes=(JSON,), caught_by=_INVALID)
def limit_above_maximum(context: Context, problems: Problems) -> Problems:
    """An output limit that is one above the maximum is accepted."""
    return _limits(context, problems, when=limit(context) == 1_048_577)


@fault("accepts-limit-string", "problems", modes=(JSON,), caught_by=_INVALID)
def limit_string(context: Context, problems: Problems) -> Problems:
    """An output limit is accepted as a string of digits."""
    return _limits(context, problems, when=isinstance(limit(context), str))


@fault("accepts-limit-fraction", "problems", modes=(JSON,), caught_by=_INVALID)
def limit_fraction(context: Context, problems: Problems) -> Problems:
    """An output limit of 1.5 is accepted."""
    return _limits(context, problems, when=isinstance(limit(context), float))


@fault("accepts-limit-true", "problems", modes=(JSON,), caught_by=_INVALID)
def limit_true(context: Context, problems: Problems) -> Problems:
    """An output limit of true is accepted, as the number 1."""
    return _limits(context, problems, when=limit(context) is True)


@fault("accepts-limit-null", "problems", modes=(JSON,), caught_by=_INVALID)
def limit_null(context: Context, problems: Problems) -> Problems:
    """An output limit of null is accepted."""
    return _limits(context, problems, when=limit(context) is None and LIMITS[context.protocol] in (context.body or {}))


@fault("accepts-limit-missing", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def limit_missing(context: Context, problems: Problems) -> Problems:
    """A request without the required output limit is accepted."""
    return forgiven(problems, kinds=("required",)) if "max_tokens" not in (context.body or {}) else problems


@fault("accepts-stream-string", "problems", modes=(JSON,), caught_by=_INVALID)
def stream_string(_: Context, problems: Problems) -> Problems:
    """The flag stream is accepted as a string or a number."""
    return forgiven(problems, "stream")


@fault("accepts-turns-missing", "problems", modes=(JSON,), caught_by=_INVALID)
def turns_missing(context: Context, problems: Problems) -> Problems:
    """A request without messages, or without input, is accepted."""
    missing = TURNS[context.protocol] not in (context.body or {})
    return forgiven(problems, kinds=("required",)) if missing else problems


@fault("accepts-turns-number", "problems", caught_by=_INVALID)
def turns_number(context: Context, problems: Problems) -> Problems:
    """A number is accepted in the place of messages or input."""
    name = TURNS[context.protocol]
    return forgiven(problems, name) if isinstance(sent(context, name), int) else problems


@fault("accepts-turns-object", "problems", modes=(JSON,), caught_by=_INVALID)
def turns_object(context: Context, problems: Problems) -> Problems:
    """A single message is accepted in the place of an array of them."""
    name = TURNS[context.protocol]
    return forgiven(problems, name) if isinstance(sent(context, name), dict) else problems


@fault("accepts-no-messages", "problems", on=_TURNS_BASED, modes=(JSON,), caught_by=_INVALID)
def no_messages(context: Context, problems: Problems) -> Problems:
    """An empty array of messages is accepted."""
    return forgiven(problems, "messages") if sent(context, "messages") == [] else problems


@fault("accepts-role-missing", "problems", on=_TURNS_BASED, modes=(JSON,), caught_by=_INVALID)
def role_missing(context: Context, problems: Problems) -> Problems:
    """A message without a role is accepted."""
    first = _content(context)
    without = isinstance(first, dict) and "role" not in first
    return forgiven(problems, "messages", 0, kinds=("required",)) if without else problems


@fault("accepts-role-unknown", "problems", on=_TURNS_BASED, modes=(JSON,), caught_by=_INVALID)
def role_unknown(_: Context, problems: Problems) -> Problems:
    """A message of a role that does not exist is accepted."""
    return forgiven(problems, "messages", 0, "role", kinds=("enum",))


@fault("accepts-content-number", "problems", on=_TURNS_BASED, modes=(JSON,), caught_by=_INVALID)
def content_number(context: Context, problems: Problems) -> Problems:
    """A number is accepted as the content of a message."""
    number = isinstance(_content(context, "content"), int)
    return forgiven(problems, "messages", 0, "content") if number else problems


@fault("accepts-content-object", "problems", on=_TURNS_BASED, modes=(JSON,), caught_by=_INVALID)
def content_object(context: Context, problems: Problems) -> Problems:
    """A single block is accepted in the place of an array of them."""
    single = isinstance(_content(context, "content"), dict)
    return forgiven(problems, "messages", 0, "content") if single else problems


@fault("accepts-text-part-without-text", "problems", on=_TURNS_BASED, modes=(JSON,), caught_by=_INVALID)
def part_without_text(context: Context, problems: Problems) -> Problems:
    """A text part without a text is accepted."""
    empty = _content(context, "content", 0) == {"type": "text"}
    return forgiven(problems, "messages", 0, "content") if empty else problems


@fault("accepts-part-of-unknown-type", "problems", on=_TURNS_BASED, modes=(JSON,), caught_by=_INVALID)
def part_unknown(context: Context, problems: Problems) -> Problems:
    """A content part of an unknown type is accepted."""
    audio = _content(context, "content", 0, "type") == "audio"
    return forgiven(problems, "messages", 0, "content") if audio else problems


@fault(
    "accepts-unknown-model",
    "problems",
    caught_by=_MODEL,
    seen=("icebear0828/codex-proxy#660",),
)
def unknown_model(context: Context, problems: Problems) -> Problems:
    """A model that does not exist is answered by the default model."""
    return forgiven(problems, "model") if isinstance(context.model, str) else problems


@fault("accepts-model-with-suffix", "problems", caught_by=_MODEL)
def model_with_suffix(context: Context, problems: Problems) -> Problems:
    """A name that only begins with that of a model is accepted."""
    return forgiven(problems, "model") if str(context.model).startswith("kimi-k3") else problems


@fault("accepts-model-in-capitals", "problems", caught_by=_MODEL)
def model_in_capitals(context: Context, problems: Problems) -> Problems:
    """The name of a model is accepted in capitals."""
    return forgiven(problems, "model") if str(context.model).isupper() else problems


@fault("accepts-model-empty", "problems", caught_by=_MODEL)
def model_empty(context: Context, problems: Problems) -> Problems:
    """An empty name is accepted as that of the default model."""
    return forgiven(problems, "model") if context.model == "" else problems


@fault("accepts-model-number", "problems", caught_by=_INVALID)
def model_number(context: Context, problems: Problems) -> Problems:
    """A number is accepted in the place of a model's name."""
    return forgiven(problems, "model") if isinstance(context.model, int) else problems


@fault("accepts-model-missing", "problems", on=(RESPONSES,), modes=(JSON,), caught_by=_INVALID)
def model_missing(context: Context, problems: Problems) -> Problems:
    """A request without the required model is accepted."""
    return forgiven(problems, kinds=("required",)) if "model" not in (context.body or {}) else problems


@fault("accepts-reasoning-string", "problems", on=(RESPONSES,), modes=(JSON,), caught_by=_INVALID)
def reasoning_string(_: Context, problems: Problems) -> Problems:
    """The object reasoning is accepted as a string."""
    return forgiven(problems, "reasoning")
