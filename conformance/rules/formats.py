"""Structured output: the text is the JSON that the request asked for."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.models import MODELS
from conformance.protocols.json_text import read_text
from conformance.protocols.view import MISSING, Answer, Finish
from conformance.rules import parts
from conformance.rules.json_schemas import Unusable, breach
from conformance.rules.past_turns import continues_text
from conformance.rules.payloads import brief, words
from conformance.rules.registry import CHAT, MESSAGES, Findings, Inconclusive, cite, rule
from conformance.values import Basis, Finding, Level


def _ended(answer: Answer) -> bool:
    """Whether the answer is whole: it came to its normal end, and does not go on from words of the request."""
    return (
        answer.normal
        and not continues_text(answer.asked)
        and answer.ending is Finish.STOP
        and not answer.client_calls
        and not answer.asked.stop_sequences
        and not parts.refuses(answer)
    )


def _texts(answer: Answer) -> Iterator[tuple[str, str]]:
    """Each text that must be JSON, and where it stands: one a choice on chat, all blocks together on messages.

    What stands before a search by the server announces the search; what follows the last one may be cited in pieces.
    """
    if answer.protocol is CHAT and len(answer.texts) > 1:
        yield from ((f"/choices/{place}/message/content", text) for place, text in enumerate(answer.texts))
    elif answer.protocol is CHAT:
        yield "/choices/0/message/content", answer.text
    else:
        blocks = [block for _, block in parts.blocks(answer)]
        last = max((n for n, block in enumerate(blocks) if block.get("type") == "web_search_tool_result"), default=-1)
        texts = (words(block.get("text")) for block in blocks[last + 1 :] if block.get("type") == "text")
        yield "/content", "".join(texts)


def _asks_for_object(answer: Answer) -> bool:
    """An answer to response_format json_object that ended normally, without a call."""
    return answer.asked.format == "json_object" and _ended(answer)


@rule(
    "format.json-object",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    source=cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/response_format/properties/type"),
    when=_asks_for_object,
)
def content_is_an_object(answer: Answer) -> Findings:
    """Under json_object the content parses to a JSON object, with nothing around it."""
    for pointer, text in _texts(answer):
        value = read_text(text).value
        if not isinstance(value, dict):
            yield Finding(
                message="the content is no JSON object"
                if value is not MISSING
                else "the content does not parse as JSON",
                pointer=pointer,
                expected="a JSON object",
                actual=brief(text),
            )


def _asks_for_schema(answer: Answer) -> bool:
    """An answer to a request with a JSON Schema for its output that ended normally, without a call."""
    asked = answer.asked
    given = asked.format == "json_schema" and asked.format_schema is not None
    return given and answer.protocol in MODELS[answer.model].structured_output and _ended(answer)


@rule(
    "format.json-schema",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    not_on=((MESSAGES, "kimi-k3"),),  # the ledger: messages k31 only
    source={
        CHAT: cite(
            "chat-all", "#/components/schemas/ChatCompletionRequest/properties/response_format/properties/json_schema"
        ),
        MESSAGES: cite(
            "messages-k31", "#/components/schemas/CreateMessageRequest/properties/output_config/properties/format"
        ),
    },
    when=_asks_for_schema,
)
def text_follows_the_schema(answer: Answer) -> Findings:
    """The text parses as JSON and is valid under the schema that was sent."""
    schema = answer.asked.format_schema
    loose = answer.protocol is CHAT and answer.asked.format_strict is False
    for pointer, text in _texts(answer):
        value = read_text(text).value
        if value is MISSING:
            yield Finding(
                message="the text does not parse as JSON",
                pointer=pointer,
                expected="JSON that is valid under the schema",
                actual=brief(text),
                level=Level.SHOULD if loose else None,
            )
            continue
        try:
            fault = breach(schema or {}, value)
        except Unusable as reason:
            raise Inconclusive(str(reason)) from None
        if fault is not None:
            yield Finding(
                message=f"the text is not valid under the schema, at {fault.pointer or 'its root'}: {fault.message}",
                pointer=pointer,
                expected=brief(fault.expected),
                actual=brief(fault.actual),
                level=Level.SHOULD if loose else None,
            )
