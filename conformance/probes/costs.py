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
    return body_worst_case(protocol, step.body, step.ceiling)


def body_worst_case(protocol: Protocol, data: bytes, ceiling: int | None) -> int:
    """The most output tokens that a body allows; a ceiling holds for streams."""
    body = read_bytes(data).value
    if not isinstance(body, dict):
        return 0  # what is no object is no request
    limit = output_limit(protocol, body)
    return limit if ceiling is None or body.get("stream") is not True else min(limit, ceiling)
