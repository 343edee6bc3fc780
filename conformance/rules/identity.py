"""Answers are told apart by their ids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from conformance.protocols.view import MISSING, Answer
from conformance.rules import parts, sameness
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Group, cite, rule
from conformance.values import Basis, Finding, Level, Over, Protocol

_HIT = re.compile(r"\b(?:hit|true)\b", re.IGNORECASE)
_TWICE = 1.0  # seconds between two recordings of one call, at most


def identified(answers: Sequence[Answer]) -> Iterator[Group]:
    """The answers of a surface, all of one run or recording."""
    for protocol in Protocol:
        group = tuple(answer for answer in answers if answer.protocol is protocol and answer.ok)
        if group:
            yield group


@rule(
    "body.id-unique",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.PAIR,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatCompletionResponse/properties/id"),
        MESSAGES: cite("messages-k31", "#/components/schemas/MessageResponse/properties/id"),
        RESPONSES: cite("responses", '"id": "resp_6adc72aab1f2eaaebe6b869e"'),
    },
    find=identified,
)
def ids_differ(group: Group) -> Findings:
    """Every answer has an id that is not empty, and no two answers have the same."""
    first: dict[str, Answer] = {}
    for answer in group:
        name = answer.id
        if name == "" or (answer.streamed and (name is MISSING or name is None)):
            yield Finding(
                message="the answer has no id",
                pointer="/id",
                expected="a string that is not empty",
                actual=parts.shown(name),
                exchange=answer.exchange.id,
            )
        elif isinstance(name, str):
            earlier = first.setdefault(name, answer)
            if earlier is not answer and not _same_answer(earlier, answer):
                yield Finding(
                    message=f"the answer has the id of an earlier one (exchange {earlier.exchange.id})",
                    pointer="/id",
                    expected="an id of its own",
                    actual=parts.shown(name),
                    exchange=answer.exchange.id,
                )


def _same_answer(earlier: Answer, later: Answer) -> bool:
    """Whether both are one answer: recorded twice, fetched again under one idempotency key, or out of a cache."""
    key = earlier.asked.header("idempotency-key")
    again = key is not None and key == later.asked.header("idempotency-key")
    return again or _recorded_twice(earlier, later) or (earlier.raw == later.raw and _is_cached(later))


def _is_cached(answer: Answer) -> bool:
    """Whether a gateway says that it gave an answer which it had kept: X-Cache: HIT and its like."""
    return any("cache" in name.lower() and _HIT.search(value[:100]) for name, value in answer.headers)


def _recorded_twice(earlier: Answer, later: Answer) -> bool:
    """Whether one call was kept twice: by the page and by its service worker, or by two proxies in a row."""
    if earlier.raw != later.raw or earlier.exchange.started is None or later.exchange.started is None:
        return False
    if earlier.exchange.started == later.exchange.started:
        return True
    gap = parts.seconds_between(earlier, later)
    within = gap is not None and abs(gap) <= _TWICE and not later.exchange.live
    return within and sameness.canonical(earlier) == sameness.canonical(later)
