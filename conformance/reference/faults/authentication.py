"""Faults in authentication: who is let in, how the others are turned away, and what becomes of the key."""

from __future__ import annotations

import base64
from typing import Any

from msgspec.structs import replace

from conformance.reference.faults.registry import CHAT, JSON, RESPONSES, STREAM, fault
from conformance.reference.hooks import Context, Head, Wire
from conformance.reference.refusals import Layer, Refusal

_MISSING = ("http.auth.missing-key",)
_INVALID = ("http.auth.invalid-key",)
_SCHEME = ("http.auth.wrong-scheme",)
_ECHO = ("http.key-not-echoed",)


def _let_in(refusal: Refusal | None) -> Refusal | None:
    return None if refusal is not None and refusal.layer is Layer.AUTHENTICATION else refusal


def _scheme(context: Context) -> str:
    return context.headers.get("authorization", "").partition(" ")[0].lower()


def _with_status(refusal: Refusal, status: int) -> Refusal:
    return replace(refusal, status=status) if refusal.layer is Layer.AUTHENTICATION else refusal


@fault("auth-missing-key-accepted", "admission", caught_by=_MISSING)
def missing_key_accepted(context: Context, refusal: Refusal | None) -> Refusal | None:
    """A request without any key is answered."""
    return refusal if "authorization" in context.headers or "x-api-key" in context.headers else _let_in(refusal)


@fault("auth-x-api-key-accepted", "admission", caught_by=_MISSING)
def x_api_key_accepted(context: Context, refusal: Refusal | None) -> Refusal | None:
    """The key is taken from x-api-key, so that a request without a bearer key is answered."""
    return _let_in(refusal) if "x-api-key" in context.headers else refusal


@fault("auth-invalid-key-accepted", "admission", caught_by=_INVALID)
def invalid_key_accepted(context: Context, refusal: Refusal | None) -> Refusal | None:
    """Any bearer key is accepted."""
    return _let_in(refusal) if _scheme(context) == "bearer" else refusal


@fault("auth-basic-accepted", "admission", caught_by=_SCHEME)
def basic_accepted(context: Context, refusal: Refusal | None) -> Refusal | None:
    """The key is accepted under the scheme Basic."""
    return _let_in(refusal) if _scheme(context) == "basic" else refusal


@fault("auth-bare-key-accepted", "admission", caught_by=_SCHEME)
def bare_key_accepted(context: Context, refusal: Refusal | None) -> Refusal | None:
    """The key is accepted without a scheme."""
    return _let_in(refusal) if _scheme(context) not in ("", "bearer", "basic") else refusal


@fault(
    "auth-error-as-500",
    "refusal",
    caught_by=("http.auth.missing-key", "http.auth.invalid-key", "error.status-fits-type"),
    seen=("ogx-ai/ogx#2990",),
)
def error_as_500(_: Context, refusal: Refusal) -> Refusal:
    """A missing or an invalid key gets HTTP 500."""
    return _with_status(refusal, 500)


@fault(
    "auth-error-as-400",
    "refusal",
    caught_by=("http.auth.missing-key", "http.auth.invalid-key", "error.status-fits-type"),
    seen=("router-for-me/CLIProxyAPI#2",),
)
def error_as_400(_: Context, refusal: Refusal) -> Refusal:
    """A missing or an invalid key gets HTTP 400."""
    return _with_status(refusal, 400)


@fault("auth-error-as-403", "refusal", caught_by=("error.status-fits-type", "http.status.documented"))
def error_as_403(_: Context, refusal: Refusal) -> Refusal:
    """A missing or an invalid key gets HTTP 403."""
    return _with_status(refusal, 403)


@fault("auth-wrong-scheme-as-500", "refusal", caught_by=(*_SCHEME, "error.status-fits-type"))
def wrong_scheme_as_500(context: Context, refusal: Refusal) -> Refusal:
    """An Authorization header that is not a bearer key gets HTTP 500."""
    return _with_status(refusal, 500) if _scheme(context) not in ("", "bearer") else refusal


@fault("key-in-header", "head", caught_by=_ECHO)
def key_in_header(context: Context, head: Head) -> Head:
    """Every answer repeats the key in a header."""
    return Head(status=head.status, headers=(*head.headers, ("x-client-key", context.key or "none")))


@fault(
    "key-in-auth-error",
    "refusal",
    caught_by=_ECHO,
    seen=("BerriAI/litellm#25203", "BerriAI/litellm#18731"),
)
def key_in_auth_error(context: Context, refusal: Refusal) -> Refusal:
    """The error about an invalid key repeats that key."""
    if refusal.layer is not Layer.AUTHENTICATION or context.key is None:
        return refusal
    return replace(refusal, message=f"Incorrect API key provided: {context.key}.")


@fault("key-in-answer", "payload", caught_by=_ECHO)
def key_in_answer(context: Context, payload: dict[str, Any]) -> dict[str, Any]:
    """Every body and event names the user by the key."""
    return payload | {"user": context.key}


@fault("key-in-base64", "payload", on=(CHAT, RESPONSES), modes=(JSON,), caught_by=_ECHO)
def key_in_base64(context: Context, payload: dict[str, Any]) -> dict[str, Any]:
    """The body carries the key in base64 as a token of its own."""
    return payload | {"session": base64.b64encode((context.key or "").encode()).decode()}


@fault("key-in-comment", "sent", modes=(STREAM,), caught_by=_ECHO)
def key_in_comment(context: Context, sent: tuple[Head, Wire]) -> tuple[Head, Wire]:
    """A comment of the stream holds the key, half of it in one chunk and half in the next."""
    head, wire = sent
    key = (context.key or "").encode()
    half = len(key) // 2
    return head, [b": " + key[:half], key[half:] + b"\n\n", *wire] if head.status == 200 else wire
