"""The arguments of tool calls: JSON, objects, valid under the tool's schema, whole."""

from __future__ import annotations

from conformance.protocols.view import MISSING, Answer, Call
from conformance.rules.json_schemas import Unusable, breach
from conformance.rules.payloads import brief
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Inconclusive, cite, rule
from conformance.rules.tools import declared, has_calls, settled
from conformance.values import Basis, Finding, Level

_ARGUMENTS = {
    CHAT: cite("chat-all", "#/components/schemas/ToolCall/properties/function/properties/arguments"),
    MESSAGES: cite("messages-k31", "#/components/schemas/ToolUseBlock/properties/input"),
    RESPONSES: cite("responses", "may include reasoning, answer text, and tool calls"),
}
_NEAR = 0.05  # of the limit may be left when an answer is cut off
_NEAR_TOKENS = 4


def _place(answer: Answer, call: Call) -> str:
    last = {CHAT: "function/arguments", MESSAGES: "input", RESPONSES: "arguments"}[answer.protocol]
    return f"{call.pointer}/{last}"


def reached_limit(answer: Answer) -> bool:
    """Whether the output tokens are as many as the limit allows, or hardly fewer."""
    limit, usage = answer.asked.limit, answer.usage
    if limit is None or usage is None or usage.output is None:
        return False
    return usage.output >= limit - max(_NEAR_TOKENS, int(limit * _NEAR))


def _cut_call(answer: Answer) -> Call | None:
    """The last call, where its arguments do not parse and the output reached the limit."""
    calls = [call for call in answer.calls if not call.search or answer.protocol is CHAT]
    if not calls or not isinstance(calls[-1].arguments, str) or calls[-1].value is not MISSING:
        return None
    return calls[-1] if reached_limit(answer) else None


@rule(
    "tool.arguments-json",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, RESPONSES),
    source=_ARGUMENTS,
    when=lambda answer: has_calls(answer) and any(not call.server for call in settled(answer)),
    applies="a call, not cut off",
    by_analogy=(RESPONSES,),
)
def arguments_are_a_json_string(answer: Answer) -> Findings:
    """The arguments of a call are a string that parses to a JSON object."""
    cut = _cut_call(answer)
    for call in settled(answer):
        if call.server or call is cut or (isinstance(call.arguments, str) and isinstance(call.value, dict)):
            continue
        fault = "do not parse to an object" if isinstance(call.arguments, str) else "are no string"
        yield Finding(
            message=f"the arguments of a call {fault}",
            pointer=_place(answer, call),
            expected="a string that parses to a JSON object",
            actual=brief(call.arguments),
        )


@rule(
    "tool.input-object",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    source=_ARGUMENTS[MESSAGES],
    when=lambda answer: has_calls(answer) and bool(settled(answer)),
    applies="a call, not cut off",
)
def input_is_an_object(answer: Answer) -> Findings:
    """The input of a tool_use or server_tool_use block is an object."""
    cut = _cut_call(answer)
    for call in settled(answer):
        if isinstance(call.value, dict) or call is cut:
            continue
        if answer.streamed and call.value is MISSING:
            continue  # pieces that do not parse are for stream.messages.tool-json
        yield Finding(
            message="the input of a call is no object",
            pointer=_place(answer, call),
            expected="an object",
            actual=brief(call.value),
        )


def _judged(answer: Answer) -> list[Call]:
    return [
        call
        for call in settled(answer)
        if isinstance(call.value, dict) and (tool := declared(answer, call)) is not None and tool.schema is not None
    ]


@rule(
    "tool.arguments-match-schema",
    Level.SHOULD,
    Basis.DOCUMENTED,
    source={
        CHAT: cite("chat-all", "#/components/schemas/FunctionTool/properties/function/properties/parameters"),
        MESSAGES: cite("messages-k31", "#/components/schemas/Tool/properties/input_schema"),
        RESPONSES: _ARGUMENTS[RESPONSES],
    },
    when=lambda answer: has_calls(answer) and bool(_judged(answer)),
    applies="a call of a tool with a schema, not cut off",
    must_on=(CHAT,),
)
def arguments_fit_the_schema(answer: Answer) -> Findings:
    """The arguments of a call are valid under the schema of its tool; strictly so where the chat tool says strict."""
    unusable: str | None = None
    for call in _judged(answer):
        tool = declared(answer, call)
        if tool is None or tool.schema is None:
            continue
        try:
            fault = breach(tool.schema, call.value)
        except Unusable as reason:
            unusable = str(reason)
            continue
        if fault is not None:
            strict = answer.protocol is CHAT and tool.strict is True
            yield Finding(
                message=f"the arguments of a call are not valid under the tool's schema: {fault.message}",
                pointer=f"{_place(answer, call)}{fault.pointer}",
                expected=brief(fault.expected),
                actual=brief(fault.actual),
                level=Level.MUST if strict else Level.SHOULD,
            )
    if unusable is not None:
        raise Inconclusive(unusable)


def _cuts_call(answer: Answer) -> bool:
    """A call whose arguments do not parse, in an answer whose output reached the limit."""
    visible = answer.streamed if answer.protocol is MESSAGES else True
    return answer.ok and visible and answer.complete and _cut_call(answer) is not None


@rule(
    "tool.cut-off-is-length",
    Level.MUST,
    Basis.PROTOCOL,
    protocols=(CHAT, MESSAGES),
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatCompletionResponse/properties/choices"),
        MESSAGES: cite("messages-k31", "#/components/schemas/MessageResponse/properties/stop_reason"),
    },
    when=_cuts_call,
)
def cut_off_call_ends_in_length(answer: Answer) -> Findings:
    """An answer that the limit cut off within a call says so in its finish."""
    call = _cut_call(answer)
    if call is not None and not answer.truncated:
        yield Finding(
            message="a call is cut off at the limit, and the finish does not say so",
            pointer="/choices/0/finish_reason" if answer.protocol is CHAT else "/stop_reason",
            expected="length" if answer.protocol is CHAT else "max_tokens",
            actual=brief(answer.finish),
        )
