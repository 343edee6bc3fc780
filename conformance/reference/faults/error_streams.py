"""Faults in errors that come where an answer is expected: in a stream, behind HTTP 200, or as the text."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from conformance.reference.encoding.frame import Event, framed
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, STREAM, fault
from conformance.reference.hooks import Context, Head, Wire
from conformance.reference.refusals import Layer, Refusal, envelope
from conformance.reference.results import Result
from conformance.values import Protocol

Sent = tuple[Head, Wire]
Events = list[Event]
_EVENT = ("error.stream-event",)
_BEFORE = ("error.before-stream", "request.invalid-rejected")
_SUCCESS = ("error.not-in-success",)
_TEXT = ("error.not-as-text",)
_FAILED = Refusal(layer=Layer.INTERNAL, status=500, type="internal_error", message="Internal service error.")
_STREAM_TYPE = (("content-type", "text/event-stream; charset=utf-8"),)


def _error(context: Context, message: str = _FAILED.message, sequence: int = 0) -> Event:
    """The surface's own error event."""
    if context.protocol is Protocol.RESPONSES:
        flat = {"type": "error", "code": "internal_error", "message": message, "param": None}
        return Event(name="error", data=flat | {"sequence_number": sequence})
    data = envelope(context.protocol, replace(_FAILED, message=message), context.id)
    return Event(name="error" if context.protocol is Protocol.MESSAGES else None, data=data)


def _broken_off(context: Context, events: Events, error: Event) -> Events:
    """The stream up to its middle, then the error, then the end mark where the surface has one."""
    done = [Event(data="[DONE]")] if context.protocol is Protocol.CHAT else []
    return [*events[: len(events) // 2], error, *done]


@fault("stream-error-foreign", "events", modes=(STREAM,), caught_by=_EVENT)
def foreign(context: Context, events: Events) -> Events:
    """A stream that fails ends in the error event of the other format."""
    if context.protocol is Protocol.MESSAGES:
        inner = {"message": _FAILED.message, "type": _FAILED.type, "code": "500"}
        return _broken_off(context, events, Event(data={"error": inner}))
    anthropic = envelope(Protocol.MESSAGES, _FAILED, context.id)
    return _broken_off(context, events, Event(name="error", data=anthropic))


@fault("stream-error-string", "events", modes=(STREAM,), caught_by=_EVENT)
def string(context: Context, events: Events) -> Events:
    """A stream that fails ends in an event whose error is a string."""
    return _broken_off(context, events, Event(data={"error": _FAILED.message}))


@fault("stream-error-without-type", "events", on=(MESSAGES,), modes=(STREAM,), caught_by=_EVENT)
def without_type(context: Context, events: Events) -> Events:
    """The error within an error event has no type."""
    inner = {"message": _FAILED.message}
    return _broken_off(context, events, Event(name="error", data={"type": "error", "error": inner}))


@fault("stream-error-unnamed", "events", on=(MESSAGES,), modes=(STREAM,), caught_by=_EVENT)
def unnamed(context: Context, events: Events) -> Events:
    """The error event of a stream has no event line."""
    return _broken_off(context, events, Event(data=_error(context).data))


@fault("stream-error-then-more", "events", modes=(STREAM,), caught_by=_EVENT)
def then_more(context: Context, events: Events) -> Events:
    """A stream goes on after its error event."""
    middle = len(events) // 2
    return [*events[:middle], _error(context, sequence=middle), *events[middle:]]


@fault("stream-error-before-the-last-events", "events", modes=(STREAM,), caught_by=_EVENT)
def before_the_end(context: Context, events: Events) -> Events:
    """A stream tells an error after its text, and then ends as though there had been none."""
    tail = 3 if context.protocol is Protocol.MESSAGES else 2
    return [*events[:-tail], _error(context, sequence=len(events) - tail), *events[-tail:]]


@fault("stream-error-leaks", "events", modes=(STREAM,), caught_by=("http.no-internals-leaked",))
def leaking(context: Context, events: Events) -> Events:
    """The error event of a stream names the host behind the service."""
    words = "HTTPConnectionPool(host='engine-3.cluster.local', port=8000): Read timed out."
    return _broken_off(context, events, _error(context, words, len(events) // 2))


@fault(
    "refusal-in-stream",
    "sent",
    modes=(STREAM,),
    caught_by=_BEFORE,
    seen=("sgl-project/sglang#21900", "ggml-org/llama.cpp#14566", "ModelTC/LightLLM#1537"),
)
def refusal_in_stream(context: Context, sent: Sent) -> Sent:
    """An invalid request for a stream gets 200 and a stream of the error."""
    head, _ = sent
    if head.status != 400:
        return sent
    event = _error(context, "The request is invalid.")
    if isinstance(event.data, dict):
        holder = event.data if context.protocol is Protocol.RESPONSES else event.data["error"]
        holder["code" if context.protocol is Protocol.RESPONSES else "type"] = "invalid_request_error"
    return Head(status=200, headers=_STREAM_TYPE), [framed(event)]


@fault(
    "refusal-in-stream-after-role",
    "sent",
    on=(CHAT,),
    modes=(STREAM,),
    caught_by=_BEFORE,
    seen=("raullenchai/Rapid-MLX#1849",),
)
def refusal_after_role(context: Context, sent: Sent) -> Sent:
    """An invalid request for a stream gets 200, a first chunk, and then the error."""
    head, _ = sent
    if head.status != 400:
        return sent
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": context.model,
        "choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}],
    }
    events = [Event(data=chunk), _error(context, "The request is invalid."), Event(data="[DONE]")]
    return Head(status=200, headers=_STREAM_TYPE), [framed(event) for event in events]


@fault("refusal-as-empty-stream", "sent", modes=(STREAM,), caught_by=_BEFORE)
def refusal_as_empty_stream(_: Context, sent: Sent) -> Sent:
    """An invalid request for a stream gets 200 and a stream of nothing but its end mark."""
    head, _wire = sent
    return (Head(status=200, headers=_STREAM_TYPE), [b"data: [DONE]\n\n"]) if head.status == 400 else sent


@fault("refusal-400-in-stream", "sent", modes=(STREAM,), caught_by=("error.before-stream", "http.content-type.error"))
def refusal_400_in_stream(context: Context, sent: Sent) -> Sent:
    """An invalid request for a stream gets 400, but as a stream of the error."""
    head, _ = sent
    return (Head(status=400, headers=_STREAM_TYPE), [framed(_error(context))]) if head.status == 400 else sent


@fault("refusal-behind-200", "refusal", modes=(JSON,), caught_by=("request.invalid-rejected", *_SUCCESS))
def refusal_behind_200(_: Context, refusal: Refusal) -> Refusal:
    """An invalid request gets its error behind HTTP 200."""
    return replace(refusal, status=200) if refusal.layer is Layer.VALIDATION else refusal


@fault("failure-behind-200", "body", modes=(JSON,), caught_by=_SUCCESS)
def failure_behind_200(context: Context, _: dict[str, Any]) -> dict[str, Any]:
    """A failure of the service comes behind HTTP 200."""
    return envelope(context.protocol, _FAILED, context.id)


@fault("failure-in-own-shape", "body", modes=(JSON,), caught_by=_SUCCESS)
def failure_in_own_shape(_context: Context, _: dict[str, Any]) -> dict[str, Any]:
    """A failure comes behind HTTP 200 as a number and a message of the gateway's own."""
    return {"code": 50001, "msg": "upstream busy", "data": None}


@fault("success-empty-object", "body", modes=(JSON,), caught_by=_SUCCESS)
def empty_object(_context: Context, _: dict[str, Any]) -> dict[str, Any]:
    """An answer is an empty object."""
    return {}


def _only_text(result: Result, text: str) -> Result:
    return replace(
        result, reasoning="", text=text, calls=(), searches=(), usage=replace(result.usage, output=0, reasoning=0)
    )


@fault("failure-as-text", "result", caught_by=_TEXT, seen=("BaseIntelligence/bounty-challenge#16336",))
def as_text(_: Context, result: Result) -> Result:
    """A failure is told as the text of an answer that cost nothing."""
    return _only_text(result, "The chat completions endpoint is temporarily disabled. Please try again later.")


@fault("failure-as-text-with-status", "result", caught_by=_TEXT)
def as_text_with_status(_: Context, result: Result) -> Result:
    """The status of a server behind the service is told as the text of an answer that cost nothing."""
    return _only_text(result, "API Error: 502 Bad Gateway")


@fault("failure-as-json-text", "result", caught_by=_TEXT)
def as_json_text(_: Context, result: Result) -> Result:
    """The error body of a server behind the service is the text of an answer that cost nothing."""
    return _only_text(result, json.dumps({"error": {"message": "model overloaded", "type": "server_error"}}))


@fault("failure-as-chinese-text", "result", caught_by=_TEXT)
def as_chinese_text(_: Context, result: Result) -> Result:
    """A failure is told in Chinese as the text of an answer that cost nothing."""
    return _only_text(result, "服务繁忙，请稍后再试")
