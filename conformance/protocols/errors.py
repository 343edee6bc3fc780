"""Errors in bodies and streams, recognised by their shape whatever the surface."""

from __future__ import annotations

from conformance.protocols.fields import field
from conformance.protocols.view import MISSING, Error
from conformance.sse import Event
from conformance.values import Protocol


def body_error(value: object, protocol: Protocol, status: int | None) -> Error | None:
    """The error that a JSON body carries; at a status of 400 or more every object is one."""
    if not isinstance(value, dict):
        return None
    if protocol is Protocol.RESPONSES and value.get("object") == "response":
        return None  # a response that failed says so in its status
    found = _shaped(value, None)
    if found is None and status is not None and status >= 400:
        return _error("other", value, value, None)
    return found


def stream_error(events: tuple[Event, ...], payloads: tuple[object, ...], protocol: Protocol) -> Error | None:
    """The first error event of a stream."""
    for event, payload in zip(events, payloads, strict=True):
        kind = field(payload, "type")
        if protocol is Protocol.RESPONSES and isinstance(kind, str) and kind.startswith("response."):
            continue
        found = _shaped(payload, event.number) if isinstance(payload, dict) else None
        if found is None and event.name == "error":
            raw = payload if payload is not MISSING else event.data
            found = _error("other", raw, payload, event.number)
        if found is not None:
            return found
    return None


def _shaped(value: dict[str, object], event: int | None) -> Error | None:
    inner = value.get("error") or None  # an empty string or object beside an answer says that there was none
    if value.get("type") == "error":
        if isinstance(inner, dict):
            return _error("anthropic", value, inner, event)
        return _error("responses" if "message" in value and inner is None else "other", value, value, event)
    if isinstance(inner, dict):
        return _error("openai", value, inner, event)
    if isinstance(inner, str):
        return Error(shape="other", raw=value, message=inner, event=event)
    if value.get("object") == "error" or inner:
        return _error("other", value, value, event)
    return None


def _error(shape: str, raw: object, holder: object, event: int | None) -> Error:
    message = field(holder, "message")
    if message is MISSING:
        message = field(holder, "detail")
    return Error(
        shape=shape,
        raw=raw,
        type=field(holder, "type"),
        code=field(holder, "code"),
        message=message,
        event=event,
    )
