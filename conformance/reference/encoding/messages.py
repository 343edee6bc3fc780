"""Answers in the Messages format."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Iterator
from typing import Any

from conformance.models import MODELS
from conformance.reference.encoding.frame import Event, deltas
from conformance.reference.encoding.partial import object_so_far
from conformance.reference.prompts import Prompt
from conformance.reference.results import Finish, Result, Usage

_REASONS = {Finish.STOP: "end_turn", Finish.LENGTH: "max_tokens", Finish.CALLS: "tool_use"}
Block = tuple[dict[str, Any], list[dict[str, Any]]]  # as JSON has it, and the deltas that stream it


def body(prompt: Prompt, result: Result, _created: int, _sent: dict[str, Any]) -> dict[str, Any]:
    """A message object."""
    return {
        **_message(prompt),
        "content": [block for block, _ in _blocks(result)],
        "stop_reason": _REASONS[result.finish],
        "stop_sequence": None,
        "usage": usage(prompt, result.usage),
    }


def events(prompt: Prompt, result: Result, _created: int, _sent: dict[str, Any]) -> list[Event]:
    """message_start, each block from start to stop, message_delta and message_stop."""
    total = usage(prompt, result.usage)
    begun = {key: value for key, value in total.items() if key not in ("output_tokens_details", "server_tool_use")}
    start = {
        **_message(prompt),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": begun | {"output_tokens": 0},
    }
    found: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, (block, changes) in enumerate(_blocks(result)):
        found.append({"type": "content_block_start", "index": index, "content_block": _opened(block)})
        found += [{"type": "content_block_delta", "index": index, "delta": change} for change in changes]
        found.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": _REASONS[result.finish], "stop_sequence": None}
    found += [{"type": "message_delta", "delta": delta, "usage": total}, {"type": "message_stop"}]
    return [Event(name=data["type"], data=data) for data in found]


def usage(prompt: Prompt, counts: Usage) -> dict[str, Any]:
    """MessageUsage: three exclusive input categories; kimi-k3 counts cache writes as ordinary input."""
    written = counts.written if MODELS[prompt.model].cache_ttl else 0
    return {
        "input_tokens": counts.input - counts.cached - written,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": counts.cached,
        "output_tokens": counts.output,
        "output_tokens_details": {"thinking_tokens": counts.reasoning},
        "cache_creation": {
            "ephemeral_5m_input_tokens": written if counts.ttl == "5m" else 0,
            "ephemeral_1h_input_tokens": written if counts.ttl == "1h" else 0,
        },
        "server_tool_use": {"web_search_requests": counts.searches},
    }


def signature(thinking: str) -> str:
    """The signature of a thinking block."""
    return base64.b64encode(
        hashlib.blake2b(thinking.encode(), digest_size=48, person=b"kimi-reference").digest()
    ).decode()


def _message(prompt: Prompt) -> dict[str, Any]:
    return {"id": f"msg_{secrets.token_hex(12)}", "type": "message", "role": "assistant", "model": prompt.model}


def _blocks(result: Result) -> Iterator[Block]:
    if result.reasoning:
        seal = signature(result.reasoning)
        thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in deltas(result.reasoning)]
        block = {"type": "thinking", "thinking": result.reasoning, "signature": seal}
        yield block, [*thoughts, {"type": "signature_delta", "signature": seal}]
    for search in result.searches:
        name, query = f"srvtoolu_{search.id}", {"query": search.query}
        use = {"type": "server_tool_use", "id": name, "name": "web_search", "input": query}
        yield use, _pieces(json.dumps(query, ensure_ascii=False))
        yield {"type": "web_search_tool_result", "tool_use_id": name, "content": list(search.results)}, []
    if result.text or (result.finish is Finish.STOP and not result.calls):
        yield (
            {"type": "text", "text": result.text},
            [{"type": "text_delta", "text": part} for part in deltas(result.text)],
        )
    for call in result.calls:
        call_block = {
            "type": "tool_use",
            "id": f"toolu_{call.id}",
            "name": call.name,
            "input": object_so_far(call.arguments),
        }
        yield call_block, _pieces(call.arguments)


def _pieces(arguments: str) -> list[dict[str, Any]]:
    return [{"type": "input_json_delta", "partial_json": piece} for piece in deltas(arguments)]


def _opened(block: dict[str, Any]) -> dict[str, Any]:
    """A block before its deltas; search results come whole."""
    empty: dict[str, dict[str, Any]] = {
        "thinking": {"thinking": "", "signature": ""},
        "text": {"text": ""},
        "tool_use": {"input": {}},
        "server_tool_use": {"input": {}},
    }
    return block | empty.get(block["type"], {})
