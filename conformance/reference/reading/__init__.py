"""Request bodies into prompts, one module a surface."""

from __future__ import annotations

from typing import Any

from conformance.reference.prompts import Prompt
from conformance.reference.reading import chat, messages, responses
from conformance.values import Protocol

_READERS = {Protocol.CHAT: chat.prompt, Protocol.MESSAGES: messages.prompt, Protocol.RESPONSES: responses.prompt}


def read(protocol: Protocol, model: str, body: dict[str, Any]) -> Prompt:
    """The prompt of a body that validation accepted; raises Refused for what a schema cannot say."""
    return _READERS[protocol](model, body)
