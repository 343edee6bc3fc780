"""Faults in what an error says: a status, type or message that does not fit what went wrong."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.reference.faults.registry import JSON, fault
from conformance.reference.hooks import Context
from conformance.reference.refusals import Layer, Refusal

_TYPE = ("error.type-fits-status",)
_STATUS = ("error.status-fits-type",)
_LEAK = ("http.no-internals-leaked",)


def _at(layer: Layer, refusal: Refusal, **changes: object) -> Refusal:
    return replace(refusal, **changes) if refusal.layer is layer else refusal


@fault("error-type-invalid-for-keys", "refusal", caught_by=_TYPE)
def invalid_for_keys(_: Context, refusal: Refusal) -> Refusal:
    """HTTP 401 comes with the type and the code of an invalid request."""
    return _at(Layer.AUTHENTICATION, refusal, type="invalid_request_error", code="invalid_request")


@fault("error-type-server-for-validation", "refusal", caught_by=_TYPE)
def server_for_validation(_: Context, refusal: Refusal) -> Refusal:
    """HTTP 400 comes with the type of a server error."""
    return _at(Layer.VALIDATION, refusal, type="api_error", code="internal_error")


@fault("error-type-key-for-validation", "refusal", caught_by=_TYPE)
def key_for_validation(_: Context, refusal: Refusal) -> Refusal:
    """HTTP 400 comes with the type of an authentication error."""
    return _at(Layer.VALIDATION, refusal, type="authentication_error", code="invalid_api_key")


@fault("error-type-invalid-for-rate-limit", "refusal", modes=(JSON,), caught_by=_TYPE)
def invalid_for_rate_limit(_: Context, refusal: Refusal) -> Refusal:
    """HTTP 429 comes with the type of an invalid request."""
    return _at(Layer.RATE, refusal, type="invalid_request_error", code="invalid_request")


@fault("rate-limit-as-400", "refusal", modes=(JSON,), caught_by=_STATUS)
def rate_limit_as_400(_: Context, refusal: Refusal) -> Refusal:
    """A reached rate limit gets HTTP 400."""
    return _at(Layer.RATE, refusal, status=400)


@fault("rate-limit-as-500", "refusal", modes=(JSON,), caught_by=_STATUS)
def rate_limit_as_500(_: Context, refusal: Refusal) -> Refusal:
    """A reached rate limit gets HTTP 500."""
    return _at(Layer.RATE, refusal, status=500)


@fault(
    "rate-limit-as-503",
    "refusal",
    modes=(JSON,),
    caught_by=(*_STATUS, "http.status.documented"),
    seen=("sourcegraph/sourcegraph-public-snapshot#52518",),
)
def rate_limit_as_503(_: Context, refusal: Refusal) -> Refusal:
    """A reached rate limit gets HTTP 503."""
    return _at(Layer.RATE, refusal, status=503)


@fault("quota-as-402", "refusal", modes=(JSON,), caught_by=(*_STATUS, "http.status.documented"))
def quota_as_402(_: Context, refusal: Refusal) -> Refusal:
    """A quota that is used up gets HTTP 402."""
    return _at(Layer.RATE, refusal, status=402, type="insufficient_quota", code="insufficient_quota")


@fault("quota-as-403", "refusal", modes=(JSON,), caught_by=(*_STATUS, "http.status.documented"))
def quota_as_403(_: Context, refusal: Refusal) -> Refusal:
    """A balance that is used up gets HTTP 403."""
    return _at(Layer.RATE, refusal, status=403, type="insufficient_balance", code="insufficient_balance")


@fault(
    "error-422",
    "refusal",
    caught_by=("request.invalid-rejected", "http.status.documented"),
    seen=("huggingface/huggingface_hub#2514",),
)
def validation_as_422(_: Context, refusal: Refusal) -> Refusal:
    """A request that breaks the schema gets HTTP 422."""
    return _at(Layer.VALIDATION, refusal, status=422)


@fault(
    "error-500-for-400",
    "refusal",
    caught_by=("http.no-server-error", "request.invalid-rejected"),
    seen=("ggml-org/llama.cpp#23463", "vllm-project/vllm#16774"),
)
def validation_as_500(_: Context, refusal: Refusal) -> Refusal:
    """A request that breaks the schema gets HTTP 500."""
    return _at(Layer.VALIDATION, refusal, status=500, type="internal_error", code="internal_error")


@fault(
    "leak-traceback",
    "refusal",
    caught_by=_LEAK,
    seen=("BerriAI/litellm#31489", "ray-project/ray#64832"),
)
def traceback_shown(_: Context, refusal: Refusal) -> Refusal:
    """The message of an error ends in a Python traceback."""
    trace = 'Traceback (most recent call last):\n  File "/app/server/routes.py", line 88, in answer\n    raise error'
    return replace(refusal, message=f"{refusal.message}\n{trace}")


@fault("leak-rust-frames", "refusal", caught_by=_LEAK, seen=("guoqingbao/xinfer#76",))
def panic_shown(_: Context, refusal: Refusal) -> Refusal:
    """The message of a validation error says where in the source the server failed."""
    return _at(Layer.VALIDATION, refusal, message=f"{refusal.message} (src/server/chat.rs:214:9)")


@fault("leak-upstream-url", "refusal", caught_by=_LEAK)
def upstream_shown(_: Context, refusal: Refusal) -> Refusal:
    """The message of a validation error names the address of the server behind the service."""
    words = "upstream http://model-07.prod.internal:8000/v1/chat/completions: "
    return _at(Layer.VALIDATION, refusal, message=words + refusal.message)


@fault("leak-private-address", "refusal", caught_by=_LEAK)
def address_shown(_: Context, refusal: Refusal) -> Refusal:
    """The message of an error about a key names the private address of the server that keeps the keys."""
    return _at(Layer.AUTHENTICATION, refusal, message=f"{refusal.message} (dial tcp 10.0.3.17:5432: refused)")
