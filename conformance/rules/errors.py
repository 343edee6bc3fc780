"""Errors: their envelope, their words, and that their type fits their status."""

from __future__ import annotations

from typing import Any

from conformance.protocols.view import MISSING, Answer, Kind
from conformance.rules.decisions import told
from conformance.rules.error_families import Family, families, named
from conformance.rules.http import ERRORS, documented_error
from conformance.rules.parts import shown
from conformance.rules.places import ENVELOPE, ERROR_MESSAGE, ERROR_TYPE, SUCCESS, UNAUTHORIZED
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Inconclusive, rule
from conformance.values import Basis, Finding, Level, Protocol

_ANSWER_FIELDS = ("choices", "content", "output")
_SHAPES = {CHAT: ("choices",), MESSAGES: ("content",), RESPONSES: ("output", "status")}
_STATUS_OF = {Family.AUTHENTICATION: 401, Family.LIMIT: 429}
_FITTING = {
    400: {Family.INVALID, Family.POLICY},
    401: {Family.AUTHENTICATION, Family.PERMISSION},
    429: {Family.LIMIT, Family.OVERLOAD},
}


def any_error(answer: Answer) -> bool:
    """An answer with status 400, 401, 429 or 500; at should also one with another status of 400 or more."""
    return answer.status is not None and answer.status >= 400


def with_envelope(answer: Answer) -> bool:
    """An error that carries a message, in a body or in a stream."""
    return answer.error is not None and isinstance(answer.error.message, str)


def known_error(answer: Answer) -> bool:
    """An answer with status 400, 401 or 429 whose error type or code is a known name."""
    return answer.status in _FITTING and answer.error is not None and bool(families(answer.error))


def names_key_or_limit(answer: Answer) -> bool:
    """An error whose type or code names authentication, a rate limit or a quota."""
    if answer.error is None or answer.status is None or answer.status < 400:
        return False
    return bool(set(named(answer.error).values()) & _STATUS_OF.keys())


def json_success(answer: Answer) -> bool:
    """A 200 to a POST whose body is JSON and arrived whole."""
    posted = answer.asked.method == "POST" and answer.broken is None
    return posted and answer.status == 200 and answer.kind is Kind.JSON and answer.value is not MISSING


def error_object(answer: Answer) -> bool:
    """An answer with status 400, 401, 429 or 500 whose body is a JSON object."""
    return documented_error(answer) and isinstance(answer.value, dict)


@rule("error.envelope", Level.MUST, Basis.DOCUMENTED, by_analogy=(RESPONSES,), source=ENVELOPE, when=any_error)
def error_has_envelope(answer: Answer) -> Findings:
    """An error has the surface's envelope: each field there, and of its type."""
    most = Level.MUST if answer.status in ERRORS else Level.SHOULD
    body = answer.value
    if not isinstance(body, dict):
        if answer.broken is not None:
            raise Inconclusive(f"the body broke off: {answer.broken}")
        came = shown(body) if body is not MISSING else answer.raw[:80].decode("utf-8", "replace")
        yield Finding(message="the error is no JSON object", expected=_wanted(answer.protocol), actual=came, level=most)
        return
    inner = body.get("error", MISSING)
    if not isinstance(inner, dict):
        yield Finding(
            message="the error is not an object under error",
            pointer="/error",
            expected=_wanted(answer.protocol),
            actual=shown(inner),
            level=most,
        )
        return
    yield from _text(inner, "message", "/error/message", most)
    yield from _text(inner, "type", "/error/type", most)
    if answer.protocol is MESSAGES:
        if body.get("type") != "error":
            yield Finding(
                message="the type of the body is not error",
                pointer="/type",
                expected="error",
                actual=shown(body.get("type", MISSING)),
                level=most,
            )
        yield from _text(body, "request_id", "/request_id", most, missing=Level.SHOULD)
    elif inner.get("code", MISSING) is not None:
        yield from _text(inner, "code", "/error/code", most, missing=Level.SHOULD)


def _wanted(protocol: Protocol) -> str:
    if protocol is MESSAGES:
        return '{"type": "error", "error": {"type", "message"}, "request_id"}'
    return '{"error": {"message", "type", "code"}}'


def _text(holder: dict[str, Any], name: str, pointer: str, level: Level, *, missing: Level | None = None) -> Findings:
    value = holder.get(name, MISSING)
    if value is MISSING:
        yield Finding(message=f"{name} is missing", pointer=pointer, expected="a string", level=missing or level)
    elif not isinstance(value, str):
        yield Finding(
            message=f"{name} is not a string", pointer=pointer, expected="a string", actual=shown(value), level=level
        )


@rule("error.envelope.foreign", Level.MUST, Basis.DOCUMENTED, source=ENVELOPE, when=error_object)
def envelope_is_not_foreign(answer: Answer) -> Findings:
    """The envelope is not the one of the other format."""
    body: Any = answer.value
    inner = body.get("error")
    if not isinstance(inner, dict) or not isinstance(inner.get("message"), str):
        return
    if answer.protocol is MESSAGES:
        anthropic = body.get("type") == "error" or ("request_id" in body and "code" not in inner)
        if not anthropic:
            yield Finding(
                message="the envelope is the one of the OpenAI format", expected=_wanted(MESSAGES), actual=_keys(body)
            )
    elif body.get("type") == "error" and ("code" not in inner or "request_id" in body):
        yield Finding(
            message="the envelope is the one of the Anthropic format",
            expected=_wanted(answer.protocol),
            actual=_keys(body),
        )


def _keys(body: dict[str, Any]) -> list[str]:
    return [str(name)[:40] for name in list(body)[:10]]


@rule("error.message-not-empty", Level.SHOULD, Basis.PROTOCOL, source=ERROR_MESSAGE, when=with_envelope)
def message_is_not_blank(answer: Answer) -> Findings:
    """The message of an error is not blank."""
    error = answer.error
    if error is not None and not str(error.message).strip():
        place = "/error/message" if error.event is None else f"event {error.event}"
        yield Finding(message="the message is blank", pointer=place, expected="some words", actual=shown(error.message))


@rule("error.type-fits-status", Level.SHOULD, Basis.PROTOCOL, source=ERROR_TYPE, when=known_error)
def type_fits_status(answer: Answer) -> Findings:
    """The type or the code of an error belongs to its status."""
    error, status = answer.error, answer.status or 0
    if error is None:
        return
    found = families(error)
    if not found & _FITTING[status]:
        yield Finding(
            message=f"neither type nor code belongs to HTTP {status}",
            pointer="/error/type",
            expected=sorted(kind.value for kind in _FITTING[status]),
            actual={"type": shown(error.type), "code": shown(error.code)},
        )


@rule(
    "error.status-fits-type",
    Level.SHOULD,
    Basis.DOCUMENTED,
    source=UNAUTHORIZED,
    when=names_key_or_limit,
)
def status_fits_type(answer: Answer) -> Findings:
    """An authentication error has status 401, an error about a rate limit or a quota 429."""
    if answer.error is None:
        return
    wanted = {_STATUS_OF[kind]: name for name, kind in named(answer.error).items() if kind in _STATUS_OF}
    if answer.status not in wanted:
        status, name = next(iter(wanted.items()))
        yield Finding(message=f"an error named {name[:60]} has another status", expected=status, actual=told(answer))


@rule("error.not-in-success", Level.MUST, Basis.DOCUMENTED, source=SUCCESS, when=json_success)
def success_carries_no_error(answer: Answer) -> Findings:
    """A 200 carries an answer, not an error."""
    body = answer.value
    wanted = _SHAPES[answer.protocol]
    if answer.error is not None:
        yield Finding(
            message="an error comes behind HTTP 200", pointer="/error", expected="an answer", actual=_keys_of(body)
        )
    elif not isinstance(body, dict) or not any(name in body for name in wanted):
        yield Finding(message="a 200 is no answer", expected=f"an object with {wanted[0]}", actual=_keys_of(body))


def _keys_of(body: object) -> object:
    return _keys(body) if isinstance(body, dict) else shown(body)


@rule("error.not-mixed", Level.MUST, Basis.PROTOCOL, source=ENVELOPE, when=error_object)
def error_stands_alone(answer: Answer) -> Findings:
    """No choices, content or output stand beside an error."""
    body: Any = answer.value
    for name in _ANSWER_FIELDS:
        if body.get(name) is not None:
            yield Finding(
                message=f"{name} stands beside the error",
                pointer=f"/{name}",
                expected="absent",
                actual=shown(body[name]),
            )
