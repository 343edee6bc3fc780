"""What faults ask of a conversation: whether its history holds calls, results, reasoning or searches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.reference.faults.terms import TURNS, sent
from conformance.reference.hooks import Context
from conformance.reference.problems import Problem
from conformance.values import Protocol

Turn = dict[str, Any]
Problems = list[Problem]


def unless(problems: Problems, accepted: bool, words: str) -> Problems:
    """The problems, and one more unless something else is accepted."""
    return problems if accepted else [*problems, Problem(kind="unsupported", message=words)]


def turns(context: Context) -> list[Turn]:
    """The messages, or input items, of a request."""
    found = sent(context, TURNS[context.protocol])
    return [turn for turn in found if isinstance(turn, dict)] if isinstance(found, list) else []


def blocks(turn: Turn) -> list[Turn]:
    """The content blocks of a turn."""
    content = turn.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def results(context: Context) -> list[Turn]:
    """The tool results that a request ends with."""
    found: list[Turn] = []
    for turn in reversed(turns(context)):
        inner = [block for block in blocks(turn) if block.get("type") == "tool_result"]
        if turn.get("role") == "tool" or turn.get("type") == "function_call_output":
            inner = [turn]
        if not inner:
            break
        found += inner
    return found


def said(context: Context) -> list[Turn]:
    """The turns of a history that the model wrote."""
    own = ("reasoning", "function_call")
    return [turn for turn in turns(context) if turn.get("role") == "assistant" or turn.get("type") in own]


def reasoned(context: Context) -> bool:
    """Whether a history holds reasoning of the model."""
    return any(
        turn.get("reasoning_content")
        or turn.get("type") == "reasoning"
        or any(block.get("type") == "thinking" for block in blocks(turn))
        for turn in said(context)
    )


def called(context: Context) -> Iterator[Turn]:
    """The calls in a history."""
    for turn in said(context):
        if context.protocol is Protocol.CHAT:
            yield from turn.get("tool_calls") or []
        elif context.protocol is Protocol.MESSAGES:
            yield from (block for block in blocks(turn) if block.get("type") == "tool_use")
        elif turn.get("type") == "function_call":
            yield turn


def searched(context: Context) -> bool:
    """Whether a history holds a search by the server."""
    return any(block.get("type") == "server_tool_use" for turn in said(context) for block in blocks(turn))
