"""Request bodies into prompts, one module a surface."""

from __future__ import annotations

from typing import Any

from conformance.models import DEFAULT, MODELS
from conformance.reference.problems import Problem
from conformance.reference.prompts import Prompt
from conformance.reference.reading import chat, messages, responses
from conformance.reference.reading.forgiving import readable
from conformance.reference.reading.history import orphans
from conformance.values import Protocol

__all__ = ["orphans", "read"]

_READERS = {Protocol.CHAT: chat.prompt, Protocol.MESSAGES: messages.prompt, Protocol.RESPONSES: responses.prompt}


def read(protocol: Protocol, body: dict[str, Any], *, forgiven: list[Problem]) -> Prompt:
    """The prompt of a body that validation accepted, or whose problems were forgiven.

    Raises Refused for what a schema cannot say: media, tool choices and schemas that make no sense.
    """
    sound = readable(protocol, body, forgiven)
    model = sound.get("model")
    return _READERS[protocol](model if model in MODELS else DEFAULT, sound)
