"""Tool calls one by one: their names, ids and types, and when there may be none."""

from __future__ import annotations

from collections import Counter

from conformance.models import K3
from conformance.protocols.view import Answer, Call, Tool
from conformance.rules.history import call_ids
from conformance.rules.payloads import brief, is_filled
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, cite, rule
from conformance.values import Basis, Finding, Level

CALLS = {
    CHAT: cite("chat-all", "#/components/schemas/ToolCall"),
    MESSAGES: cite("messages-k31", "#/components/schemas/ToolUseBlock"),
    RESPONSES: cite("responses", "may include reasoning, answer text, and tool calls"),
}
DECLARED = {
    CHAT: cite("chat-all", "#/components/schemas/FunctionTool/properties/function"),
    MESSAGES: cite("messages-k31", "#/components/schemas/CreateMessageRequest/properties/tools"),
    RESPONSES: CALLS[RESPONSES],
}
K3_MESSAGES = tuple((MESSAGES, model) for model in K3)
_TYPES = ("function", "builtin_function")


def has_calls(answer: Answer) -> bool:
    """An answer with a tool call."""
    return answer.ok and bool(answer.calls)


def settled(answer: Answer) -> tuple[Call, ...]:
    """The calls that must be whole: all of them, but the last one of an answer that was cut off."""
    cut = answer.truncated or answer.broken is not None or not answer.complete
    return answer.calls[:-1] if cut else answer.calls


def declared(answer: Answer, call: Call) -> Tool | None:
    """The tool that the request declares under the name of a call."""
    return answer.asked.tools_by_name.get(call.name) if isinstance(call.name, str) else None


def calls_declared(answer: Answer) -> bool:
    """A tool call, and tools in the request."""
    return has_calls(answer) and bool(answer.asked.tools)


@rule("tool.declared-only", Level.MUST, Basis.PROTOCOL, source=DECLARED, when=calls_declared)
def called_tools_are_declared(answer: Answer) -> Findings:
    """The name of a called tool is one that the request declares."""
    for call in answer.calls:
        if call.server and answer.protocol is RESPONSES:
            unnamed = answer.asked.searches or any(tool.name is None for tool in answer.asked.tools)
            known = unnamed or declared(answer, call) is not None
        else:
            tool = declared(answer, call)
            known = tool is not None and (tool.search or not call.server)
        if not known:
            yield Finding(
                message="a call of a tool that the request does not declare",
                pointer=f"{call.pointer}{_name(answer)}",
                expected=[tool.name for tool in answer.asked.tools if tool.name][:20],
                actual=brief(call.name),
            )


def _name(answer: Answer) -> str:
    return "/function/name" if answer.protocol is CHAT else "/name"


def _no_tools(answer: Answer) -> bool:
    """An answer to a request without tools."""
    body = answer.asked.body
    return answer.ok and answer.asked.malformed is None and not body.get("tools") and "functions" not in body


@rule("tool.none-declared", Level.MUST, Basis.PROTOCOL, source=DECLARED, when=_no_tools)
def nothing_is_called_without_tools(answer: Answer) -> Findings:
    """An answer to a request without tools calls none."""
    for call in answer.calls[:1]:
        yield Finding(
            message="a call in the answer to a request without tools",
            pointer=call.pointer,
            expected="no call",
            actual=brief(call.name),
        )


@rule("tool.ids", Level.MUST, Basis.DOCUMENTED, source=CALLS, when=has_calls, by_analogy=(RESPONSES,))
def calls_have_ids(answer: Answer) -> Findings:
    """Every call has an id that is a string and not empty."""
    for call in answer.calls:
        if not is_filled(call.id):
            name = "call_id" if answer.protocol is RESPONSES and not call.server else "id"
            yield Finding(
                message="a call without an id",
                pointer=f"{call.pointer}/{name}",
                expected="a string that is not empty",
                actual=brief(call.id),
            )


@rule(
    "tool.type",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    source=cite("chat-all", "#/components/schemas/ToolCall/properties/type"),
    when=has_calls,
)
def calls_are_typed(answer: Answer) -> Findings:
    """A call of a declared function is of type function, one of $web_search of type builtin_function."""
    for call in answer.calls:
        tool = declared(answer, call)
        expected = "builtin_function" if call.search else "function"
        if call.type == expected or (tool is None and call.type in _TYPES):
            continue
        yield Finding(
            message=f"a call of {'web search' if call.search else 'a function'} of another type",
            pointer=f"{call.pointer}/type",
            expected=expected,
            actual=brief(call.type),
            level=Level.SHOULD if call.search and call.type in _TYPES else None,
        )


@rule("tool.no-duplicates", Level.MUST, Basis.PROTOCOL, source=CALLS, when=has_calls)
def ids_are_not_reused(answer: Answer) -> Findings:
    """No call id occurs twice in an answer, and none is taken that an earlier call of the conversation has."""
    earlier = call_ids(answer.asked)
    counts: Counter[str] = Counter()
    for call in answer.calls:
        if not is_filled(call.id):
            continue
        counts[call.id] += 1
        if counts[call.id] == 2:
            yield Finding(
                message="two calls of one answer have the same id",
                pointer=call.pointer,
                expected="another id",
                actual=brief(call.id),
            )
    for call in answer.calls:
        if is_filled(call.id) and call.id in earlier:
            yield Finding(
                message="a call has the id of an earlier call of the conversation",
                pointer=call.pointer,
                expected="another id",
                actual=brief(call.id),
                level=Level.SHOULD,
            )
