"""Control tokens of chat templates and raw tool-call markup, which no answer may show."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.protocols.view import MISSING, Answer, Call
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, cite, rule
from conformance.values import Basis, Finding, Level

_TOKENS = re.compile(
    r"<\|tool_call[a-z_]*"  # Kimi: <|tool_calls_section_begin|>, <|tool_call_argument_begin|>, …
    r"|<\|im_(?:start|end|middle|user|assistant|system)\|>|<\|media_(?:begin|content|end|pad)\|>"
    r"|<\|(?:endoftext|end_of_text|begin_of_text|eot_id|eom_id|start_header_id|end_header_id|python_tag)\|>"
    r"|<\|(?:channel|constrain|call|return|tool_response|tool_outputs?)\|>"
    r"|</?(?:tool_calls?|function_calls?|tool_response)>"
    r"|<function=[\w.-]+>|<invoke name="
    r"|\[TOOL_CALLS\]|\[/?TOOL_CALL\]|\[/?INST\]"
    r"|<｜tool▁[^｜]{1,40}｜>"
)
_AT_END = re.compile(rf"(?:{_TOKENS.pattern})(?:\|>)?\s*\Z")
_TAIL = 100  # characters of a string in which a marker at its end is looked for
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)  # code may name a token that it means
_SECTION = re.compile(r"\bfunctions\.([\w-]{1,64}):\d+\s*(?:<\||\{)")  # a call of Kimi's template in the open
_CALLS = {
    CHAT: cite("chat-all", "#/components/schemas/ChatMessage/properties/tool_calls"),
    MESSAGES: cite("messages-k31", "#/components/schemas/ToolUseBlock"),
    RESPONSES: cite("responses", "may include reasoning, answer text, and tool calls"),
}


def _offers_tools(answer: Answer) -> bool:
    """An answer to a request with tools, whose prompt holds no such marker."""
    return answer.ok and bool(answer.asked.tools) and _TOKENS.search(answer.asked.prompt) is None


@rule("tool.no-markup-in-text", Level.MUST, Basis.PROTOCOL, source=_CALLS, when=_offers_tools)
def no_markup_leaks(answer: Answer) -> Findings:
    """Text, reasoning and arguments carry no raw tool-call markers or control tokens, but within code."""
    names = {tool.name for tool in answer.asked.functions}
    texts = [_CODE.sub(" ", text) for text in answer.texts]
    reasonings = [_CODE.sub(" ", text) for text in answer.reasonings]
    arguments = [text for call in answer.calls for text in _exposed(call)]
    for what, found_in in (("text", texts), ("reasoning", reasonings), ("arguments", arguments)):
        for text in found_in:
            found = _TOKENS.search(text) or next((m for m in _SECTION.finditer(text) if m[1] in names), None)
            if found is not None:
                yield Finding(
                    message=f"the {what} of the answer holds a control token or raw tool-call markup",
                    pointer=_pointer(answer, what),
                    expected="none",
                    actual=text[max(found.start() - 20, 0) : found.end() + 40],
                )
                break


def _exposed(call: Call) -> Iterator[str]:
    """Where a marker in arguments is a leak: in what does not parse, and at the end of a string.

    Elsewhere it may be part of a file that is to be written, such as a template.
    """
    if call.value is MISSING:
        yield call.arguments if isinstance(call.arguments, str) else ""
    stack = [call.value]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack += value.values()
        elif isinstance(value, list):
            stack += value
        elif isinstance(value, str):
            yield from _AT_END.findall(value[-_TAIL:])


def _pointer(answer: Answer, what: str) -> str:
    if answer.protocol is CHAT:
        name = {"text": "content", "reasoning": "reasoning_content", "arguments": "tool_calls"}[what]
        return f"/choices/0/message/{name}"
    return "/content" if answer.protocol is MESSAGES else "/output"
