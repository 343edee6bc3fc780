"""The text of an answer: it is there, and where clients look for it."""

from __future__ import annotations

from typing import Any

from conformance.protocols.view import Answer, Finish
from conformance.rules import parts
from conformance.rules.past_turns import continues_text
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, cite, rule
from conformance.values import Basis, Finding, Level


def finishes_with_text(answer: Answer) -> bool:
    """An answer that ended normally, without a tool call or a refusal, to a request without stop_sequences.

    One that goes on from the assistant's own last words may have nothing to add.
    """
    return (
        answer.normal
        and answer.ending is Finish.STOP
        and not parts.client_runs(answer)
        and not answer.asked.stop_sequences
        and not parts.refuses(answer)
        and not continues_text(answer.asked)
    )


@rule(
    "body.text-not-empty",
    Level.MUST,
    Basis.PROTOCOL,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatMessage/properties/content"),
        MESSAGES: cite("messages-k31", "#/components/schemas/TextBlock/properties/text"),
        RESPONSES: cite("responses", "Iterate over the output_text content blocks"),
    },
    when=finishes_with_text,
)
def some_text(answer: Answer) -> Findings:
    """An answer that ended normally without a call has some text."""
    pointer = {CHAT: "/choices", MESSAGES: "/content", RESPONSES: "/output"}[answer.protocol]
    holders = _text_holders(answer)
    if not holders:
        yield Finding(
            message="the answer ended normally and has no text",
            pointer=pointer,
            expected="text",
            actual="none",
        )
    elif not "".join(text for _, text in holders).strip():
        yield Finding(
            message="the answer ended normally and its text is empty",
            pointer=holders[0][0],
            expected="text",
            actual=parts.shown(holders[0][1]),
            level=Level.SHOULD,
        )


def _text_holders(answer: Answer) -> list[tuple[str, str]]:
    """Where text stands, and the text: content strings and parts, text blocks, output_text parts."""
    found: list[tuple[str, Any]] = []
    if answer.protocol is CHAT:
        for pointer, message in parts.messages(answer):
            content = message.get("content")
            found.append((f"{pointer}/content", content))
            found += [(f"{p}/text", part.get("text")) for p, part in parts.objects(content, f"{pointer}/content")]
    elif answer.protocol is MESSAGES:
        found = [(f"{p}/text", block.get("text")) for p, block in parts.blocks(answer) if block.get("type") == "text"]
    else:
        found = [(f"{p}/text", part.get("text")) for p, part in parts.content_parts(answer, "output_text")]
    return [(pointer, text) for pointer, text in found if isinstance(text, str)]


@rule(
    "body.answer-findable",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(RESPONSES,),
    source=cite("responses", 'Iterate over the output_text content blocks within type="message" items'),
    when=lambda answer: (
        answer.ok and answer.finish == "completed" and not parts.client_runs(answer) and not parts.refuses(answer)
    ),
    applies="a completed answer without a function call",
)
def message_holds_output_text(answer: Answer) -> Findings:
    """A completed answer has a message item with an output_text part."""
    if not any(isinstance(part.get("text"), str) for _, part in parts.content_parts(answer, "output_text")):
        yield Finding(
            message="no message item has an output_text part, where the documented loop looks for the answer",
            pointer="/output",
            expected="a message item with an output_text part",
            actual=[parts.shown(item.get("type")) for _, item in parts.items(answer)][:20],
        )
