"""Token counts of two or more answers side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.protocols.view import Answer
from conformance.rules import groups, parts
from conformance.rules.past_turns import echoes_search
from conformance.rules.pictures import refers_elsewhere
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Group, cite, rule
from conformance.rules.usage import USAGE
from conformance.values import Basis, Finding, Level, Over

_PROMPT = {
    CHAT: cite("chat-all", "#/components/schemas/ChatUsage/properties/prompt_tokens"),
    MESSAGES: cite("messages-k31", "#/components/schemas/MessageUsage/properties/input_tokens"),
    RESPONSES: cite("responses", '"input_tokens": 24'),
}
_LIFETIMES = {"5m": 300, "1h": 3600}  # seconds


def counts_input(answer: Answer) -> bool:
    """Whether an answer reports its input, and that input is only the request's: a server search adds its results."""
    searched = bool(answer.results) or any(call.server for call in answer.calls)
    counted = answer.ok and answer.complete and answer.usage is not None and answer.usage.input is not None
    return counted and not searched and not echoes_search(answer.asked)


def input_tokens(answer: Answer) -> int:
    """All input tokens that an answer reports; 0 where it reports none."""
    return (answer.usage.input or 0) if answer.usage is not None else 0


def repeated(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request sent twice or more in the same mode."""
    yield from _counted(groups.tries(answers))


def _counted(found: Iterator[Group]) -> Iterator[Group]:
    for group in found:
        if refers_elsewhere(group[0].asked):
            continue  # what it refers to may have changed meanwhile
        counted = tuple(answer for answer in group if counts_input(answer))
        if len(counted) > 1:
            yield counted


@rule(
    "usage.prompt-stable",
    Level.MUST,
    Basis.DOCUMENTED,
    over=Over.PAIR,
    protocols=(CHAT, RESPONSES),
    by_analogy=(RESPONSES,),
    source={CHAT: _PROMPT[CHAT], RESPONSES: _PROMPT[RESPONSES]},
    find=repeated,
)
def prompt_is_stable(group: Group) -> Findings:
    """The same request has the same input tokens each time, whatever was cached."""
    first = group[0]
    for answer in group[1:]:
        if input_tokens(answer) != input_tokens(first):
            yield Finding(
                message=f"the same request had other input tokens before (exchange {first.exchange.id})",
                pointer=answer.usage.pointer if answer.usage else "/usage",
                expected=parts.shown(input_tokens(first)),
                actual=parts.shown(input_tokens(answer)),
                exchange=answer.exchange.id,
            )


@rule(
    "usage.input-exclusive",
    Level.MUST,
    Basis.DOCUMENTED,
    over=Over.PAIR,
    protocols=(MESSAGES,),
    should_on=((MESSAGES, "kimi-k3"),),
    source=cite("messages-k31", "#/components/schemas/MessageUsage/properties/input_tokens/description"),
    find=repeated,
)
def categories_are_exclusive(group: Group) -> Findings:
    """Ordinary input, cache writes and cache reads add up to the same for the same request, cold or warm."""
    first = group[0]
    for answer in group[1:]:
        within = parts.seconds_between(first, answer)
        if within is not None and abs(within) > _lifetime(answer):
            continue
        if input_tokens(answer) != input_tokens(first):
            yield Finding(
                message="input, cache writes and cache reads add up to something else than for the same request before"
                f" (exchange {first.exchange.id})",
                pointer=answer.usage.pointer if answer.usage else "/usage",
                expected=parts.shown(input_tokens(first)),
                actual=parts.shown(input_tokens(answer)),
                exchange=answer.exchange.id,
            )


def _lifetime(answer: Answer) -> int:
    control = answer.asked.body.get("cache_control")
    ttl = control.get("ttl") if isinstance(control, dict) else None
    return _LIFETIMES.get(ttl, 300) if isinstance(ttl, str) else 300


@rule(
    "usage.prompt-monotonic",
    Level.SHOULD,
    Basis.PROTOCOL,
    over=Over.PAIR,
    source=_PROMPT,
    find=groups.longer,
    when=counts_input,
)
def longer_prompt_counts_more(group: Group) -> Findings:
    """A prompt with 100 words or more on top has more input tokens, all categories together."""
    short, long = group
    if input_tokens(long) <= input_tokens(short):
        yield Finding(
            message=f"a prompt with many words more has no more input tokens than without (exchange"
            f" {short.exchange.id})",
            pointer=long.usage.pointer if long.usage else "/usage",
            expected=f"above {parts.shown(input_tokens(short))}",
            actual=parts.shown(input_tokens(long)),
        )


def both_modes(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request asked for as JSON and as a stream, where both report usage."""
    for group in _counted(groups.repeats(answers)):
        plain = next((answer for answer in group if not answer.streamed), None)
        streamed = next((answer for answer in group if answer.streamed), None)
        if plain is not None and streamed is not None:
            yield (plain, streamed)


@rule(
    "usage.stream-equals-json",
    Level.SHOULD,
    Basis.PROTOCOL,
    over=Over.PAIR,
    source=USAGE,
    find=both_modes,
)
def modes_count_alike(group: Group) -> Findings:
    """The same request has the same input tokens streamed and not."""
    plain, streamed = group
    if input_tokens(plain) != input_tokens(streamed):
        yield Finding(
            message=f"the stream reports other input tokens than the JSON answer (exchange {plain.exchange.id})",
            pointer=streamed.usage.pointer if streamed.usage else "/usage",
            expected=parts.shown(input_tokens(plain)),
            actual=parts.shown(input_tokens(streamed)),
            exchange=streamed.exchange.id,
        )


@rule(
    "usage.same-across-protocols",
    Level.INFO,
    Basis.PROTOCOL,
    over=Over.PAIR,
    source=_PROMPT,
    find=groups.surfaces,
    when=counts_input,
)
def surfaces_side_by_side(group: Group) -> Findings:
    """The input tokens of one user message on each surface, side by side."""
    totals = {answer.protocol.value: parts.shown(input_tokens(answer)) for answer in group}
    listed = ", ".join(f"{surface} {tokens}" for surface, tokens in totals.items())
    same = "agree" if len(set(totals.values())) == 1 else "differ"
    yield Finding(
        message=f"the surfaces {same} on the input tokens of the same message: {listed}",
        pointer=group[-1].usage.pointer if group[-1].usage else "/usage",
        actual=totals,
    )
