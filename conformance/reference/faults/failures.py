"""Faults of fragility: requests, valid or not, that the server breaks on."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, fault
from conformance.reference.faults.terms import LIMITS, TURNS, dumped, failure, layer, limit, said, sent
from conformance.reference.hooks import Context
from conformance.reference.problems import Problem
from conformance.reference.refusals import Layer, Refusal
from conformance.reference.results import Result

Problems = list[Problem]
_MALFORMED = ("http.malformed-json-rejected",)
_MALFORMED_500 = ("http.malformed-json-rejected", "http.no-server-error")
_INVALID_500 = ("http.no-server-error", "request.invalid-rejected")
_VALID_500 = ("http.no-repeated-server-error",)


def _parsed(context: Context, refusal: Refusal | None, raw: bytes) -> Refusal | None:
    """Let the server read other bytes than it was sent."""
    context.raw = raw
    return refusal


@fault("malformed-as-500", "refusal", modes=(JSON,), caught_by=_MALFORMED_500)
def malformed_as_500(_: Context, refusal: Refusal) -> Refusal:
    """A body that is no JSON gets HTTP 500."""
    if refusal.layer is not Layer.PARSING:
        return refusal
    return replace(refusal, status=500, type="internal_error", code="internal_error")


@fault("malformed-as-422", "refusal", modes=(JSON,), caught_by=_MALFORMED)
def malformed_as_422(_: Context, refusal: Refusal) -> Refusal:
    """A body that is no JSON gets HTTP 422."""
    return replace(refusal, status=422) if refusal.layer is Layer.PARSING else refusal


@fault("malformed-without-envelope", "envelope", modes=(JSON,), caught_by=(*_MALFORMED, "error.envelope"))
def malformed_without_envelope(context: Context, envelope: dict[str, Any]) -> dict[str, Any]:
    """A body that is no JSON is refused without the error envelope."""
    return {"message": "could not parse body"} if layer(context, envelope) is Layer.PARSING else envelope


@fault("empty-body-accepted", "admission", modes=(JSON,), caught_by=_MALFORMED)
def empty_body_accepted(context: Context, refusal: Refusal | None) -> Refusal | None:
    """A request without a body is answered with a greeting."""
    turns = "Hello" if TURNS[context.protocol] == "input" else [{"role": "user", "content": "Hello"}]
    greeting = {"model": "kimi-k3.1-pro", LIMITS[context.protocol]: 1024, TURNS[context.protocol]: turns}
    return refusal if context.raw or context.method != "POST" else _parsed(context, refusal, dumped(greeting))


@fault("array-body-accepted", "admission", modes=(JSON,), caught_by=_MALFORMED)
def array_body_accepted(context: Context, refusal: Refusal | None) -> Refusal | None:
    """A request within an array is answered."""
    raw = context.raw
    return _parsed(context, refusal, raw[1:-1]) if raw.startswith(b"[{") and raw.endswith(b"}]") else refusal


@fault("rest-of-body-ignored", "admission", modes=(JSON,), caught_by=_MALFORMED)
def rest_ignored(context: Context, refusal: Refusal | None) -> Refusal | None:
    """What follows the JSON value of a body is ignored."""
    raw = context.raw
    closing = raw.startswith(b"{") and raw.count(b"}") == raw.count(b"{") + 1
    return _parsed(context, refusal, raw[:-1]) if closing else refusal


@fault("truncated-body-completed", "admission", modes=(JSON,), caught_by=_MALFORMED)
def truncated_completed(context: Context, refusal: Refusal | None) -> Refusal | None:
    """A body whose last brace is missing is answered."""
    raw = context.raw
    open_end = raw.startswith(b"{") and raw.count(b"{") == raw.count(b"}") + 1
    return _parsed(context, refusal, raw + b"}") if open_end else refusal


@fault("bad-utf8-accepted", "admission", modes=(JSON,), caught_by=_MALFORMED)
def bad_utf8_accepted(context: Context, refusal: Refusal | None) -> Refusal | None:
    """Bytes of a body that are no UTF-8 are replaced, and the rest is answered."""
    return _parsed(context, refusal, said(context).encode())


@fault("type-error-as-500", "problems", caught_by=_INVALID_500, seen=("infiniflow/ragflow#15359",))
def type_error_as_500(_: Context, problems: Problems) -> Problems:
    """A value of the wrong type makes the server fail."""
    if any(problem.kind in ("type", "oneOf") for problem in problems):
        raise failure()
    return problems


@fault("range-error-as-500", "problems", caught_by=_INVALID_500)
def range_error_as_500(context: Context, problems: Problems) -> Problems:
    """An output limit of 0 makes the server fail."""
    if limit(context) == 0:
        raise failure()
    return problems


@fault("tool-choice-error-as-500", "problems", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=_INVALID_500)
def tool_choice_as_500(_: Context, problems: Problems) -> Problems:
    """A wrong tool choice makes the server fail."""
    if any(problem.path[:1] == ("tool_choice",) for problem in problems):
        raise failure()
    return problems


@fault(
    "schema-error-as-500",
    "problems",
    on=(CHAT,),
    modes=(JSON,),
    caught_by=_INVALID_500,
    seen=("ggml-org/llama.cpp#23463",),
)
def schema_as_500(_: Context, problems: Problems) -> Problems:
    """A wrong response_format makes the server fail."""
    if any(problem.path[:1] == ("response_format",) for problem in problems):
        raise failure()
    return problems


@fault("unknown-model-as-500", "problems", caught_by=("request.unknown-model-rejected",))
def unknown_model_as_500(_: Context, problems: Problems) -> Problems:
    """A model that does not exist makes the server fail."""
    if any(problem.path == ("model",) for problem in problems):
        raise failure()
    return problems


@fault(
    "unknown-model-without-envelope",
    "envelope",
    caught_by=("request.unknown-model-rejected",),
    seen=("ray-project/ray#64833",),
)
def unknown_model_without_envelope(context: Context, envelope: dict[str, Any]) -> dict[str, Any]:
    """A model that does not exist is refused with a bare detail."""
    unknown = str(context.model) not in ("kimi-k3.1-pro", "kimi-k3.1-pro-highspeed", "kimi-k3")
    return {"detail": "Unknown model."} if layer(context, envelope) is Layer.VALIDATION and unknown else envelope


@fault("unknown-model-as-404", "refusal", caught_by=("http.status.documented",))
def unknown_model_as_404(context: Context, refusal: Refusal) -> Refusal:
    """A model that does not exist gets HTTP 404."""
    return replace(refusal, status=404) if refusal.code == "model_not_found" and context.body else refusal


@fault("valid-as-500", "result", caught_by=_VALID_500)
def valid_as_500(_: Context, _result: Result) -> Result:
    """Every valid request makes the server fail."""
    raise failure()


@fault("cjk-as-500", "result", caught_by=_VALID_500)
def cjk_as_500(context: Context, result: Result) -> Result:
    """A request with CJK text makes the server fail."""
    if "漢字" in said(context):
        raise failure()
    return result


@fault("small-limit-as-500", "result", caught_by=_VALID_500)
def small_limit_as_500(context: Context, result: Result) -> Result:
    """An output limit of 1 makes the server fail."""
    if limit(context) == 1:
        raise failure()
    return result


@fault("image-as-500", "result", on=(CHAT,), caught_by=_VALID_500)
def image_as_500(context: Context, result: Result) -> Result:
    """An image makes the server fail."""
    if "image_url" in said(context):
        raise failure()
    return result


@fault(
    "system-role-as-500",
    "problems",
    on=(MESSAGES,),
    caught_by=("request.role-system-in-messages-rejected",),
)
def system_role_as_500(context: Context, problems: Problems) -> Problems:
    """A message of the role system makes the server fail."""
    if sent(context, "messages", 0, "role") == "system":
        raise failure()
    return problems


@fault(
    "orphan-result-as-500",
    "problems",
    on=(CHAT, MESSAGES),
    caught_by=("request.orphan-tool-result-rejected",),
)
def orphan_as_500(_: Context, problems: Problems) -> Problems:
    """A tool result that answers no call makes the server fail."""
    if any(problem.kind == "orphan-result" for problem in problems):
        raise failure()
    return problems
