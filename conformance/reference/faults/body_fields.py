"""Faults in the fields of a body: those that are missing, and those of a wrong type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.reference.faults.registry import BOTH, CHAT, EVERY, JSON, MESSAGES, RESPONSES, fault
from conformance.reference.hooks import Context
from conformance.values import Protocol

_REQUIRED = "body.required-fields"
_ABSENT: tuple[tuple[str, str, tuple[Protocol, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    # field, stage, surfaces, modes, rules
    ("id", "identity", EVERY, BOTH, (_REQUIRED,)),
    ("model", "identity", EVERY, BOTH, (_REQUIRED,)),
    ("object", "identity", (CHAT, RESPONSES), BOTH, (_REQUIRED, "body.object-type")),
    ("created", "identity", (CHAT,), BOTH, (_REQUIRED, "body.created-seconds")),
    ("created_at", "identity", (RESPONSES,), BOTH, (_REQUIRED, "body.created-seconds")),
    ("type", "identity", (MESSAGES,), (JSON,), (_REQUIRED,)),
    ("role", "identity", (MESSAGES,), BOTH, (_REQUIRED, "body.role-assistant")),
    ("choices", "identity", (CHAT,), (JSON,), (_REQUIRED,)),
    ("content", "identity", (MESSAGES,), (JSON,), (_REQUIRED,)),
    ("output", "ending", (RESPONSES,), BOTH, (_REQUIRED,)),
    ("status", "ending", (RESPONSES,), BOTH, (_REQUIRED,)),
    ("usage", "ending", (RESPONSES,), BOTH, (_REQUIRED, "usage.present")),
    ("usage", "identity", (CHAT, MESSAGES), (JSON,), (_REQUIRED, "usage.present")),
)

_SEEN = {"body-no-object": ("NVIDIA/TensorRT-Edge-LLM#93",)}


def _without(name: str) -> Callable[[Context, dict[str, Any]], dict[str, Any]]:
    def hook(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
        answer.pop(name, None)
        return answer

    hook.__doc__ = f"The answer has no {name}."
    return hook


for _name, _stage, _on, _modes, _rules in _ABSENT:
    _what = f"body-no-{_name.replace('_', '-')}" + ("-in-response" if (_name, _stage) == ("usage", "ending") else "")
    fault(_what, _stage, on=_on, modes=_modes, caught_by=_rules, seen=_SEEN.get(_what, ()))(_without(_name))


@fault("body-model-object", "identity", caught_by=("body.schema", "model.echoed"))
def model_object(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The model is an object with the name in it."""
    return answer | {"model": {"name": answer["model"]}}


@fault("body-model-null", "identity", caught_by=("body.schema",))
def model_null(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The model is null."""
    return answer | {"model": None}


@fault("body-is-array", "body", modes=(JSON,), caught_by=("body.schema",))
def body_is_array(_: Context, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The body is an array with the answer in it."""
    return [answer]


@fault("body-wrapped", "body", modes=(JSON,), caught_by=(_REQUIRED,))
def body_wrapped(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """A gateway wraps the answer into a data member."""
    return {"success": True, "data": answer}


@fault(
    "body-reasoning-null",
    "message",
    on=(CHAT,),
    modes=(JSON,),
    caught_by=("body.schema", "reasoning.always-on"),
    seen=("vllm-project/vllm#13375",),
)
def reasoning_null(_: Context, message: dict[str, Any]) -> dict[str, Any]:
    """reasoning_content is null."""
    return message | {"reasoning_content": None}


@fault("body-reasoning-object", "message", on=(CHAT,), modes=(JSON,), caught_by=("body.schema",))
def reasoning_object(_: Context, message: dict[str, Any]) -> dict[str, Any]:
    """reasoning_content is an object with the text in it."""
    return message | {"reasoning_content": {"text": message["reasoning_content"]}}


@fault("body-tool-calls-null", "message", on=(CHAT,), modes=(JSON,), caught_by=("body.schema",))
def tool_calls_null(_: Context, message: dict[str, Any]) -> dict[str, Any]:
    """A message without calls carries tool_calls: null."""
    return {"tool_calls": None} | message


@fault("body-content-object", "message", on=(CHAT,), modes=(JSON,), caught_by=("body.schema",))
def content_object(_: Context, message: dict[str, Any]) -> dict[str, Any]:
    """The content is an object with the text in it."""
    return message | {"content": {"text": message["content"]}}


@fault("body-thinking-null", "block", on=(MESSAGES,), modes=(JSON,), caught_by=("body.schema",))
def thinking_null(_: Context, block: dict[str, Any]) -> dict[str, Any]:
    """A thinking block has null where its text belongs."""
    return block | {"thinking": None} if block["type"] == "thinking" else block


@fault(
    "body-text-block-without-text",
    "block",
    on=(MESSAGES,),
    modes=(JSON,),
    caught_by=("body.schema", "body.text-not-empty"),
)
def text_block_without_text(_: Context, block: dict[str, Any]) -> dict[str, Any]:
    """A text block has its text under content."""
    return {"type": "text", "content": block["text"]} if block["type"] == "text" else block


@fault(
    "body-signature-number",
    "block",
    on=(MESSAGES,),
    modes=(JSON,),
    caught_by=("body.schema", "reasoning.signature"),
)
def signature_number(_: Context, block: dict[str, Any]) -> dict[str, Any]:
    """The signature of a thinking block is a number."""
    return block | {"signature": 1} if block["type"] == "thinking" else block


@fault("body-output-object", "ending", on=(RESPONSES,), caught_by=("body.schema",))
def output_object(_: Context, response: dict[str, Any]) -> dict[str, Any]:
    """The output is an object with the items in it."""
    return response | {"output": {"items": response["output"]}}


@fault("body-usage-array", "ending", on=(RESPONSES,), caught_by=("body.schema", "usage.present"))
def usage_array(_: Context, response: dict[str, Any]) -> dict[str, Any]:
    """The usage is an array with the counts in it."""
    return response | {"usage": [response["usage"]]}
