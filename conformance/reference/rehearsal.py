"""Failures on request: how an answer that cannot be finished ends, so that rules about failures can be exercised.

A prompt that says ``Fail in the middle of the stream.`` gets the surface's error event after half of its events, and
``End with the status failed.`` a Responses answer of that status. A live model only answers such a prompt in words.
"""

from __future__ import annotations

import re
from dataclasses import replace
from enum import StrEnum
from typing import Any

from conformance.reference.encoding.frame import Event
from conformance.reference.prompts import Prompt
from conformance.reference.wording import last_turn
from conformance.values import Protocol

WORDS = "The server failed in the middle of the answer, as the prompt asked."
_DIRECTIVES = re.compile(r"\b(fail in the middle of the stream|end with the status failed)\b", re.IGNORECASE)


class Failure(StrEnum):
    """How a prompt asks an answer to end."""

    BROKEN_OFF = "fail in the middle of the stream"
    FAILED = "end with the status failed"


def asked(prompt: Prompt) -> Failure | None:
    """The failure that the last user message asks for; a surface or mode that has no such end answers as usual."""
    found = _DIRECTIVES.search(last_turn(prompt).text)
    failure = Failure(found[1].lower()) if found else None
    fits = prompt.stream if failure is Failure.BROKEN_OFF else prompt.protocol is Protocol.RESPONSES
    return failure if fits else None


def failed(body: dict[str, Any]) -> dict[str, Any]:
    """A Responses answer that did not come about: no message, and an error that says why."""
    reasoning = [item for item in body["output"] if item["type"] == "reasoning"]
    error = {"code": "server_error", "message": WORDS}
    return body | {"status": "failed", "error": error, "incomplete_details": None, "output": reasoning}


def ended(failure: Failure, prompt: Prompt, events: list[Event]) -> list[Event]:
    """The events of a streamed answer, ended by a failure."""
    if failure is Failure.FAILED:
        return _failed_stream(events)
    half = events[: max(1, len(events) // 2)]
    if prompt.protocol is Protocol.CHAT:
        error = {"error": {"message": WORDS, "type": "internal_error", "code": "internal_error"}}
        return [*half, Event(data=error), Event(data="[DONE]")]
    if prompt.protocol is Protocol.MESSAGES:
        data: dict[str, Any] = {"type": "error", "error": {"type": "api_error", "message": WORDS}}
    else:
        data = {
            "type": "error",
            "sequence_number": len(half),
            "code": "server_error",
            "message": WORDS,
            "param": None,
        }
    return [*half, Event(name="error", data=data)]


def _failed_stream(events: list[Event]) -> list[Event]:
    """The events up to the end of the reasoning, then response.failed."""
    kept: list[Event] = []
    for event in events[:-1]:
        kept.append(event)
        item = event.data.get("item", {}) if isinstance(event.data, dict) else {}
        if event.name == "response.output_item.done" and item.get("type") == "reasoning":
            break
    last = events[-1]
    if not isinstance(last.data, dict):
        raise TypeError(f"the terminal event holds {type(last.data).__name__}, not an object")
    name = "response.failed"
    data = last.data | {"type": name, "sequence_number": len(kept), "response": failed(last.data["response"])}
    return [*kept, replace(last, name=name, data=data)]
