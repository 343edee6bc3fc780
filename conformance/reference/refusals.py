"""Why a request gets an error, and the error envelope of each surface."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from conformance.values import Protocol


class Layer(StrEnum):
    """The part of the server that refuses."""

    ROUTING = "routing"
    AUTHENTICATION = "authentication"
    RATE = "rate"
    PARSING = "parsing"
    VALIDATION = "validation"  # schema and per-model rules
    PROMPT = "prompt"  # what a schema cannot say: media, history, tools, the context window
    INTERNAL = "internal"


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """An error answer before it is put into an envelope."""

    layer: Layer
    status: int
    type: str
    message: str
    code: str | None = None
    headers: Mapping[str, str] = {}


class Refused(Exception):
    """Raised where a request turns out to be unacceptable; carries the refusal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def invalid(message: str, *, layer: Layer = Layer.PROMPT, code: str | None = None) -> Refused:
    """The exception for a 400 of type ``invalid_request_error``."""
    return Refused(Refusal(layer=layer, status=400, type="invalid_request_error", message=message, code=code))


def envelope(protocol: Protocol, refusal: Refusal, request_id: str) -> dict[str, Any]:
    """The error body as the surface documents it; only messages carries the request id."""
    if protocol is Protocol.MESSAGES:
        return {
            "type": "error",
            "error": {"type": refusal.type, "message": refusal.message},
            "request_id": request_id,
        }
    return {"error": {"message": refusal.message, "type": refusal.type, "code": refusal.code or refusal.type}}
