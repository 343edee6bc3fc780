"""What a request may cost at most: the output tokens that it allows."""

from __future__ import annotations

from conformance.models import DEFAULT_LIMIT
from conformance.probes.script import Step
from conformance.protocols.json_text import read_bytes
from conformance.values import Protocol

LIMIT_NAMES = {
    Protocol.CHAT: ("max_completion_tokens", "max_tokens"),
    Protocol.MESSAGES: ("max_tokens",),
    Protocol.RESPONSES: ("max_output_tokens",),
}


def output_limit(protocol: Protocol, body: object) -> int:
    """The most output tokens that a parsed body allows, the default where it sets no limit."""
    if not isinstance(body, dict):
        return DEFAULT_LIMIT
    found = [body[name] for name in LIMIT_NAMES[protocol] if isinstance(body.get(name), int | float)]
    return max((max(0, int(value)) for value in found), default=DEFAULT_LIMIT)


def worst_case(protocol: Protocol, step: Step) -> int:
    """The most output tokens that a step can cost where its request is accepted."""
    limit = output_limit(protocol, body := read_bytes(step.body).value)
    streamed = isinstance(body, dict) and body.get("stream") is True
    return limit if step.ceiling is None or not streamed else min(limit, step.ceiling)
