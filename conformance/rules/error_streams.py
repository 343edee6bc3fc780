"""Errors in streams, errors that should have come before one, and errors dressed up as answers."""

from __future__ import annotations

import re

from conformance.protocols.view import MISSING, Answer, Finish
from conformance.rules.decisions import UNRELATED, breaks_schema, posted
from conformance.rules.parts import shown
from conformance.rules.places import BAD_REQUEST, ENVELOPE, SUCCESS, SUCCESS_STREAM
from conformance.rules.registry import CHAT, MESSAGES, Findings, rule
from conformance.values import Basis, Finding, Level, Over, Protocol

_ENDS = {"message_stop", "response.failed", "response.incomplete"}
_EXPECTED = {
    Protocol.CHAT: 'data: {"error": {"message", "type", "code"}}',
    Protocol.MESSAGES: 'event: error, data: {"type": "error", "error": {"type", "message"}}',
    Protocol.RESPONSES: 'event: error, data: {"type": "error", "code", "message", "param", "sequence_number"}',
}
_BEGINS = re.compile(
    r"\W{0,5}(?:(?:api|http|internal|upstream|server|provider|network|request|service|gateway|connection|openai|model)\W?\s?)*"
    r"(?:error|failed|failure|exception|unavailable|timed? ?out|overloaded|refused|denied)\b",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\b(?:4\d\d|5\d\d) (?:error\b|bad request|unauthorized|forbidden|too many requests|internal server|bad gateway|"
    r"service unavailable|gateway time)|status(?: code)?:? ?[45]\d\d\b|upstream|service unavailable|bad gateway|"
    r"too many requests|rate limit|quota|insufficient (?:balance|credit)|internal (?:server|service) error|"
    r"temporarily (?:disabled|unavailable)|\"error\"\s*:|ECONNRE|\bbad request\b|\berror occurred\b|\boverloaded\b|"
    r"\bHTTP [45]\d\d\b|balance is insufficient|"
    r"请求失败|服务不可用|服务繁忙|余额不足|上游|内部错误|请稍后",
    re.IGNORECASE,
)
_HEAD = 400  # characters of a text that are searched


def stream_with_error(answer: Answer) -> bool:
    """An event stream that carries an error."""
    return answer.streamed and answer.error is not None and answer.error.event is not None


def refused_stream(answer: Answer) -> bool:
    """A request with stream true that breaks the schema, and is refused."""
    if not posted(answer) or not answer.asked.stream or answer.status is None or answer.status in UNRELATED:
        return False
    return breaks_schema(answer) and (answer.status != 200 or _carries_error(answer))


def text_with_count(answer: Answer) -> bool:
    """A 200 with text whose usage counts the output tokens."""
    return answer.ok and answer.usage is not None and answer.usage.output is not None and bool(answer.text.strip())


def _carries_error(answer: Answer) -> bool:
    if answer.error is not None:
        return True
    if not answer.streamed:
        return False
    nothing = all(payload is MISSING for payload in answer.payloads)
    return nothing or (answer.ending is Finish.FAILED and not answer.text)


@rule(
    "error.stream-event",
    Level.SHOULD,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=ENVELOPE | {MESSAGES: SUCCESS_STREAM[MESSAGES]},
    when=stream_with_error,
)
def stream_error_has_its_event(answer: Answer) -> Findings:
    """An error in a stream is the surface's own error event, and nothing but the end follows it."""
    error = answer.error
    if error is None:
        return
    place = next((n for n, event in enumerate(answer.events) if event.number == error.event), None)
    if place is None:
        return
    event, payload = answer.events[place], answer.payloads[place]
    if not _own_event(answer.protocol, event.name, payload):
        yield Finding(
            message="the error is not the surface's own error event",
            pointer=f"event {event.number}",
            expected=_EXPECTED[answer.protocol],
            actual={"event": shown(event.name), "data": (event.data or "")[:200]},
        )
    for later, data in zip(answer.events[place + 1 :], answer.payloads[place + 1 :], strict=True):
        kind = data.get("type") if isinstance(data, dict) else None
        ends = (later.data or "").strip() == "[DONE]" or (isinstance(kind, str) and kind in _ENDS)
        if not ends:
            yield Finding(
                message="the stream goes on after its error",
                pointer=f"event {later.number}",
                expected="the end",
                actual=(later.data or "")[:200],
            )
            return


def _own_event(protocol: Protocol, name: str | None, data: object) -> bool:
    if not isinstance(data, dict):
        return False
    inner = data.get("error")
    nested = isinstance(inner, dict) and isinstance(inner.get("message"), str)
    if protocol is CHAT:
        return nested and data.get("type") != "error" and name in (None, "error")
    if protocol is MESSAGES:
        return (
            nested and data.get("type") == "error" and name == "error" and isinstance(inner, dict) and "type" in inner
        )
    flat = isinstance(data.get("message"), str)
    return data.get("type") == "error" and name in (None, "error") and (flat or (nested and "sequence_number" in data))


@rule("error.before-stream", Level.SHOULD, Basis.PROTOCOL, source=BAD_REQUEST, when=refused_stream)
def error_comes_before_stream(answer: Answer) -> Findings:
    """An invalid request is refused with a plain JSON 400, not with a stream that carries the error."""
    if answer.status == 200:
        yield Finding(
            message="an invalid request is refused inside a 200",
            expected="400 and a JSON body",
            actual=answer.raw[:200].decode("utf-8", "replace"),
        )
    elif answer.streamed:
        yield Finding(
            message=f"an invalid request is refused with HTTP {answer.status} and an event stream",
            expected="400 and a JSON body",
            actual=answer.raw[:200].decode("utf-8", "replace"),
        )


@rule("error.not-as-text", Level.SHOULD, Basis.PROTOCOL, source=SUCCESS, when=text_with_count)
def error_is_not_dressed_up(answer: Answer) -> Findings:
    """A text whose usage counts no output tokens is not an error message of a server behind the service."""
    if answer.usage is not None and answer.usage.output:
        return
    text = answer.text.strip()[:_HEAD]
    if (_BEGINS.match(text) or _SAYS.search(text)) and text[:100] not in answer.asked.prompt:
        yield Finding(message="the text is an error message", expected="an error status", actual=text[:200])
