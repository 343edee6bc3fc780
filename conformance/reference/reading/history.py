"""What must hold between the messages of a history."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.reference.problems import Problem
from conformance.reference.prompts import PastCall, Prompt, ToolResult


def orphans(prompt: Prompt) -> Iterator[Problem]:
    """Tool results that answer no call made before them.

    A call without a result is no problem: the documents do not forbid it.
    """
    called: set[str] = set()
    for message in prompt.messages:
        for part in message.parts:
            if isinstance(part, PastCall):
                called.add(part.id)
            elif isinstance(part, ToolResult) and part.id not in called:
                words = "a tool result does not match any tool call earlier in the conversation"
                yield Problem(kind="orphan-result", message=words)
