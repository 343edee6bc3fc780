"""Reads a message body."""

from __future__ import annotations

from typing import Any

from conformance.protocols.content import Content, Folded, arguments_value, ending_of
from conformance.protocols.fields import Notes, field
from conformance.protocols.view import Call, Finish, SearchResult, Usage

ENDINGS = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "tool_use": Finish.TOOL,
    "refusal": Finish.REFUSAL,
}


def content(body: dict[str, Any], folded: Folded | None, notes: Notes) -> Content:
    """What a message says, block by block."""
    texts: list[str] = []
    reasonings: list[str] = []
    calls: list[Call] = []
    results: list[SearchResult] = []
    pieces = folded.pieces if folded else {}
    for place, item in enumerate(notes.items(body.get("content"), "/content")):
        pointer = f"/content/{place}"
        block = notes.mapping(item, pointer)
        kind = block.get("type")
        if kind in ("text", "thinking"):
            text = notes.text(block.get(kind), f"{pointer}/{kind}")
            if text is not None:
                (texts if kind == "text" else reasonings).append(text)
        elif kind in ("tool_use", "server_tool_use"):
            calls.append(_call(block, pointer, pieces.get(pointer)))
        elif kind == "web_search_tool_result":
            found = field(block, "content")
            results.append(
                SearchResult(
                    pointer=pointer, use_id=field(block, "tool_use_id"), content=found, failed=isinstance(found, dict)
                )
            )
    finish = field(body, "stop_reason")
    usage_event = folded.usage_event if folded else None
    return Content(
        id=field(body, "id"),
        type=field(body, "type"),
        answer_model=field(body, "model"),
        role=field(body, "role"),
        finish=finish,
        ending=ending_of(finish, ENDINGS),
        texts=tuple(texts),
        reasonings=tuple(reasonings),
        calls=tuple(calls),
        results=tuple(results),
        usage=usage(body.get("usage"), "/usage" if usage_event is None else f"event {usage_event}", notes),
        usage_raw=field(body, "usage"),
    )


def usage(value: object, pointer: str, notes: Notes) -> Usage | None:
    """The counts of a messages usage object; None where there is no object."""
    raw = notes.mapping(value, pointer)
    if not isinstance(value, dict):
        return None
    at = pointer if pointer.startswith("/") else f"{pointer}/usage"
    plain = notes.count(field(raw, "input_tokens"), f"{at}/input_tokens")
    written = notes.count(field(raw, "cache_creation_input_tokens"), f"{at}/cache_creation_input_tokens")
    cached = notes.count(field(raw, "cache_read_input_tokens"), f"{at}/cache_read_input_tokens")
    parts = [part for part in (plain, written, cached) if part is not None]
    split = notes.mapping(raw.get("cache_creation"), f"{at}/cache_creation")
    details = notes.mapping(raw.get("output_tokens_details"), f"{at}/output_tokens_details")
    tools = notes.mapping(raw.get("server_tool_use"), f"{at}/server_tool_use")
    return Usage(
        raw=raw,
        pointer=pointer,
        input=sum(parts) if parts else None,
        plain=plain,
        output=notes.count(field(raw, "output_tokens"), f"{at}/output_tokens"),
        cached=cached,
        written=written,
        written_5m=notes.count(
            field(split, "ephemeral_5m_input_tokens"), f"{at}/cache_creation/ephemeral_5m_input_tokens"
        ),
        written_1h=notes.count(
            field(split, "ephemeral_1h_input_tokens"), f"{at}/cache_creation/ephemeral_1h_input_tokens"
        ),
        reasoning=notes.count(field(details, "thinking_tokens"), f"{at}/output_tokens_details/thinking_tokens"),
        searches=notes.count(field(tools, "web_search_requests"), f"{at}/server_tool_use/web_search_requests"),
    )


def _call(block: dict[str, Any], pointer: str, pieces: str | None) -> Call:
    kind, name, given = field(block, "type"), field(block, "name"), field(block, "input")
    server = kind == "server_tool_use"
    return Call(
        pointer=pointer,
        id=field(block, "id"),
        name=name,
        type=kind,
        arguments=given if pieces is None else pieces,
        value=given if pieces is None else arguments_value(pieces),
        server=server,
        search=server and name == "web_search",
    )
