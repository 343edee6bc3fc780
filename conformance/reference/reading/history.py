"""What must hold between the messages of a history."""

from __future__ import annotations

from conformance.reference.prompts import Message, PastCall, ToolResult
from conformance.reference.refusals import invalid


def paired(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages, once every tool result answers a call made before it; raises Refused otherwise.

    A call without a result is accepted: the documents do not forbid it.
    """
    called: set[str] = set()
    for message in messages:
        for part in message.parts:
            if isinstance(part, PastCall):
                called.add(part.id)
            elif isinstance(part, ToolResult) and part.id not in called:
                raise invalid("A tool result does not match any tool call earlier in the conversation.")
    return messages
