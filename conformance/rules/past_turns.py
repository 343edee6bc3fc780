"""Whether a request continues a conversation, and whether the conversation that it carries holds together."""

from __future__ import annotations

from typing import Any

from conformance.protocols.chat import SEARCH
from conformance.protocols.view import Asked
from conformance.rules.history import blocks, turns
from conformance.rules.payloads import entries, members
from conformance.rules.registry import CHAT, RESPONSES


def results(turn: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool_result blocks of a messages turn."""
    return [block for block in blocks(turn) if block.get("type") == "tool_result"]


def goes_on(asked: Asked) -> bool:
    """Whether the request holds anything but system and user messages of its own: an answer, a call or a result."""
    return any(
        turn.get("role") in ("assistant", "tool")
        or bool(results(turn))
        or (asked.protocol is RESPONSES and turn.get("type", "message") != "message")
        for turn in turns(asked)
    )


def continues_text(asked: Asked) -> bool:
    """Whether the last message is the assistant's, so that the answer goes on in the middle of its text."""
    said = turns(asked)
    return bool(said) and said[-1].get("role") == "assistant"


def echoes_search(asked: Asked) -> bool:
    """Whether a chat request sends a web search back, whose results the server then adds to the prompt."""
    calls = (call for turn in turns(asked) for call in entries(turn.get("tool_calls")))
    return asked.protocol is CHAT and any(
        members(members(call).get("function")).get("name") == SEARCH for call in calls
    )


def orphans(asked: Asked) -> list[str]:
    """The ids of tool results that match no call before them; results without an id are left out."""
    known: set[object] = set()
    found: list[str] = []
    for turn in turns(asked):
        if asked.protocol is CHAT:
            calls = turn.get("tool_calls")
            given = [turn.get("tool_call_id")] if turn.get("role") == "tool" else []
            made = [call.get("id") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
        else:
            given = [block.get("tool_use_id") for block in results(turn)]
            made = [b.get("id") for b in blocks(turn) if b.get("type") in ("tool_use", "server_tool_use")]
        found += [name for name in given if isinstance(name, str) and name not in known]
        known.update(name for name in made if isinstance(name, str))
    return found
