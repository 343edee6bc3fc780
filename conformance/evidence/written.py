"""Exchanges as fixtures write them, turned into values: JSON and event lists become the bytes of the wire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from conformance import models, protocols
from conformance.values import Chunk, Exchange, Failure, Intent, Request, Response

STEP = 20.0  # milliseconds between two events that say no time of their own

_EXCHANGE = {"request", "response", "failure", "intents", "live", "started", "attempt", "model", "parent", "probe"}
_REQUEST = {"method", "url", "headers", "body", "raw"}
_RESPONSE = {"status", "headers", "json", "sse", "text", "ms"}
_EVENT = {"event", "data", "ms"}


class BadExchange(Exception):
    """A description is no exchange; the message says where and why."""


def exchange(form: Any, name: str) -> Exchange:
    """The exchange that a form describes; ``name`` becomes its id. Raises ``BadExchange``."""
    form = _known(form, _EXCHANGE, "an exchange")
    sent = _known(form.get("request"), _REQUEST, "request")
    method, url = sent.get("method", "POST"), sent.get("url")
    protocol = protocols.surface(method, url) if isinstance(method, str) and isinstance(url, str) else None
    if protocol is None:
        raise BadExchange(f"request: {method!r} {url!r} is not one of the three endpoints")
    body = sent.get("body")
    named = body.get("model") if isinstance(body, dict) else None
    failure = form.get("failure")
    try:
        return Exchange(
            id=name,
            protocol=protocol,
            model=form.get("model") or models.canonical(named) or models.DEFAULT,
            request=Request(method=method, url=str(url), headers=_headers(sent), body=_request_body(sent)),
            response=_response(form["response"]) if form.get("response") is not None else None,
            failure=Failure(kind=failure["kind"], message=failure.get("message", "")) if failure else None,
            intents=tuple(Intent(intent) for intent in form.get("intents") or ()),
            live=form.get("live") is True,
            started=form.get("started"),
            attempt=form.get("attempt", 1),
            parent=form.get("parent"),
            probe=form.get("probe"),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadExchange(str(error)) from None


def as_json(value: Any) -> bytes:
    """Compact JSON in UTF-8; with escapes where UTF-8 cannot carry it."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def as_event(event: Any) -> bytes:
    """One event of a stream: its name, where it has one, and its data, a string as it is and else JSON."""
    event = _known(event, _EVENT, "an event of sse")
    if "data" not in event:
        raise BadExchange(f"an event of sse without data: {event!r:.120}")
    data = event["data"]
    lines = [f"event: {event['event']}"] if event.get("event") is not None else []
    text = data if isinstance(data, str) else as_json(data).decode()
    lines += [f"data: {line}" for line in text.split("\n")]
    return ("\n".join(lines) + "\n\n").encode()


def _response(form: Any) -> Response:
    form = _known(form, _RESPONSE, "response")
    together = form.get("ms")
    chunks: list[Chunk] = []
    if "text" in form:
        chunks = [Chunk(ms=STEP, data=_raw(form["text"]))]
    elif "sse" in form:
        for number, event in enumerate(form["sse"], 1):
            chunks.append(Chunk(ms=float(event.get("ms", number * STEP)), data=as_event(event)))
    elif "json" in form:
        chunks = [Chunk(ms=STEP, data=as_json(form["json"]))]
    if together is not None:
        chunks = [Chunk(ms=float(together), data=b"".join(chunk.data for chunk in chunks))]
    return Response(
        status=form["status"], headers=_headers(form), chunks=tuple(chunk for chunk in chunks if chunk.data)
    )


def _request_body(form: Mapping[str, Any]) -> bytes:
    if "raw" in form:
        return _raw(form["raw"])
    return as_json(form["body"]) if "body" in form else b""


def _raw(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def _headers(form: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(value)) for name, value in (form.get("headers") or {}).items())


def _known(form: Any, keys: set[str], what: str) -> dict[str, Any]:
    if not isinstance(form, dict):
        raise BadExchange(f"{what}: expected a mapping, got {form!r:.80}")
    if unknown := form.keys() - keys:
        raise BadExchange(
            f"{what}: unknown {', '.join(sorted(map(str, unknown)))}; known are {', '.join(sorted(keys))}"
        )
    return form
