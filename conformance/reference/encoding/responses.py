"""Answers in the Responses format."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

from conformance.reference.encoding.frame import Event, deltas
from conformance.reference.prompts import Prompt
from conformance.reference.results import Finish, Result, Usage

Item = dict[str, Any]
_ECHOED: dict[str, Any] = {
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "truncation": "disabled",
}


def body(prompt: Prompt, result: Result, created: int, sent: dict[str, Any]) -> dict[str, Any]:
    """A response object, completed or incomplete."""
    return _finished(_begun(prompt, created, sent), result, _items(result))


def events(prompt: Prompt, result: Result, created: int, sent: dict[str, Any]) -> list[Event]:
    """response.created to response.completed or response.incomplete, numbered from 0."""
    begun = _begun(prompt, created, sent)
    items = _items(result)
    final = _finished(begun, result, items)
    found: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(items):
        found += _STREAMED[item["type"]](index, item)
    found.append({"type": f"response.{final['status']}", "response": final})
    return [
        Event(name=data["type"], data={"type": data["type"], "sequence_number": number, **data})
        for number, data in enumerate(found)
    ]


def usage(counts: Usage) -> dict[str, Any]:
    """Token counts; the page documents cache reads only."""
    return {
        "input_tokens": counts.input,
        "input_tokens_details": {"cached_tokens": counts.cached},
        "output_tokens": counts.output,
        "output_tokens_details": {"reasoning_tokens": counts.reasoning},
        "total_tokens": counts.input + counts.output,
    }


def _begun(prompt: Prompt, created: int, sent: dict[str, Any]) -> dict[str, Any]:
    """The response before anything was generated; what the request set is echoed where the format has a place."""
    echoed = {key: sent[key] if sent.get(key) is not None else default for key, default in _ECHOED.items()}
    return {
        "id": f"resp_{secrets.token_hex(12)}",
        "object": "response",
        "created_at": created,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "max_output_tokens": sent.get("max_output_tokens"),
        "model": prompt.model,
        "output": [],
        "reasoning": {"effort": prompt.effort, "summary": None},
        "temperature": 1,
        "top_p": 0.95,
        "usage": None,
        **echoed,
    }


def _finished(begun: dict[str, Any], result: Result, items: list[Item]) -> dict[str, Any]:
    cut = result.finish is Finish.LENGTH
    return begun | {
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": items,
        "usage": usage(result.usage),
    }


def _items(result: Result) -> list[Item]:
    """Reasoning, then the message, then calls; the last one is incomplete where the answer was cut off."""
    items: list[Item] = []
    if result.reasoning:
        summary = [{"type": "summary_text", "text": result.reasoning}]
        items.append({"type": "reasoning", "id": _identifier("rs"), "summary": summary, "status": "completed"})
    if result.text or (result.finish is Finish.STOP and not result.calls):
        content = [{"type": "output_text", "text": result.text, "annotations": [], "logprobs": []}]
        message = {"type": "message", "id": _identifier("msg"), "role": "assistant", "status": "completed"}
        items.append({**message, "content": content})
    for call in result.calls:
        item = {"type": "function_call", "id": _identifier("fc"), "call_id": f"call_{call.id}", "name": call.name}
        items.append({**item, "arguments": call.arguments, "status": "completed"})
    if items and result.finish is Finish.LENGTH:
        items[-1]["status"] = "incomplete"
    return items


def _added(index: int, item: Item, **empty: Any) -> dict[str, Any]:
    opened = item | {"status": "in_progress"} | empty
    return {"type": "response.output_item.added", "output_index": index, "item": opened}


def _done(index: int, item: Item) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def _reasoning(index: int, item: Item) -> Iterator[dict[str, Any]]:
    yield _added(index, item, summary=[])
    place = {"item_id": item["id"], "output_index": index, "summary_index": 0}
    part = item["summary"][0]
    yield {"type": "response.reasoning_summary_part.added", **place, "part": part | {"text": ""}}
    for piece in deltas(part["text"]):
        yield {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
    yield {"type": "response.reasoning_summary_text.done", **place, "text": part["text"]}
    yield {"type": "response.reasoning_summary_part.done", **place, "part": part}
    yield _done(index, item)


def _message(index: int, item: Item) -> Iterator[dict[str, Any]]:
    yield _added(index, item, content=[])
    place = {"item_id": item["id"], "output_index": index, "content_index": 0}
    part = item["content"][0]
    yield {"type": "response.content_part.added", **place, "part": part | {"text": ""}}
    for piece in deltas(part["text"]):
        yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}
    yield _done(index, item)


def _call(index: int, item: Item) -> Iterator[dict[str, Any]]:
    yield _added(index, item, arguments="")
    place = {"item_id": item["id"], "output_index": index}
    for piece in deltas(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    done = {"name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.function_call_arguments.done", **place, **done}
    yield _done(index, item)


_STREAMED = {"reasoning": _reasoning, "message": _message, "function_call": _call}


def _identifier(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(12)}"
