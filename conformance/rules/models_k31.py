"""What the K3.1 series ignores or maps, and so accepts."""

from __future__ import annotations

from conformance.models import EFFORT_ALIASES, K31
from conformance.protocols.view import Answer
from conformance.rules.acceptance import acceptable
from conformance.rules.decisions import acceptance
from conformance.rules.parts import shown
from conformance.rules.registry import CHAT, MESSAGES, Findings, cite, rule
from conformance.values import Basis, Finding, Level


def _has_number(answer: Answer, name: str) -> bool:
    value = answer.asked.body.get(name)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and answer.asked.model in K31 and acceptable(answer)


def with_temperature(answer: Answer) -> bool:
    """A valid K3.1 request with a numeric temperature."""
    return _has_number(answer, "temperature")


def with_top_p(answer: Answer) -> bool:
    """A valid K3.1 request with a numeric top_p."""
    return _has_number(answer, "top_p")


def with_effort_alias(answer: Answer) -> bool:
    """A valid K3.1 request whose effort is medium, xhigh, minimal or none."""
    effort = answer.asked.effort
    named = isinstance(effort, str) and effort in EFFORT_ALIASES
    return named and answer.asked.model in K31 and acceptable(answer)


def ended_at_effort_none(answer: Answer) -> bool:
    """A K3.1 answer at effort none that finished normally."""
    return answer.asked.effort == "none" and answer.asked.model in K31 and answer.normal


@rule(
    "model.k31.temperature-ignored",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    models=K31,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/temperature"),
        MESSAGES: cite("messages-all", "Sampling temperature, fixed by the model at 1; omit this field."),
    },
    when=with_temperature,
)
def temperature_is_ignored(answer: Answer) -> Findings:
    """The K3.1 series accepts any temperature, and ignores it."""
    yield from acceptance(answer, f"temperature {shown(answer.asked.body['temperature'])}")


@rule(
    "model.k31.top-p-ignored",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    models=K31,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/top_p"),
        MESSAGES: cite("messages-all", "Nucleus sampling threshold, fixed by the model at 0.95; omit this field."),
    },
    when=with_top_p,
)
def top_p_is_ignored(answer: Answer) -> Findings:
    """The K3.1 series accepts any top_p, and ignores it."""
    yield from acceptance(answer, f"top_p {shown(answer.asked.body['top_p'])}")


_EFFORTS = {
    CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/reasoning_effort"),
    MESSAGES: cite(
        "messages-k31", "#/components/schemas/CreateMessageRequest/properties/output_config/properties/effort"
    ),
}


@rule(
    "model.k31.effort-aliases-accepted",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    models=K31,
    source=_EFFORTS,
    when=with_effort_alias,
)
def effort_alias_is_accepted(answer: Answer) -> Findings:
    """The K3.1 series accepts the efforts medium, xhigh, minimal and none."""
    yield from acceptance(answer, f"the effort {answer.asked.effort}")


@rule(
    "model.k31.effort-none-still-reasons",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    models=K31,
    source=_EFFORTS,
    when=ended_at_effort_none,
)
def effort_none_still_reasons(answer: Answer) -> Findings:
    """At effort none the answer still holds reasoning, or counts reasoning tokens above 0."""
    counted = answer.usage.reasoning if answer.usage else None
    if not answer.reasoning.strip() and not counted:
        yield Finding(
            message="effort none disables reasoning", expected="reasoning, or reasoning tokens", actual=counted
        )
