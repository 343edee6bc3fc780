"""Transport: statuses, media types, bodies as JSON, and the stream flag."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

from conformance.protocols.view import Answer, Kind
from conformance.rules.decisions import ENVELOPES, GATEWAY, enveloped, posted, refusal, told
from conformance.rules.doubts import sent_whole
from conformance.rules.parts import shown
from conformance.rules.places import (
    BAD_REQUEST,
    ERROR_JSON,
    OPERATION,
    RATE_LIMITED,
    STATUSES,
    STREAM_FLAG,
    SUCCESS_JSON,
    SUCCESS_STREAM,
)
from conformance.rules.registry import RESPONSES, Findings, Inconclusive, rule
from conformance.values import Basis, Finding, Level

DOCUMENTED = frozenset({200, 400, 401, 429, 500})
_SWITCHED = 101  # to another protocol
ERRORS = DOCUMENTED - {200}
_OUR_BOUNDS = ("nested deeper", "nested too deep", "larger than", "a number of more than")


def answered(answer: Answer) -> bool:
    """Any answer."""
    return answer.status is not None


def flagged(answer: Answer) -> bool:
    """A 200 to a POST whose stream is true, false or absent."""
    flag = answer.asked.body.get("stream", False)
    return answer.status == 200 and posted(answer) and isinstance(flag, bool)


def plain_success(answer: Answer) -> bool:
    """A 200 to a request without stream, or with stream false."""
    return flagged(answer) and not answer.asked.stream


def streamed_success(answer: Answer) -> bool:
    """A 200 to a request with stream true."""
    return flagged(answer) and answer.asked.stream


def documented_error(answer: Answer) -> bool:
    """An answer with status 400, 401, 429 or 500."""
    return answer.status in ERRORS


def meant_as_json(answer: Answer) -> bool:
    """An answer that is JSON, or by its status and request must be."""
    if answer.kind is Kind.JSON:
        return True
    return answer.kind in (Kind.TEXT, Kind.EMPTY) and (documented_error(answer) or plain_success(answer))


def has_objects(answer: Answer) -> bool:
    """A JSON answer or an event stream."""
    return answer.kind in (Kind.JSON, Kind.STREAM)


def malformed_post(answer: Answer) -> bool:
    """A POST whose body is not one JSON object: truncated, empty, or another value."""
    asked = answer.asked
    return answered(answer) and asked.method == "POST" and asked.malformed is not None and _lost_nothing(answer)


def _lost_nothing(answer: Answer) -> bool:
    known = answer.asked.malformed or ""
    readable = not known.startswith(_OUR_BOUNDS) and not known.startswith("a byte order mark")
    return readable and sent_whole(answer)


def got(answer: Answer) -> bool:
    """A GET on the endpoint, but for one that opens a web socket."""
    return answered(answer) and answer.asked.method == "GET" and answer.status != _SWITCHED


def limited(answer: Answer) -> bool:
    """An answer with status 429."""
    return answer.status == 429


@rule("http.status.documented", Level.SHOULD, Basis.DOCUMENTED, source=STATUSES, when=answered)
def status_is_documented(answer: Answer) -> Findings:
    """The status is one of 200, 400, 401, 429 and 500; that of another method than POST is only recorded."""
    if answer.status not in DOCUMENTED:
        yield Finding(
            message="the status is none of the documented ones",
            expected=sorted(DOCUMENTED),
            actual=answer.status,
            level=None if answer.asked.method == "POST" else Level.INFO,
        )


@rule(
    "http.content-type.json",
    Level.MUST,
    Basis.DOCUMENTED,
    by_analogy=(RESPONSES,),
    source=SUCCESS_JSON,
    when=plain_success,
)
def success_is_json(answer: Answer) -> Findings:
    """An answer that was not asked for as a stream has the media type application/json."""
    yield from _media_type(answer, "application/json")


@rule("http.content-type.event-stream", Level.MUST, Basis.DOCUMENTED, source=SUCCESS_STREAM, when=streamed_success)
def success_is_event_stream(answer: Answer) -> Findings:
    """An answer that was asked for as a stream has the media type text/event-stream."""
    yield from _media_type(answer, "text/event-stream")


@rule(
    "http.content-type.error",
    Level.MUST,
    Basis.DOCUMENTED,
    by_analogy=(RESPONSES,),
    source=ERROR_JSON,
    when=documented_error,
)
def error_is_json(answer: Answer) -> Findings:
    """An error has the media type application/json."""
    yield from _media_type(answer, "application/json")


def _is_put_together(answer: Answer) -> bool:
    """Whether a recording that does not hold all that came has an object where a stream was asked for."""
    return answer.broken == "cut" and answer.asked.stream and answer.kind is Kind.JSON


def _media_type(answer: Answer, expected: str) -> Findings:
    if answer.broken is not None and (not answer.headers or _is_put_together(answer)):
        raise Inconclusive(f"the media type was not recorded: {answer.broken}")
    if answer.media_type != expected:
        yield Finding(
            message=f"the media type is not {expected}",
            pointer="header Content-Type",
            expected=expected,
            actual=shown(answer.header("content-type")),
        )


@rule("http.body.json", Level.MUST, Basis.DOCUMENTED, source=SUCCESS_JSON, when=meant_as_json)
def body_is_json(answer: Answer) -> Findings:
    """The body is one JSON value in UTF-8, without NaN or Infinity and with nothing after it."""
    problem = answer.json_error
    if answer.kind is Kind.TEXT:
        problem = "the body is no JSON"
    if problem is None:
        return
    if answer.broken is not None:
        raise Inconclusive(f"the body broke off: {answer.broken}")
    if problem.startswith(_OUR_BOUNDS):
        raise Inconclusive(f"the body is beyond what is read: {problem}")
    yield Finding(
        message=f"the body is not one JSON value: {problem}",
        expected="one JSON value",
        actual=answer.raw[:80].decode("utf-8", "replace"),
        level=None if answer.status in DOCUMENTED else Level.SHOULD,
    )


@rule("http.body.no-duplicate-keys", Level.SHOULD, Basis.PROTOCOL, source=SUCCESS_JSON, when=has_objects)
def keys_are_not_repeated(answer: Answer) -> Findings:
    """No object of an answer or event repeats a key."""
    if answer.duplicate_keys:
        first = answer.duplicate_keys[0][:200]
        more = len(answer.duplicate_keys) - 1
        others = f", and {more} other{'s' * (more > 1)}" if more else ""
        yield Finding(message=f"an object repeats a key{others}", pointer=first, expected="each key once", actual=first)


@rule("http.stream.flag-honoured", Level.MUST, Basis.DOCUMENTED, source=STREAM_FLAG, when=flagged)
def stream_flag_is_honoured(answer: Answer) -> Findings:
    """The answer is an event stream if and only if stream is true."""
    if _is_put_together(answer):
        raise Inconclusive(f"the stream was not recorded: {answer.broken}")
    if answer.asked.stream and (answer.kind in (Kind.JSON, Kind.TEXT) or _is_unframed(answer)):
        yield Finding(
            message="stream is true, and the answer is no event stream",
            expected="an event stream",
            actual=answer.raw[:80].decode("utf-8", "replace"),
        )
    if not answer.asked.stream and answer.kind is Kind.STREAM:
        yield Finding(
            message="stream is not true, and the answer is an event stream", expected="JSON", actual="an event stream"
        )


def _is_unframed(answer: Answer) -> bool:
    """Whether an answer that is called an event stream is JSON, one line after another, and no event."""
    return answer.kind is Kind.STREAM and not answer.events and answer.raw.lstrip()[:1] == b"{"


@rule(
    "http.malformed-json-rejected",
    Level.MUST,
    Basis.DOCUMENTED,
    by_analogy=(RESPONSES,),
    source=BAD_REQUEST,
    when=malformed_post,
)
def malformed_body_is_refused(answer: Answer) -> Findings:
    """A body that is not one JSON object is refused with 400 and the error envelope."""
    yield from refusal(answer, f"a body that is malformed ({(answer.asked.malformed or '')[:100]})")
    if answer.status == 400 and not enveloped(answer):
        yield Finding(
            message="a malformed body is refused without the error envelope",
            expected=f"the {ENVELOPES[answer.protocol]} envelope",
            actual=answer.raw[:80].decode("utf-8", "replace"),
        )


@rule("http.method-rejected", Level.SHOULD, Basis.PROTOCOL, source=OPERATION, when=got)
def get_is_refused(answer: Answer) -> Findings:
    """GET on the endpoint is refused with a 4xx."""
    status = answer.status or 0
    if status in GATEWAY:
        raise Inconclusive(f"HTTP {status} comes from a proxy in front")
    if not 400 <= status < 500:
        yield Finding(message="GET is not refused with a 4xx", expected="a 4xx", actual=told(answer))


@rule(
    "http.rate-limit.retry-after",
    Level.INFO,
    Basis.PROTOCOL,
    source=RATE_LIMITED,
    when=limited,
)
def rate_limit_says_when(answer: Answer) -> Findings:
    """A 429 says when to try again: a Retry-After header, in seconds or as a date."""
    value = answer.header("retry-after")
    if value is None or not _is_delay(value.strip()):
        yield Finding(
            message="no Retry-After in seconds or as a date",
            pointer="header Retry-After",
            expected="seconds or a date",
            actual=shown(value),
        )


def _is_delay(value: str) -> bool:
    if value.isascii() and value.isdigit():
        return True
    try:
        parsedate_to_datetime(value[:100])
    except (ValueError, TypeError, IndexError, OverflowError):
        return False
    return True
