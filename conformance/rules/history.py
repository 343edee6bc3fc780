"""What a request's history holds, in the terms of the view: calls, results, and turns sent back unchanged."""

from __future__ import annotations

from typing import Any

from conformance.protocols.view import Asked
from conformance.rules.payloads import entries, members
from conformance.values import Protocol


def turns(asked: Asked) -> list[dict[str, Any]]:
    """The messages, or input items, of a request."""
    found = asked.body.get("input" if asked.protocol is Protocol.RESPONSES else "messages")
    return [item for item in entries(found) if isinstance(item, dict)]


def blocks(turn: dict[str, Any]) -> list[dict[str, Any]]:
    """The content blocks of a message; none where its content is a string."""
    return [block for block in entries(turn.get("content")) if isinstance(block, dict)]


def call_ids(asked: Asked) -> frozenset[str]:
    """The ids of the calls that earlier answers of the conversation made."""
    found: list[object] = []
    for turn in turns(asked):
        if asked.protocol is Protocol.CHAT:
            found += [members(call).get("id") for call in entries(turn.get("tool_calls"))]
        elif asked.protocol is Protocol.MESSAGES:
            found += [block.get("id") for block in blocks(turn) if block.get("type") in ("tool_use", "server_tool_use")]
        elif turn.get("type") == "function_call":
            found.append(turn.get("call_id"))
    return frozenset(name for name in found if isinstance(name, str))


def result_ids(asked: Asked) -> frozenset[str]:
    """The ids of the calls whose results the request holds."""
    found: list[object] = []
    for turn in turns(asked):
        if asked.protocol is Protocol.CHAT and turn.get("role") == "tool":
            found.append(turn.get("tool_call_id"))
        elif asked.protocol is Protocol.MESSAGES:
            found += [block.get("tool_use_id") for block in blocks(turn) if block.get("type") == "tool_result"]
        elif turn.get("type") == "function_call_output":
            found.append(turn.get("call_id"))
    return frozenset(name for name in found if isinstance(name, str))
