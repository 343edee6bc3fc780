"""Faults in transport: statuses, media types, bytes that are no JSON, and the stream flag."""

from __future__ import annotations

import json
import re
from typing import Any

from conformance.reference.faults.registry import JSON, STREAM, fault
from conformance.reference.faults.terms import dumped
from conformance.reference.hooks import Context, Head, Wire

Sent = tuple[Head, Wire]
_TYPE_JSON = ("http.content-type.json",)
_TYPE_STREAM = ("http.content-type.event-stream",)
_TYPE_ERROR = ("http.content-type.error",)
_BODY = ("http.body.json",)
_KEYS = ("http.body.no-duplicate-keys",)
_FLAG = ("http.stream.flag-honoured",)
_PAGE = b"<!DOCTYPE html><html><head><title>Bad Request</title></head><body>Bad Request</body></html>"
_FIRST_PAIR = re.compile(rb'\{("\w+": (?:"[^"]*"|\d+)), ')


def _typed(head: Head, media_type: str | None) -> Head:
    """The head with another media type, or without one."""
    others = tuple((name, value) for name, value in head.headers if name != "content-type")
    return Head(status=head.status, headers=others if media_type is None else (("content-type", media_type), *others))


def _bytes(wire: Wire) -> bytes:
    return b"".join(part for part in wire if isinstance(part, bytes))


@fault("status-201", "head", caught_by=("http.status.documented",))
def status_201(_: Context, head: Head) -> Head:
    """An answer comes with HTTP 201."""
    return Head(status=201, headers=head.headers) if head.status == 200 else head


@fault("json-as-text", "head", modes=(JSON,), caught_by=_TYPE_JSON)
def json_as_text(_: Context, head: Head) -> Head:
    """A whole answer is sent as text/plain."""
    return _typed(head, "text/plain; charset=utf-8") if head.status == 200 else head


@fault("json-as-event-stream", "head", modes=(JSON,), caught_by=_TYPE_JSON, seen=("decolua/9router#3301",))
def json_as_event_stream(_: Context, head: Head) -> Head:
    """A whole answer is sent as text/event-stream."""
    return _typed(head, "text/event-stream") if head.status == 200 else head


@fault("json-without-type", "head", modes=(JSON,), caught_by=_TYPE_JSON)
def json_without_type(_: Context, head: Head) -> Head:
    """A whole answer has no Content-Type."""
    return _typed(head, None) if head.status == 200 else head


@fault("stream-as-json", "head", modes=(STREAM,), caught_by=_TYPE_STREAM, seen=("microsoft/foundry-dev-tools#195",))
def stream_as_json(_: Context, head: Head) -> Head:
    """A stream is sent as application/json."""
    return _typed(head, "application/json") if head.status == 200 else head


@fault("stream-as-text", "head", modes=(STREAM,), caught_by=_TYPE_STREAM)
def stream_as_text(_: Context, head: Head) -> Head:
    """A stream is sent as text/plain."""
    return _typed(head, "text/plain; charset=utf-8") if head.status == 200 else head


@fault("stream-without-type", "head", modes=(STREAM,), caught_by=_TYPE_STREAM, seen=("nearai/private-ml-sdk#20",))
def stream_without_type(_: Context, head: Head) -> Head:
    """A stream has no Content-Type."""
    return _typed(head, None) if head.status == 200 else head


@fault("error-as-text", "head", caught_by=_TYPE_ERROR)
def error_as_text(_: Context, head: Head) -> Head:
    """An error is sent as text/plain."""
    return _typed(head, "text/plain") if head.status != 200 else head


@fault("error-for-keys-as-html", "head", caught_by=_TYPE_ERROR)
def key_error_as_html(_: Context, head: Head) -> Head:
    """Only an error about keys is sent as text/html."""
    return _typed(head, "text/html") if head.status == 401 else head


@fault("error-without-type", "head", caught_by=_TYPE_ERROR)
def error_without_type(_: Context, head: Head) -> Head:
    """An error has no Content-Type."""
    return _typed(head, None) if head.status != 200 else head


@fault("error-as-event-stream", "head", modes=(STREAM,), caught_by=_TYPE_ERROR)
def error_as_event_stream(_: Context, head: Head) -> Head:
    """An error about a request for a stream is sent as text/event-stream."""
    return _typed(head, "text/event-stream") if head.status != 200 else head


@fault(
    "error-html-page",
    "sent",
    caught_by=(*_BODY, "error.envelope", "http.content-type.error"),
    seen=("betalgo/openai#447",),
)
def error_html_page(_: Context, sent_: Sent) -> Sent:
    """An error is an HTML page."""
    head, wire = sent_
    return (head, wire) if head.status == 200 else (_typed(head, "text/html"), [_PAGE])


@fault("error-without-body", "sent", caught_by=(*_BODY, "error.envelope"), seen=("BerriAI/litellm#1554",))
def error_without_body(_: Context, sent_: Sent) -> Sent:
    """An error has no body."""
    head, wire = sent_
    return (head, wire) if head.status == 200 else (head, [b""])


@fault("error-python-literal", "sent", caught_by=(*_BODY, "error.envelope"))
def error_python_literal(_: Context, sent_: Sent) -> Sent:
    """An error is a Python dictionary as it prints, with single quotes and None."""
    head, wire = sent_
    return (head, wire) if head.status == 200 else (head, [str(json.loads(_bytes(wire))).encode()])


@fault("body-truncated", "wire", modes=(JSON,), caught_by=_BODY)
def body_truncated(_: Context, wire: Wire) -> Wire:
    """The last byte of a body is lost."""
    return [_bytes(wire)[:-1]]


@fault("body-halved", "wire", modes=(JSON,), caught_by=_BODY)
def body_halved(_: Context, wire: Wire) -> Wire:
    """Only half of a body arrives."""
    whole = _bytes(wire)
    return [whole[: len(whole) // 2]]


@fault("body-nan", "payload", modes=(JSON,), caught_by=_BODY)
def body_nan(_: Context, payload: dict[str, Any]) -> dict[str, Any]:
    """A body holds NaN."""
    return payload | {"score": float("nan")}


@fault("body-infinity", "payload", modes=(JSON,), caught_by=_BODY)
def body_infinity(_: Context, payload: dict[str, Any]) -> dict[str, Any]:
    """A body holds -Infinity."""
    return payload | {"logprob": float("-inf")}


@fault("body-twice", "wire", modes=(JSON,), caught_by=_BODY)
def body_twice(_: Context, wire: Wire) -> Wire:
    """A body holds its JSON value twice."""
    return [_bytes(wire) + b"\n" + _bytes(wire)]


@fault("body-with-rest", "wire", modes=(JSON,), caught_by=_BODY, seen=("decolua/9router#3492",))
def body_with_rest(_: Context, wire: Wire) -> Wire:
    """The end mark of a stream follows the JSON value of a body."""
    return [_bytes(wire) + b"\n\ndata: [DONE]\n\n"]


@fault("body-latin-1", "wire", modes=(JSON,), caught_by=_BODY)
def body_latin_1(_: Context, wire: Wire) -> Wire:
    """A string of a body is written in Latin-1."""
    return [_bytes(wire)[:-1] + ', "region": "Zürich"}'.encode("latin-1")]


@fault("body-empty", "wire", modes=(JSON,), caught_by=_BODY)
def body_empty(_: Context, wire: Wire) -> Wire:
    """An answer has no body."""
    return [b""] if not _bytes(wire).startswith(b'{"error') else wire


@fault("duplicate-keys", "wire", caught_by=_KEYS)
def duplicate_keys(_: Context, wire: Wire) -> Wire:
    """The first property of every body and event stands there twice."""
    return [_FIRST_PAIR.sub(rb"{\1, \1, ", part, count=1) if isinstance(part, bytes) else part for part in wire]


@fault("duplicate-keys-at-the-end", "wire", caught_by=_KEYS)
def duplicate_keys_at_the_end(_: Context, wire: Wire) -> Wire:
    """A property within the usage of an answer stands there twice, with two values."""
    marked = rb'"usage": {"cost": 1, "cost": 2, '
    return [part.replace(b'"usage": {', marked) if isinstance(part, bytes) else part for part in wire]


@fault("stream-flag-ignored", "body_read", modes=(STREAM,), caught_by=_FLAG)
def stream_flag_ignored(_: Context, body: dict[str, Any]) -> dict[str, Any]:
    """A request with stream true gets a whole answer."""
    return body | {"stream": False}


@fault(
    "stream-flag-ignored-with-tools",
    "body_read",
    modes=(STREAM,),
    caught_by=_FLAG,
    seen=("sgl-project/sglang#2810",),
)
def stream_flag_ignored_with_tools(_: Context, body: dict[str, Any]) -> dict[str, Any]:
    """A request with stream true gets a whole answer where tools are offered."""
    return body | {"stream": False} if body.get("tools") else body


@fault("stream-not-asked-for", "body_read", modes=(JSON,), caught_by=_FLAG)
def stream_not_asked_for(_: Context, body: dict[str, Any]) -> dict[str, Any]:
    """A request that does not ask for a stream gets one."""
    return body | {"stream": True}


@fault("stream-not-asked-for-with-tools", "body_read", modes=(JSON,), caught_by=_FLAG)
def stream_not_asked_for_with_tools(_: Context, body: dict[str, Any]) -> dict[str, Any]:
    """A request that does not ask for a stream gets one where tools are offered."""
    return body | {"stream": True} if body.get("tools") else body


@fault("stream-as-json-lines", "sent", modes=(STREAM,), caught_by=(*_FLAG, "http.content-type.event-stream"))
def stream_as_json_lines(_: Context, sent_: Sent) -> Sent:
    """A stream comes as one JSON object a line, without the fields of events."""
    head, wire = sent_
    if head.status != 200:
        return head, wire
    lines = [line[6:] + b"\n" for line in _bytes(wire).splitlines() if line.startswith(b"data: {")]
    return _typed(head, "application/x-ndjson"), list(lines)


@fault("method-get-answered", "sent", modes=(JSON,), caught_by=("http.method-rejected",))
def get_answered(context: Context, sent_: Sent) -> Sent:
    """GET gets 200 and a greeting."""
    head, wire = sent_
    return (
        (Head(status=200, headers=head.headers), [dumped({"status": "ok"})])
        if context.method == "GET"
        else (head, wire)
    )


@fault("method-get-500", "head", modes=(JSON,), caught_by=("http.method-rejected",))
def get_fails(context: Context, head: Head) -> Head:
    """GET gets HTTP 500."""
    return Head(status=500, headers=head.headers) if context.method == "GET" else head


@fault("method-get-redirected", "head", modes=(JSON,), caught_by=("http.method-rejected",))
def get_redirected(context: Context, head: Head) -> Head:
    """GET is redirected to another page."""
    return Head(status=302, headers=(*head.headers, ("location", "/docs"))) if context.method == "GET" else head


@fault("retry-after-missing", "head", modes=(JSON,), caught_by=("http.rate-limit.retry-after",))
def retry_after_missing(_: Context, head: Head) -> Head:
    """A 429 does not say when to try again."""
    return Head(status=head.status, headers=tuple(pair for pair in head.headers if pair[0] != "retry-after"))


@fault("retry-after-words", "head", modes=(JSON,), caught_by=("http.rate-limit.retry-after",))
def retry_after_words(_: Context, head: Head) -> Head:
    """Retry-After gives its seconds with a unit."""
    changed = ((name, f"{value}s" if name == "retry-after" else value) for name, value in head.headers)
    return Head(status=head.status, headers=tuple(changed))
