"""Answers in the Chat Completions format."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

from conformance.models import MODELS
from conformance.reference.encoding.frame import Event, deltas
from conformance.reference.prompts import Prompt
from conformance.reference.results import Call, Finish, Result, Usage

_REASONS = {Finish.STOP: "stop", Finish.LENGTH: "length", Finish.CALLS: "tool_calls"}


def body(prompt: Prompt, result: Result, created: int, _sent: dict[str, Any]) -> dict[str, Any]:
    """A chat.completion object."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if result.calls and not result.text else result.text,
        "reasoning_content": result.reasoning,
    }
    if result.calls:
        message["tool_calls"] = [_call(call) for call in result.calls]
    return {
        "id": _identifier(),
        "object": "chat.completion",
        "created": created,
        "model": prompt.model,
        "choices": [{"index": 0, "message": message, "finish_reason": _REASONS[result.finish]}],
        "usage": usage(prompt, result.usage),
    }


def events(prompt: Prompt, result: Result, created: int, _sent: dict[str, Any]) -> list[Event]:
    """chat.completion.chunk objects and ``[DONE]``; usage is in a chunk of its own when asked for, else in the last."""
    head = {"id": _identifier(), "object": "chat.completion.chunk", "created": created, "model": prompt.model}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    chunks = [chunk(delta) for delta in _deltas(result)]
    last = chunk({}, _REASONS[result.finish])
    total = {"usage": usage(prompt, result.usage)}
    tail = [last, {**head, "choices": [], **total}] if prompt.usage_chunk else [{**last, **total}]
    return [*(Event(data=data) for data in (*chunks, *tail)), Event(data="[DONE]")]


def usage(prompt: Prompt, counts: Usage) -> dict[str, Any]:
    """ChatUsage; kimi-k3 does not separate cache writes."""
    details = {"cached_tokens": counts.cached}
    if MODELS[prompt.model].cache_ttl:
        details["cache_write_tokens"] = counts.written
    return {
        "prompt_tokens": counts.input,
        "completion_tokens": counts.output,
        "total_tokens": counts.input + counts.output,
        "prompt_tokens_details": details,
        "completion_tokens_details": {"reasoning_tokens": counts.reasoning},
    }


def _deltas(result: Result) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in deltas(result.reasoning):
        yield {"reasoning_content": piece}
    for piece in deltas(result.text):
        yield {"content": piece}
    for index, call in enumerate(result.calls):
        start = _call(call)
        start["function"]["arguments"] = ""
        yield {"tool_calls": [{"index": index, **start}]}
        for piece in deltas(call.arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _call(call: Call) -> dict[str, Any]:
    return {
        "id": f"call_{call.id}",
        "type": "builtin_function" if call.builtin else "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def _identifier() -> str:
    return f"chatcmpl-{secrets.token_hex(12)}"
