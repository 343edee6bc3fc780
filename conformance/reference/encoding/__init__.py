"""Answers into bodies and events, one module a surface."""

from __future__ import annotations

from typing import Any

from conformance.reference.encoding import chat, messages, responses
from conformance.reference.encoding.frame import Event, framed
from conformance.reference.prompts import Prompt
from conformance.reference.results import Result
from conformance.values import Protocol

__all__ = ["Event", "body", "events", "framed"]

_BODIES = {Protocol.CHAT: chat.body, Protocol.MESSAGES: messages.body, Protocol.RESPONSES: responses.body}
_EVENTS = {Protocol.CHAT: chat.events, Protocol.MESSAGES: messages.events, Protocol.RESPONSES: responses.events}


def body(prompt: Prompt, result: Result, created: int, sent: dict[str, Any]) -> dict[str, Any]:
    """The JSON body of an answer; ``created`` is Unix seconds, ``sent`` the request."""
    return _BODIES[prompt.protocol](prompt, result, created, sent)


def events(prompt: Prompt, result: Result, created: int, sent: dict[str, Any]) -> list[Event]:
    """The events of a streamed answer, the terminal one last."""
    return _EVENTS[prompt.protocol](prompt, result, created, sent)
