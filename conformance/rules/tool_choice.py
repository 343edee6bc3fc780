"""tool_choice: what the request forbids, demands or names."""

from __future__ import annotations

from conformance.protocols.view import Answer, Finish
from conformance.rules import parts
from conformance.rules.payloads import brief
from conformance.rules.registry import CHAT, MESSAGES, Findings, Inconclusive, cite, rule
from conformance.rules.tools import K3_MESSAGES
from conformance.values import Basis, Finding, Level

_CHOICE = {
    CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/tool_choice"),
    MESSAGES: cite("messages-k31", "#/components/schemas/ToolChoice/properties/type"),
}


def _forbids(answer: Answer) -> bool:
    """An answer to a request with tools or web search and tool_choice none."""
    return answer.ok and answer.asked.choice == "none" and bool(answer.asked.tools)


@rule(
    "tool.choice-none",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    source=_CHOICE,
    when=_forbids,
    should_on=K3_MESSAGES,
)
def none_means_no_call(answer: Answer) -> Findings:
    """Under tool_choice none nothing is called, web search included."""
    for server in (False, True):
        call = next((call for call in answer.calls if call.server is server), None)
        if call is not None:
            yield Finding(
                message="a search by the server under tool_choice none" if server else "a call under tool_choice none",
                pointer=call.pointer,
                expected="no call",
                actual=brief(call.name),
                level=Level.SHOULD if server else None,
            )


def _demands(answer: Answer) -> bool:
    """An answer to a request with tools that demands a call."""
    return answer.ok and answer.asked.choice == "required" and bool(answer.asked.tools)


@rule(
    "tool.choice-required",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    source=_CHOICE,
    when=_demands,
    should_on=K3_MESSAGES,
)
def required_means_a_call(answer: Answer) -> Findings:
    """Where tool_choice requires a call, the answer has one; a search by the server counts where search is offered."""
    if answer.client_calls or (answer.asked.searches and answer.calls):
        return
    _excuse(answer)
    yield Finding(message="no call, though tool_choice requires one", expected="a call", actual=brief(answer.finish))


def _excuse(answer: Answer) -> None:
    """Inconclusive for an answer that did not come to its normal end."""
    if answer.ending is Finish.REFUSAL or parts.refuses(answer):
        raise Inconclusive("the model refused to answer")
    if answer.truncated:
        raise Inconclusive("the answer was cut off by the limit")
    if answer.broken is not None or not answer.complete:
        raise Inconclusive("the answer is not whole")


def _names(answer: Answer) -> bool:
    """An answer to a request whose tool_choice names a declared function."""
    asked = answer.asked
    return answer.ok and asked.choice == "named" and any(tool.name == asked.choice_name for tool in asked.functions)


@rule(
    "tool.choice-named",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    source=cite("chat-all", "#/components/schemas/NamedToolChoice/properties/function"),
    when=_names,
)
def named_function_is_called(answer: Answer) -> Findings:
    """The function that tool_choice names is called, and no other."""
    name = answer.asked.choice_name
    if not any(call.name == name for call in answer.calls):
        if not answer.calls:
            _excuse(answer)
        yield Finding(
            message="the function that tool_choice names is not called",
            pointer="/choices/0/message/tool_calls",
            expected=brief(name),
            actual=[brief(call.name) for call in answer.calls][:20],
        )
        return
    other = next((call for call in answer.calls if call.name != name), None)
    if other is not None:
        yield Finding(
            message="another function is called beside the one that tool_choice names",
            pointer=other.pointer,
            expected=brief(name),
            actual=brief(other.name),
            level=Level.SHOULD,
        )
