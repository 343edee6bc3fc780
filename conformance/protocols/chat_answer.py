"""Reads a chat.completion body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.protocols.content import Content, Folded, arguments_value, ending_of
from conformance.protocols.fields import Notes, field
from conformance.protocols.view import MISSING, Call, Finish, Usage

SEARCH = "$web_search"
ENDINGS = {
    "stop": Finish.STOP,
    "length": Finish.LENGTH,
    "tool_calls": Finish.TOOL,
    "function_call": Finish.TOOL,
    "content_filter": Finish.REFUSAL,
}


def content(body: dict[str, Any], folded: Folded | None, notes: Notes) -> Content:
    """What a chat answer says: the first choice gives role and finish, every choice its text and calls."""
    texts: list[str] = []
    reasonings: list[str] = []
    calls: list[Call] = []
    choices = [
        notes.mapping(choice, f"/choices/{place}")
        for place, choice in enumerate(notes.items(body.get("choices"), "/choices"))
    ]
    for place, choice in enumerate(choices):
        pointer = f"/choices/{place}/message"
        message = notes.mapping(choice.get("message"), pointer)
        text = _text(message.get("content"), f"{pointer}/content", notes)
        if text is not None:
            texts.append(text)
        reasoning = notes.text(message.get("reasoning_content"), f"{pointer}/reasoning_content")
        if reasoning is not None:
            reasonings.append(reasoning)
        calls += _calls(message, pointer, notes)
        if message.get("function_call") is not None:
            notes.add(f"{pointer}/function_call", "the legacy form of a tool call")
    first = choices[0] if choices else {}
    finish = field(first, "finish_reason")
    usage_event = folded.usage_event if folded else None
    return Content(
        id=field(body, "id"),
        type=folded.type if folded else field(body, "object"),
        created=field(body, "created"),
        answer_model=field(body, "model"),
        role=field(first.get("message"), "role"),
        finish=finish,
        ending=ending_of(finish, ENDINGS),
        texts=tuple(texts),
        reasonings=tuple(reasonings),
        calls=tuple(calls),
        usage=usage(body.get("usage"), "/usage" if usage_event is None else f"event {usage_event}", notes),
        usage_raw=field(body, "usage"),
    )


def usage(value: object, pointer: str, notes: Notes) -> Usage | None:
    """The counts of a chat usage object; None where there is no object."""
    raw = notes.mapping(value, pointer)
    if not isinstance(value, dict):
        return None
    at = pointer if pointer.startswith("/") else f"{pointer}/usage"
    before = notes.mapping(raw.get("prompt_tokens_details"), f"{at}/prompt_tokens_details")
    after = notes.mapping(raw.get("completion_tokens_details"), f"{at}/completion_tokens_details")
    return Usage(
        raw=raw,
        pointer=pointer,
        input=notes.count(field(raw, "prompt_tokens"), f"{at}/prompt_tokens"),
        output=notes.count(field(raw, "completion_tokens"), f"{at}/completion_tokens"),
        total=notes.count(field(raw, "total_tokens"), f"{at}/total_tokens"),
        cached=notes.count(field(before, "cached_tokens"), f"{at}/prompt_tokens_details/cached_tokens"),
        written=notes.count(field(before, "cache_write_tokens"), f"{at}/prompt_tokens_details/cache_write_tokens"),
        reasoning=notes.count(field(after, "reasoning_tokens"), f"{at}/completion_tokens_details/reasoning_tokens"),
    )


def _text(value: object, pointer: str, notes: Notes) -> str | None:
    if not isinstance(value, list):
        return notes.text(value, pointer)
    pieces = [notes.text(field(part, "text"), f"{pointer}/{place}/text") for place, part in enumerate(value)]
    known = [piece for piece in pieces if piece is not None]
    return "".join(known) if known else None


def _calls(message: dict[str, Any], pointer: str, notes: Notes) -> Iterator[Call]:
    for place, item in enumerate(notes.items(message.get("tool_calls"), f"{pointer}/tool_calls")):
        at = f"{pointer}/tool_calls/{place}"
        call = notes.mapping(item, at)
        function = notes.mapping(call.get("function"), f"{at}/function")
        name = field(function, "name")
        arguments = field(function, "arguments")
        yield Call(
            pointer=at,
            id=field(call, "id"),
            name=name,
            type=field(call, "type"),
            arguments=arguments,
            value=arguments_value(arguments) if arguments is not MISSING else MISSING,
            search=name == SEARCH,
        )
