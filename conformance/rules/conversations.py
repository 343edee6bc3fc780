"""What comes of sending an answer back: results of calls, echoes of searches, further user messages."""

from __future__ import annotations

from conformance.rules import replies
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Group, cite, rule
from conformance.values import Basis, Level, Over

_BACK = {
    CHAT: cite("chat-all", "#/components/schemas/ToolCall/description"),
    MESSAGES: cite("messages-k31", "Preserve thinking, signature, tool_use, and server search-result blocks in full."),
    RESPONSES: cite("responses", "an array supplies historical messages in order"),
}


@rule(
    "tool.round-trip",
    Level.MUST,
    Basis.DOCUMENTED,
    over=Over.CONVERSATION,
    source=_BACK,
    find=replies.tool_replies,
    by_analogy=(RESPONSES,),
)
def results_are_answered(group: Group) -> Findings:
    """A call's result, sent back with the history unchanged, is accepted and answered."""
    yield from replies.accepted(group, "the result of a call, with the history unchanged,")
    yield from replies.answered(group)


@rule(
    "tool.parallel-results",
    Level.SHOULD,
    Basis.PROTOCOL,
    protocols=(CHAT, MESSAGES),
    over=Over.CONVERSATION,
    source=_BACK,
    find=replies.parallel_replies,
)
def parallel_results_are_answered(group: Group) -> Findings:
    """The results of all calls of one answer, sent back together, are accepted and answered."""
    yield from replies.accepted(group, "an answer to parallel calls")
    yield from replies.answered(group)


@rule(
    "search.chat-round-trip",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    over=Over.CONVERSATION,
    source=cite("chat-all", "When web search returns tool_calls, send each call’s function.arguments back"),
    find=replies.search_replies,
)
def echoed_searches_are_answered(group: Group) -> Findings:
    """The arguments of a search call, sent back as its result, bring the final answer or a further search."""
    yield from replies.accepted(group, "the echo of a web search's arguments")
    yield from replies.answered(group)


@rule(
    "turn.history-accepted",
    Level.MUST,
    Basis.DOCUMENTED,
    over=Over.CONVERSATION,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/messages/description"),
        MESSAGES: cite("messages-k31", "#/components/schemas/CreateMessageRequest/properties/messages/description"),
        RESPONSES: _BACK[RESPONSES],
    },
    find=replies.user_replies,
    by_analogy=(RESPONSES,),
)
def own_answers_are_accepted(group: Group) -> Findings:
    """An answer that is sent back unchanged, with a further user message, is accepted."""
    yield from replies.accepted(group, "the service's own answer, sent back unchanged,")
