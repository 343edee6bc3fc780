"""Faults in error envelopes: another shape, missing fields, wrong types; everywhere or at one layer only."""

from __future__ import annotations

from typing import Any

from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, RESPONSES, fault
from conformance.reference.faults.terms import layer
from conformance.reference.hooks import Context
from conformance.reference.refusals import Layer
from conformance.values import Protocol

Envelope = dict[str, Any]
_ENVELOPE = ("error.envelope",)
_FOREIGN = ("error.envelope.foreign", "error.envelope")
_OPENAI = (CHAT, RESPONSES)


def _message(envelope: Envelope) -> str:
    return str(envelope["error"]["message"])


def _foreign(context: Context, envelope: Envelope) -> Envelope:
    """The envelope of the other format."""
    inner = envelope["error"]
    if context.protocol is Protocol.MESSAGES:
        return {"error": inner | {"param": None, "code": inner["type"]}}
    return {"type": "error", "error": {"type": inner["type"], "message": inner["message"]}, "request_id": context.id}


@fault("error-string", "envelope", caught_by=_ENVELOPE)
def string(_: Context, envelope: Envelope) -> Envelope:
    """The error is a string instead of an object."""
    return {"error": _message(envelope)}


@fault(
    "error-detail",
    "envelope",
    caught_by=_ENVELOPE,
    seen=("ray-project/ray#64833", "raullenchai/Rapid-MLX#491"),
)
def detail(_: Context, envelope: Envelope) -> Envelope:
    """The error is a bare detail, as the web framework writes it."""
    return {"detail": [{"loc": ["body"], "msg": _message(envelope), "type": "value_error"}]}


@fault("error-detail-for-keys", "envelope", caught_by=_ENVELOPE, seen=("raullenchai/Rapid-MLX#491",))
def detail_for_keys(context: Context, envelope: Envelope) -> Envelope:
    """Only errors about keys are a bare detail."""
    return detail(context, envelope) if layer(context, envelope) is Layer.AUTHENTICATION else envelope


@fault("error-flat", "envelope", caught_by=_ENVELOPE)
def flat(_: Context, envelope: Envelope) -> Envelope:
    """The fields of the error stand at the top, without an error object."""
    return {"object": "error", **envelope["error"]}


@fault("error-in-array", "envelope", caught_by=_ENVELOPE)
def in_array(_: Context, envelope: Envelope) -> Any:
    """The envelope comes within an array."""
    return [envelope]


@fault("error-type-missing", "envelope", caught_by=_ENVELOPE)
def type_missing(_: Context, envelope: Envelope) -> Envelope:
    """The error has no type."""
    del envelope["error"]["type"]
    return envelope


@fault("error-type-null-for-malformed", "envelope", modes=(JSON,), caught_by=_ENVELOPE)
def type_null(context: Context, envelope: Envelope) -> Envelope:
    """The type of an error is null where the body could not be parsed."""
    if layer(context, envelope) is Layer.PARSING:
        envelope["error"]["type"] = None
    return envelope


@fault("error-message-missing", "envelope", caught_by=_ENVELOPE)
def message_missing(_: Context, envelope: Envelope) -> Envelope:
    """The error has no message."""
    del envelope["error"]["message"]
    return envelope


@fault("error-message-list", "envelope", caught_by=_ENVELOPE, seen=("ayunis-core/ayunis-core#705",))
def message_list(context: Context, envelope: Envelope) -> Envelope:
    """The message of a validation error is an array."""
    if layer(context, envelope) is Layer.VALIDATION:
        envelope["error"]["message"] = _message(envelope).split("; ")
    return envelope


@fault(
    "error-code-number",
    "envelope",
    on=_OPENAI,
    caught_by=_ENVELOPE,
    seen=("sgl-project/sglang#32808", "openai/openai-python#3531"),
)
def code_number(_: Context, envelope: Envelope) -> Envelope:
    """The code of an error is the status as a number."""
    envelope["error"]["code"] = 400
    return envelope


@fault("error-code-missing", "envelope", on=_OPENAI, caught_by=_ENVELOPE)
def code_missing(_: Context, envelope: Envelope) -> Envelope:
    """The error has no code."""
    del envelope["error"]["code"]
    return envelope


@fault("error-request-id-missing", "envelope", on=(MESSAGES,), caught_by=_ENVELOPE, seen=("api7/aisix#352",))
def request_id_missing(_: Context, envelope: Envelope) -> Envelope:
    """The error names no request id."""
    del envelope["request_id"]
    return envelope


@fault("error-request-id-null", "envelope", on=(MESSAGES,), caught_by=_ENVELOPE)
def request_id_null(_: Context, envelope: Envelope) -> Envelope:
    """The request id of an error is null."""
    return envelope | {"request_id": None}


@fault("error-type-of-body-missing", "envelope", on=(MESSAGES,), caught_by=_ENVELOPE)
def type_of_body_missing(_: Context, envelope: Envelope) -> Envelope:
    """The body of an error does not say that its type is error."""
    del envelope["type"]
    return envelope


@fault(
    "error-foreign-envelope",
    "envelope",
    caught_by=_FOREIGN,
    seen=("BerriAI/litellm#39037", "NVIDIA-NeMo/Switchyard#315"),
)
def foreign(context: Context, envelope: Envelope) -> Envelope:
    """Errors come in the envelope of the other format."""
    return _foreign(context, envelope)


@fault("error-foreign-at-validation", "envelope", caught_by=_FOREIGN, seen=("vllm-project/vllm#57997",))
def foreign_at_validation(context: Context, envelope: Envelope) -> Envelope:
    """Only errors of validation come in the envelope of the other format."""
    return _foreign(context, envelope) if layer(context, envelope) is Layer.VALIDATION else envelope


@fault("error-foreign-at-authentication", "envelope", caught_by=_FOREIGN, seen=("theopenco/llmgateway#2532",))
def foreign_at_authentication(context: Context, envelope: Envelope) -> Envelope:
    """Only errors about keys come in the envelope of the other format."""
    return _foreign(context, envelope) if layer(context, envelope) is Layer.AUTHENTICATION else envelope


@fault("error-foreign-at-parsing", "envelope", modes=(JSON,), caught_by=(*_FOREIGN, "http.malformed-json-rejected"))
def foreign_at_parsing(context: Context, envelope: Envelope) -> Envelope:
    """Only errors about bodies that are no JSON come in the envelope of the other format."""
    return _foreign(context, envelope) if layer(context, envelope) is Layer.PARSING else envelope


@fault("error-detail-at-routing", "envelope", modes=(JSON,), caught_by=_ENVELOPE)
def detail_at_routing(context: Context, envelope: Envelope) -> Envelope:
    """Only a wrong method gets a bare detail instead of the envelope."""
    return {"detail": "Method Not Allowed"} if layer(context, envelope) is Layer.ROUTING else envelope


@fault(
    "error-without-envelope-at-rate-limit", "envelope", modes=(JSON,), caught_by=_ENVELOPE, seen=("NVIDIA/nvcf#1690",)
)
def bare_at_rate_limit(context: Context, envelope: Envelope) -> Envelope:
    """Only a rate limit is told without the envelope."""
    return {"message": "rate limit exceeded"} if layer(context, envelope) is Layer.RATE else envelope


@fault("error-message-empty", "envelope", caught_by=("error.message-not-empty",))
def message_empty(_: Context, envelope: Envelope) -> Envelope:
    """The message of an error is empty."""
    envelope["error"]["message"] = ""
    return envelope


@fault("error-message-blank-for-keys", "envelope", caught_by=("error.message-not-empty",))
def message_blank(context: Context, envelope: Envelope) -> Envelope:
    """The message of an error about a key is blank."""
    if layer(context, envelope) is Layer.AUTHENTICATION:
        envelope["error"]["message"] = " \n"
    return envelope


@fault("error-mixed", "envelope", caught_by=("error.not-mixed",))
def mixed(context: Context, envelope: Envelope) -> Envelope:
    """An empty answer stands beside the error."""
    names = {Protocol.CHAT: "choices", Protocol.MESSAGES: "content", Protocol.RESPONSES: "output"}
    return envelope | {names[context.protocol]: []}


@fault("error-mixed-at-authentication", "envelope", caught_by=("error.not-mixed",))
def mixed_at_authentication(context: Context, envelope: Envelope) -> Envelope:
    """An empty answer stands beside an error about a key."""
    return mixed(context, envelope) if layer(context, envelope) is Layer.AUTHENTICATION else envelope
