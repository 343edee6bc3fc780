"""Control tokens of chat templates and raw tool-call markup, which no answer may show."""

from __future__ import annotations

import json
import re

from conformance.protocols.view import Answer
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, cite, rule
from conformance.values import Basis, Finding, Level

_TOKENS = re.compile(
    r"<\|tool_call[a-z_]*"  # Kimi: <|tool_calls_section_begin|>, <|tool_call_argument_begin|>, …
    r"|<\|im_(?:start|end|middle|user|assistant|system)\|>"
    r"|<\|(?:endoftext|end_of_text|begin_of_text|eot_id|eom_id|start_header_id|end_header_id|python_tag)\|>"
    r"|<\|(?:channel|constrain|call|return|tool_response|tool_outputs?)\|>"
    r"|</?(?:tool_calls?|function_calls?|tool_response)>"
    r"|<function=[\w.-]+>|<invoke name="
    r"|\[TOOL_CALLS\]|\[/?TOOL_CALL\]|\[/?INST\]"
    r"|<｜tool▁[^｜]{1,40}｜>"
)
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
    """Text, reasoning and arguments carry no raw tool-call markers or control tokens."""
    names = {tool.name for tool in answer.asked.functions}
    arguments = [_written(call.arguments) for call in answer.calls]
    for what, texts in (("text", answer.texts), ("reasoning", answer.reasonings), ("arguments", arguments)):
        for text in texts:
            found = _TOKENS.search(text) or next((m for m in _SECTION.finditer(text) if m[1] in names), None)
            if found is not None:
                yield Finding(
                    message=f"the {what} of the answer holds a control token or raw tool-call markup",
                    pointer=_pointer(answer, what),
                    expected="none",
                    actual=text[max(found.start() - 20, 0) : found.end() + 40],
                )
                break


def _written(arguments: object) -> str:
    """Arguments as text; the input of a messages call comes as an object."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict) else ""


def _pointer(answer: Answer, what: str) -> str:
    if answer.protocol is CHAT:
        name = {"text": "content", "reasoning": "reasoning_content", "arguments": "tool_calls"}[what]
        return f"/choices/0/message/{name}"
    return "/content" if answer.protocol is MESSAGES else "/output"
