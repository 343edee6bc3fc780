"""Output tokens against what came out: text, reasoning, calls and searches."""

from __future__ import annotations

import re

from conformance.protocols.view import MISSING, Answer
from conformance.rules import parts
from conformance.rules.bodies import is_answer
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, cite, rule
from conformance.values import Basis, Finding, Level

_SLACK = 64  # tokens that stand for no visible byte: block borders, call markers
_CALL = 24  # likewise of one call, besides its name: ids and the markers of its parts
_CHARACTERS = 20  # characters that one token holds at the very most
_RUN = re.compile(r"(.)\1{4,}", re.DOTALL)  # but for runs of one character, such as a line of dashes

_OUTPUT = {
    CHAT: cite("chat-all", "#/components/schemas/ChatUsage/properties/completion_tokens"),
    MESSAGES: cite("messages-k31", "#/components/schemas/MessageUsage/properties/output_tokens"),
    RESPONSES: cite("responses", '"output_tokens": 96'),
}


def counts_output(answer: Answer) -> bool:
    """Whether it is a whole 200 answer that reports its output tokens."""
    return is_answer(answer) and answer.usage is not None and answer.usage.output is not None


@rule(
    "usage.output-positive",
    Level.MUST,
    Basis.PROTOCOL,
    source=_OUTPUT,
    when=lambda answer: counts_output(answer) and bool(answer.text or answer.reasoning or answer.calls),
    applies="a whole 200 answer with usage that carries text, reasoning or a call",
)
def output_costs_tokens(answer: Answer) -> Findings:
    """An answer that carries text, reasoning or a call has used output tokens."""
    usage = answer.usage
    if usage is not None and not usage.output:
        yield Finding(
            message="the answer carries output, and reports no output tokens",
            pointer=usage.pointer,
            expected="above 0",
            actual=usage.output,
        )


@rule(
    "usage.output-plausible",
    Level.SHOULD,
    Basis.PROTOCOL,
    source=_OUTPUT,
    when=lambda answer: counts_output(answer) and bool(answer.text or answer.reasoning),
    applies="a whole 200 answer with usage that carries text or reasoning",
)
def output_fits_the_text(answer: Answer) -> Findings:
    """Output tokens are neither far more nor far fewer than the visible text can hold."""
    usage = answer.usage
    if usage is None or usage.output is None:
        return
    visible = answer.text + "".join(_written(call.arguments) for call in answer.calls)
    reported = usage.reasoning is not None
    tokens = usage.output - (usage.reasoning or 0)
    if not reported:
        visible += answer.reasoning
    names = sum(
        len(call.name.encode("utf-8", "replace")) + _CALL for call in answer.calls if isinstance(call.name, str)
    )
    most = len(visible.encode("utf-8", "replace")) + names + _SLACK
    least = len(_RUN.sub(r"\1\1\1\1", visible)) / _CHARACTERS
    if tokens > most and (reported or not _may_hide_reasoning(answer)):
        yield Finding(
            message="more output tokens than the visible text has bytes",
            pointer=usage.pointer,
            expected=f"at most {most}, reasoning left out",
            actual=parts.shown(tokens),
        )
    elif tokens < least:
        yield Finding(
            message="fewer output tokens than the visible text can have",
            pointer=usage.pointer,
            expected=f"at least {least:.0f}, reasoning left out",
            actual=parts.shown(tokens),
        )


def _written(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is MISSING or arguments is None else parts.written(arguments)


def _may_hide_reasoning(answer: Answer) -> bool:
    """Whether the documents let an answer keep its reasoning to itself, or show a summary."""
    return answer.protocol is RESPONSES or (answer.protocol is MESSAGES and answer.model == "kimi-k3")


@rule(
    "usage.search-counted",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    source=cite("messages-k31", "#/components/schemas/MessageUsage/properties/server_tool_use"),
    when=lambda answer: is_answer(answer) and answer.asked.searches and answer.usage is not None,
    applies="a whole 200 answer with usage to a request that offers web search",
)
def searches_are_counted(answer: Answer) -> Findings:
    """web_search_requests is the number of web searches in the answer; failed and cut off ones need not count."""
    searches = sum(call.server and call.search for call in answer.calls)
    unmade = sum(result.failed for result in answer.results) + (parts.cut_search(answer) is not None)
    failed = min(searches, unmade)
    counted = (answer.usage.searches if answer.usage is not None else None) or 0
    if not searches - failed <= counted <= searches:
        yield Finding(
            message="web_search_requests is not the number of web searches in the answer",
            pointer=answer.usage.pointer if answer.usage is not None else "/usage",
            expected=searches if not failed else f"{searches - failed} to {searches}",
            actual=parts.shown(counted),
        )
