"""Reads a response body."""

from __future__ import annotations

from typing import Any

from conformance.protocols.content import Content, Folded, arguments_value
from conformance.protocols.fields import Notes, field
from conformance.protocols.view import MISSING, Call, Finish, Usage

_UNFINISHED = ("in_progress", "queued")
_REASONS = {"max_output_tokens": Finish.LENGTH, "content_filter": Finish.REFUSAL}


def content(body: dict[str, Any], folded: Folded | None, notes: Notes) -> Content:
    """What a response says, item by item; its role is that of the first message item."""
    texts: list[str] = []
    reasonings: list[str] = []
    calls: list[Call] = []
    role: object = MISSING
    for place, value in enumerate(notes.items(body.get("output"), "/output")):
        pointer = f"/output/{place}"
        item = notes.mapping(value, pointer)
        kind = item.get("type")
        if kind == "message":
            role = field(item, "role") if role is MISSING else role
            texts += _parts(item.get("content"), f"{pointer}/content", "output_text", notes)
        elif kind == "reasoning":
            reasonings += _parts(item.get("summary"), f"{pointer}/summary", "summary_text", notes)
            reasonings += _parts(item.get("content"), f"{pointer}/content", "reasoning_text", notes)
        elif kind == "function_call" or (isinstance(kind, str) and kind.endswith("_call")):
            calls.append(_call(item, pointer))
    usage_event = folded.usage_event if folded else None
    return Content(
        id=field(body, "id"),
        type=field(body, "object"),
        created=field(body, "created_at"),
        answer_model=field(body, "model"),
        role=role,
        finish=field(body, "status"),
        ending=_ending(body, calls, complete=folded is None or folded.complete),
        texts=tuple(texts),
        reasonings=tuple(reasonings),
        calls=tuple(calls),
        usage=usage(body.get("usage"), "/usage" if usage_event is None else f"event {usage_event}", notes),
        usage_raw=field(body, "usage"),
    )


def usage(value: object, pointer: str, notes: Notes) -> Usage | None:
    """The counts of a responses usage object; None where there is no object."""
    at = pointer if pointer.startswith("/") else f"{pointer}/response/usage"
    raw = notes.mapping(value, at)
    if not isinstance(value, dict):
        return None
    before = notes.mapping(raw.get("input_tokens_details"), f"{at}/input_tokens_details")
    after = notes.mapping(raw.get("output_tokens_details"), f"{at}/output_tokens_details")
    return Usage(
        raw=raw,
        pointer=pointer,
        input=notes.count(field(raw, "input_tokens"), f"{at}/input_tokens"),
        output=notes.count(field(raw, "output_tokens"), f"{at}/output_tokens"),
        total=notes.count(field(raw, "total_tokens"), f"{at}/total_tokens"),
        cached=notes.count(field(before, "cached_tokens"), f"{at}/input_tokens_details/cached_tokens"),
        reasoning=notes.count(field(after, "reasoning_tokens"), f"{at}/output_tokens_details/reasoning_tokens"),
    )


def _parts(value: object, pointer: str, kind: str, notes: Notes) -> list[str]:
    texts = []
    for place, part in enumerate(notes.items(value, pointer)):
        fields = notes.mapping(part, f"{pointer}/{place}")
        if fields.get("type") == kind:
            text = notes.text(fields.get("text"), f"{pointer}/{place}/text")
            if text is not None:
                texts.append(text)
    return texts


def _call(item: dict[str, Any], pointer: str) -> Call:
    server = item.get("type") != "function_call"
    arguments = field(item, "arguments")
    return Call(
        pointer=pointer,
        id=field(item, "id" if server else "call_id"),
        name=field(item, "name"),
        type=field(item, "type"),
        arguments=arguments,
        value=arguments_value(arguments),
        server=server,
        search=item.get("type") == "web_search_call",
        item_id=field(item, "id"),
    )


def _ending(body: dict[str, Any], calls: list[Call], *, complete: bool) -> Finish | None:
    status = body.get("status")
    if status is None or (status in _UNFINISHED and not complete):
        return None
    if status == "completed":
        return Finish.STOP if all(call.server for call in calls) else Finish.TOOL
    if status == "incomplete":
        reason = field(body.get("incomplete_details"), "reason")
        return _REASONS.get(reason, Finish.OTHER) if isinstance(reason, str) else Finish.OTHER
    return Finish.FAILED if status == "failed" else Finish.OTHER
