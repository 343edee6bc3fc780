"""What a request body breaks: the effective schema, and what the documents say of single models.

This is the server's own reading. It takes the schemas of ``specs`` as data and shares no judgement with the rules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import jsonschema
import jsonschema_rs
from jsonschema.protocols import Validator

from conformance import specs
from conformance.models import DEFAULT, EFFORT_ALIASES, MODELS, Model
from conformance.reference.problems import Problem
from conformance.values import Protocol

MAX_STOP_SEQUENCE_BYTES = 32
EFFORTS = ("low", "high", "max", *EFFORT_ALIASES)
_MAX_PROBLEMS = 8
_MAX_MESSAGE = 300


def problems(protocol: Protocol, body: dict[str, Any]) -> list[Problem]:
    """Everything that is wrong with a body, at most a handful; empty when it is acceptable."""
    name = model_name(protocol, body)
    model = MODELS[name] if isinstance(name, str) and name in MODELS else MODELS[DEFAULT]
    checked = _checked(protocol, model, body)
    return [
        *islice(_schema_problems(protocol, model.id, checked), _MAX_PROBLEMS),
        *_own_problems(protocol, model, body),
    ]


def model_name(protocol: Protocol, body: dict[str, Any]) -> object:
    """The model that a body asks for; chat and messages fall back to the documented default."""
    return body.get("model") if protocol is Protocol.RESPONSES else body.get("model", DEFAULT)


def _checked(protocol: Protocol, model: Model, body: dict[str, Any]) -> dict[str, Any]:
    """The body as the schema is to see it: without what is judged below or ignored, with the documented default."""
    ignored = {"temperature", "top_p"}
    if not model.cache_ttl:
        ignored |= {"cache_control", "prompt_cache_options"}
    if not model.stop_sequences and protocol is Protocol.MESSAGES:
        ignored.add("stop_sequences")
    if body.get("reasoning_effort") in EFFORTS:
        ignored.add("reasoning_effort")
    checked = {key: value for key, value in body.items() if key not in ignored}
    config = checked.get("output_config")
    if isinstance(config, dict) and not model.aliases:
        judged = {"format"} | ({"effort"} if config.get("effort") in EFFORTS else set())
        checked["output_config"] = {key: value for key, value in config.items() if key not in judged}
    if protocol is not Protocol.RESPONSES:
        checked.setdefault("model", DEFAULT)
    return checked


@functools.cache
def _validators(protocol: Protocol, model: str) -> tuple[Callable[[Any], bool], Validator]:
    """The quick yes or no, and the validator that can explain a no."""
    schema = specs.request_schema(protocol, model)
    return jsonschema_rs.Draft202012Validator(schema).is_valid, jsonschema.Draft202012Validator(schema)


def _schema_problems(protocol: Protocol, model: str, body: dict[str, Any]) -> Iterator[Problem]:
    accepts, explains = _validators(protocol, model)
    try:
        if accepts(body):
            return
    except ValueError:  # nested more deeply than the quick validator follows
        pass
    for error in explains.iter_errors(body):
        plain = _closest(error)
        path = tuple(plain.absolute_path)
        yield Problem(
            kind=str(plain.validator),
            path=path,
            message=_shortened(plain.message),
            code="model_not_found" if path == ("model",) else None,
        )


def _closest(error: jsonschema.ValidationError) -> jsonschema.ValidationError:
    """The broken part of the option that was meant, where a oneOf fits in none of its options."""
    while error.context:
        meant = [part for part in error.context if not _wrong_option(error, part)]
        options = {part.schema_path[0] for part in meant}
        if len(options) != 1:
            break
        error = meant[0]
    return error


def _wrong_option(error: jsonschema.ValidationError, part: jsonschema.ValidationError) -> bool:
    """Whether the instance misses that option by its JSON type or by its ``type`` member."""
    siblings = [other for other in error.context or () if other.schema_path[0] == part.schema_path[0]]
    return any(
        (other.validator == "type" and not other.path) or (other.validator == "enum" and list(other.path) == ["type"])
        for other in siblings
    )


def _shortened(message: str) -> str:
    return message if len(message) <= _MAX_MESSAGE else f"{message[: _MAX_MESSAGE // 2]} … {message[-100:]}"


def _own_problems(protocol: Protocol, model: Model, body: dict[str, Any]) -> Iterator[Problem]:
    if protocol is Protocol.MESSAGES and model.stop_sequences:
        yield from _stop_sequences(body.get("stop_sequences"))
    if model.rejects_other_sampling and protocol is not Protocol.RESPONSES:
        yield from _sampling(model, "temperature", model.temperature, body)
        yield from _sampling(model, "top_p", model.top_p, body)
    yield from _withheld(protocol, model, body)
    yield from _effort(protocol, model, body)


def _stop_sequences(sequences: object) -> Iterator[Problem]:
    for index, sequence in enumerate(sequences if isinstance(sequences, list) else ()):
        path = ("stop_sequences", index)
        if sequence == "":
            yield Problem(kind="stop-sequence-empty", path=path, message="must not be empty")
        elif isinstance(sequence, str) and (size := len(sequence.encode())) > MAX_STOP_SEQUENCE_BYTES:
            message = f"at most {MAX_STOP_SEQUENCE_BYTES} bytes are allowed, got {size}"
            yield Problem(kind="stop-sequence-bytes", path=path, message=message)


def _sampling(model: Model, name: str, fixed: float, body: dict[str, Any]) -> Iterator[Problem]:
    value = body.get(name)
    if value is None or (not isinstance(value, bool) and value == fixed):
        return
    message = f"{model.id} supports only {fixed}; omit the field"
    yield Problem(kind=f"k3-{name.replace('_', '-')}", path=(name,), message=message)


def _withheld(protocol: Protocol, model: Model, body: dict[str, Any]) -> Iterator[Problem]:
    """Parameters that the documents offer on other models only."""
    for kind, path in _unsupported(protocol, model, body):
        yield Problem(kind=kind, path=path, message=f"{model.id} does not support this parameter")


def _unsupported(protocol: Protocol, model: Model, body: dict[str, Any]) -> Iterable[tuple[str, tuple[str, ...]]]:
    if protocol is Protocol.CHAT and not model.cache_ttl and "prompt_cache_options" in body:
        yield "k3-prompt-cache-options", ("prompt_cache_options",)
    if protocol is not Protocol.MESSAGES:
        return
    if not model.stop_sequences and body.get("stop_sequences", []) != []:
        yield "k3-stop-sequences", ("stop_sequences",)
    if not model.cache_ttl and "cache_control" in body:
        yield "k3-cache-control", ("cache_control",)
    config = body.get("output_config")
    if protocol not in model.structured_output and isinstance(config, dict) and "format" in config:
        yield "k3-output-format", ("output_config", "format")


def _effort(protocol: Protocol, model: Model, body: dict[str, Any]) -> Iterator[Problem]:
    """An effort that the model does not take; the Responses page names no values, so none is refused there."""
    if protocol is Protocol.RESPONSES or model.aliases:
        return
    path = ("output_config", "effort") if protocol is Protocol.MESSAGES else ("reasoning_effort",)
    value: Any = body
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    if value in EFFORTS and value not in model.efforts:
        yield Problem(kind="k3-effort", path=path, message=f"{model.id} supports only {', '.join(model.efforts)}")
