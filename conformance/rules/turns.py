"""How turns are counted: a string input as one user message, and the history in every prompt."""

from __future__ import annotations

from conformance.protocols.view import Answer
from conformance.rules import history
from conformance.rules.decisions import refused, told
from conformance.rules.groups import histories, inputs
from conformance.rules.payloads import words
from conformance.rules.pictures import pictures
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Group, Inconclusive, cite, rule
from conformance.values import Basis, Finding, Level, Over

_MARGIN = 100  # tokens
_LONG = 800  # characters of earlier turns that are certainly more tokens than the margin


@rule(
    "turn.string-equals-user-message",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(RESPONSES,),
    over=Over.PAIR,
    source=cite("responses", "A string is equivalent to a single user message"),
    find=inputs,
)
def string_is_one_user_message(group: Group) -> Findings:
    """Input as a string and as one user message have equal input_tokens."""
    string, array = group
    if not string.ok:
        raise Inconclusive("the request with a string was not answered")
    if not array.ok:
        if refused(array):
            yield Finding(
                message="the same words are accepted as a string and refused as one user message",
                expected=200,
                actual=told(array),
                exchange=array.exchange.id,
                level=Level.SHOULD,
            )
        return
    one, other = _input(string), _input(array)
    if one != other:
        yield Finding(
            message="a string and one user message of the same words have different input_tokens",
            pointer="/usage/input_tokens",
            expected=one,
            actual=other,
            exchange=array.exchange.id,
        )


def _input(answer: Answer) -> int:
    if answer.usage is None or answer.usage.input is None:
        raise Inconclusive("an answer reports no input tokens")
    return answer.usage.input


@rule(
    "turn.history-counted",
    Level.SHOULD,
    Basis.DOCUMENTED,
    over=Over.PAIR,
    source={
        CHAT: cite("chat-all", "support multi-turn conversations, streaming, tool calling"),
        MESSAGES: cite("messages-k31", "support multi-turn conversations, streaming"),
        RESPONSES: cite("responses", "an array supplies historical messages in order"),
    },
    find=histories,
)
def history_costs_input(group: Group) -> Findings:
    """A last user message after earlier turns has more input tokens than it has alone."""
    alone, after = group
    if not alone.ok or not after.ok:
        raise Inconclusive("one of the two requests was not answered")
    if any(pictures(alone.asked)):
        raise Inconclusive("an image costs tokens of its own")
    before, total = _input(alone), _input(after)
    more = _earlier_text(after) - _earlier_text(alone)
    if more <= 0:
        raise Inconclusive("the request with earlier turns holds no more text than the one without")
    margin = _MARGIN if more >= _LONG else 1
    if total < before + margin:
        yield Finding(
            message="earlier turns hardly add to the input tokens",
            pointer="/usage",
            expected=f"{before + margin} or more",
            actual=total,
            exchange=after.exchange.id,
        )


def _earlier_text(answer: Answer) -> int:
    """Characters of all turns; what a server may leave out of the prompt, such as old reasoning, not counted."""
    found = 0
    for turn in history.turns(answer.asked):
        found += len(words(turn.get("content"))) + sum(len(words(block.get("text"))) for block in history.blocks(turn))
    return found
