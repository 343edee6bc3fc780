"""Authentication: what a request without a usable key gets, and that the key comes back nowhere."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from urllib.parse import quote

from conformance.protocols.view import Answer
from conformance.redact import HIDDEN_HEADERS, KEY_MARK, SHORTEST_KEY, is_ordinary, is_placeholder
from conformance.rules.decisions import UNRELATED, enveloped, told
from conformance.rules.places import BEARER, SCHEME, UNAUTHORIZED
from conformance.rules.registry import RESPONSES, Findings, Inconclusive, rule
from conformance.values import Basis, Finding, Intent, Level

_OURS = "REDACTED"  # what our own recorder leaves of a bare key


def without_key(answer: Answer) -> bool:
    """A POST without an Authorization header; a key in x-api-key alone is none."""
    return answer.asked.method == "POST" and answer.asked.scheme == "missing"


def with_invalid_key(answer: Answer) -> bool:
    """A POST with a bearer key that the probe declares invalid."""
    intended = answer.intends(Intent.INVALID_KEY)
    return intended and answer.asked.method == "POST" and answer.asked.scheme == "bearer"


def with_other_scheme(answer: Answer) -> bool:
    """A POST whose Authorization uses another scheme than Bearer: Basic, or a bare key."""
    if answer.asked.method != "POST" or answer.asked.scheme != "other":
        return False
    value = (answer.asked.header("authorization") or "").strip()
    return bool(value) and (value == _OURS or not is_placeholder(value))


def answered_at_all(answer: Answer) -> bool:
    """Any answer."""
    return answer.status is not None


@rule(
    "http.auth.missing-key",
    Level.MUST,
    Basis.DOCUMENTED,
    by_analogy=(RESPONSES,),
    source=UNAUTHORIZED,
    when=without_key,
)
def missing_key_is_unauthorized(answer: Answer) -> Findings:
    """A request without a key gets 401 with the error envelope."""
    yield from _unauthorized(answer, "a request without a key")


@rule(
    "http.auth.invalid-key",
    Level.MUST,
    Basis.DOCUMENTED,
    by_analogy=(RESPONSES,),
    source=UNAUTHORIZED,
    when=with_invalid_key,
)
def invalid_key_is_unauthorized(answer: Answer) -> Findings:
    """A request with an invalid key gets 401 with the error envelope."""
    yield from _unauthorized(answer, "a request with an invalid key")


@rule("http.auth.wrong-scheme", Level.SHOULD, Basis.DOCUMENTED, source=SCHEME, when=with_other_scheme)
def other_scheme_is_unauthorized(answer: Answer) -> Findings:
    """A request whose Authorization is not a bearer key gets 401."""
    yield from _unauthorized(answer, "a request whose Authorization is no bearer key")


def _unauthorized(answer: Answer, subject: str) -> Findings:
    status = answer.status
    if status == 401:
        if not enveloped(answer):
            yield Finding(
                message=f"{subject} gets 401 without the error envelope",
                expected="the error envelope",
                actual=answer.raw[:80].decode("utf-8", "replace"),
            )
        return
    if status is None:
        raise Inconclusive(f"no response: {answer.broken or 'none was recorded'}")
    if status in UNRELATED:
        raise Inconclusive(f"HTTP {status} comes before authentication, or from a proxy in front")
    if 400 <= status < 500 and (answer.asked.malformed is not None or answer.asked.breaches):
        raise Inconclusive("the request is invalid too, and may be refused for that")
    accepted = status == 200 and answer.error is None
    verb = "is accepted" if accepted else f"gets HTTP {status}"
    yield Finding(message=f"{subject} {verb}", expected=401, actual=told(answer))


@rule("http.key-not-echoed", Level.MUST, Basis.PROTOCOL, source=BEARER, when=answered_at_all)
def key_is_not_echoed(answer: Answer) -> Findings:
    """No part of the headers or the body holds the key that was sent."""
    asked = answer.asked
    said = f"{asked.url} {asked.raw.decode('utf-8', 'replace')}"
    for form in _forms(answer):
        if form in said:
            continue  # the request repeats it outside its headers: no leak of the service
        for name, value in answer.headers:
            if form in value:
                yield _echo(f"header {name[:60]}")
        if form.encode("utf-8", "replace") in answer.raw or form in answer.text or form in answer.reasoning:
            yield _echo("")


def _echo(pointer: str) -> Finding:
    return Finding(
        message="the answer holds the key that was sent", pointer=pointer, expected="no key", actual=KEY_MARK
    )


def _forms(answer: Answer) -> Iterator[str]:
    """The key as an answer could hold it; our redaction has put a mark where it stood."""
    yield KEY_MARK
    for name, value in answer.asked.headers:
        if name.lower() not in HIDDEN_HEADERS | {"authorization"} or "cookie" in name.lower():
            continue
        key = value.strip().split(None, 1)[-1] if value.strip() else ""
        if len(key) < SHORTEST_KEY or is_ordinary(key) or key == KEY_MARK:
            continue
        yield from dict.fromkeys((key, quote(key, safe=""), base64.b64encode(key.encode()).decode().rstrip("=")))
        yield from _password(key)


def _password(key: str) -> Iterator[str]:
    """The password of a Basic credential."""
    try:
        _, colon, password = base64.b64decode(key, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return
    if colon and len(password) >= SHORTEST_KEY:
        yield password
