"""The arithmetic of token counts: totals, parts, and what they may not exceed."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.models import CONTEXT_WINDOW
from conformance.protocols.view import Answer
from conformance.rules import parts
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, cite, rule
from conformance.rules.usage import INPUT, OUTPUT, has_usage
from conformance.values import Basis, Finding, Level

_K3 = ("kimi-k3",)
_REASONING = {
    CHAT: ("completion_tokens_details", "reasoning_tokens"),
    MESSAGES: ("output_tokens_details", "thinking_tokens"),
    RESPONSES: ("output_tokens_details", "reasoning_tokens"),
}
_CACHED = {CHAT: ("prompt_tokens_details", "cached_tokens"), RESPONSES: ("input_tokens_details", "cached_tokens")}
_WRITTEN = ("prompt_tokens_details", "cache_write_tokens")


def _at(pointer: str, *path: str) -> str:
    """The pointer of a count within a usage object; a stream's report is named by its event alone."""
    return "/".join((pointer, *path)) if pointer.startswith("/") else pointer


@rule(
    "usage.total-is-sum",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, RESPONSES),
    by_analogy=(RESPONSES,),
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatUsage/properties/total_tokens"),
        RESPONSES: cite("responses", '"total_tokens": 120'),
    },
    when=has_usage,
)
def total_is_sum(answer: Answer) -> Findings:
    """total_tokens is input plus output tokens."""
    for pointer, usage in parts.usage_reports(answer):
        given, generated = (parts.count(usage, names[answer.protocol]) for names in (INPUT, OUTPUT))
        total = usage.get("total_tokens", None)
        if given is None or generated is None or ("total_tokens" in usage and not parts.is_count(total)):
            continue  # usage.present and usage.non-negative-integers say that
        if total != given + generated:
            yield Finding(
                message="total_tokens is not input plus output tokens",
                pointer=_at(pointer, "total_tokens"),
                expected=parts.shown(given + generated),
                actual=parts.shown(usage["total_tokens"]) if "total_tokens" in usage else "absent",
            )
            return


def _latest(answer: Answer) -> Iterator[parts.Part]:
    """The usage objects that are judged whole: on Messages, where a stream adds to its first, what they add up to."""
    if answer.protocol is MESSAGES:
        merged = answer.usage
        return iter(((merged.pointer, merged.raw),) if merged is not None else ())
    return parts.usage_reports(answer)


@rule(
    "usage.reasoning-within-output",
    Level.MUST,
    Basis.DOCUMENTED,
    source={
        CHAT: cite(
            "chat-all",
            "#/components/schemas/ChatUsage/properties/completion_tokens_details/properties/reasoning_tokens",
        ),
        MESSAGES: cite("messages-k31", "#/components/schemas/MessageUsage/properties/output_tokens"),
        RESPONSES: cite("responses", "max_output_tokens includes both reasoning and the answer"),
    },
    when=lambda answer: (
        answer.ok
        and answer.complete
        and any(parts.count(usage, *_REASONING[answer.protocol]) is not None for _, usage in _latest(answer))
    ),
    applies="a whole 200 answer whose usage has the reasoning detail",
)
def reasoning_is_output(answer: Answer) -> Findings:
    """Reasoning tokens are part of the output tokens, so never more than those."""
    for pointer, usage in _latest(answer):
        reasoning = parts.count(usage, *_REASONING[answer.protocol])
        generated = parts.count(usage, OUTPUT[answer.protocol])
        if reasoning is not None and generated is not None and reasoning > generated:
            yield Finding(
                message="more reasoning tokens than output tokens",
                pointer=_at(pointer, *_REASONING[answer.protocol]),
                expected=f"at most {parts.shown(generated)}",
                actual=parts.shown(reasoning),
            )
            return


@rule(
    "usage.cached-within-input",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, RESPONSES),
    by_analogy=(RESPONSES,),
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatUsage/properties/prompt_tokens"),
        RESPONSES: cite("responses", '"cached_tokens": 0'),
    },
    when=lambda answer: (
        answer.ok
        and any(parts.count(usage, *_CACHED[answer.protocol]) is not None for _, usage in parts.usage_reports(answer))
    ),
    applies="a 200 answer whose usage has the detail of cached tokens",
)
def cached_is_input(answer: Answer) -> Findings:
    """Cache reads, and on K3.1 chat also cache writes, are part of the input tokens."""
    for pointer, usage in parts.usage_reports(answer):
        given = parts.count(usage, INPUT[answer.protocol])
        cached = parts.count(usage, *_CACHED[answer.protocol]) or 0
        if answer.protocol is CHAT and answer.model != "kimi-k3":  # kimi-k3 does not separate writes
            cached += parts.count(usage, *_WRITTEN) or 0
        if given is not None and cached > given:
            yield Finding(
                message="more cached tokens than input tokens",
                pointer=_at(pointer, *_CACHED[answer.protocol]),
                expected=f"at most {parts.shown(given)}",
                actual=parts.shown(cached),
            )
            return


@rule(
    "usage.k3.cache-write-not-split",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    models=_K3,
    source=cite(
        "chat-all", "#/components/schemas/ChatUsage/properties/prompt_tokens_details/properties/cache_write_tokens"
    ),
    when=has_usage,
)
def writes_are_not_split(answer: Answer) -> Findings:
    """kimi-k3 does not separate cache writes: cache_write_tokens is absent or 0."""
    for pointer, usage in parts.usage_reports(answer):
        written = parts.count(usage, *_WRITTEN)
        if written:
            yield Finding(
                message="kimi-k3 reports cache writes of its own",
                pointer=_at(pointer, *_WRITTEN),
                expected="absent or 0",
                actual=parts.shown(written),
            )
            return


@rule(
    "usage.cache-creation-is-sum",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    should_on=((MESSAGES, "kimi-k3"),),
    source=cite("messages-k31", "#/components/schemas/MessageUsage/properties/cache_creation"),
    when=lambda answer: answer.ok and any(isinstance(u.get("cache_creation"), dict) for _, u in _creations(answer)),
    applies="a 200 answer whose usage has the cache_creation object",
)
def creation_is_sum(answer: Answer) -> Findings:
    """The 5m and 1h writes add up to cache_creation_input_tokens, and never to more."""
    for pointer, usage in _creations(answer):
        details = usage.get("cache_creation")
        if not isinstance(details, dict):
            continue
        total = parts.count(usage, "cache_creation_input_tokens")
        if total is None and "cache_creation_input_tokens" in usage:
            continue  # usage.non-negative-integers says that
        whole = total or 0
        names = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
        summed = sum(parts.count(details, name) or 0 for name in names)
        if summed != whole:
            broken = summed > whole or not summed
            yield Finding(
                message="the two cache write categories do not add up to cache_creation_input_tokens",
                pointer=_at(pointer, "cache_creation"),
                expected=parts.shown(whole),
                actual=parts.shown(summed),
                level=None if broken else Level.SHOULD,
            )
            return


def _creations(answer: Answer) -> Iterator[parts.Part]:
    """The usage objects that hold both the categories and their sum, and what a stream's reports add up to."""
    for pointer, usage in parts.usage_reports(answer):
        if "cache_creation" in usage and "cache_creation_input_tokens" in usage:
            yield pointer, usage
    if answer.usage is not None:
        yield answer.usage.pointer, answer.usage.raw


@rule(
    "usage.within-context",
    Level.MUST,
    Basis.DOCUMENTED,
    by_analogy=(RESPONSES,),
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/model"),
        MESSAGES: cite("messages-all", "All three models have a context window of 1,048,576 tokens"),
        RESPONSES: cite("responses", "All three models have a context window of 1,048,576 tokens"),
    },
    when=lambda answer: (
        answer.ok and answer.usage is not None and answer.usage.input is not None and answer.usage.output is not None
    ),
    applies="a 200 answer with usage",
)
def context_is_kept(answer: Answer) -> Findings:
    """Input and output tokens together fit the context window of 1,048,576 tokens."""
    usage = answer.usage
    total = (usage.input or 0) + (usage.output or 0) if usage is not None else 0
    if usage is not None and total > CONTEXT_WINDOW:
        yield Finding(
            message="more tokens than the context window holds",
            pointer=usage.pointer,
            expected=f"at most {CONTEXT_WINDOW}",
            actual=parts.shown(total),
        )
