"""Which constraints of a schema a body breaks, each named by its place in the schema and in the body."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import msgspec

from conformance.specs.schemas import escaped, owner, shared_events, shared_request, shared_response
from conformance.specs.validation import Validator, utf8_length
from conformance.values import Protocol

_MOST = 100  # breaches reported of one body
_SHOWN = 120  # characters of a string or a serialised value that are shown
_LONGEST_KEPT = 8192  # characters of a body whose breaches are kept for the next who asks


class Breach(msgspec.Struct, frozen=True, kw_only=True):
    """One broken constraint of a schema."""

    constraint: str  # JSON pointer of the keyword within the standalone schema; ``$ref`` is followed: /$defs/Message/…
    path: str  # JSON pointer into the body; for a missing property that of the object which lacks it
    keyword: str
    message: str  # bounded, for people
    value: Any = None  # what came, cut to a short form; for ``required`` the missing name
    rule: str | None = None  # the rule that owns it; None: request.invalid-rejected or body.schema
    open: bool = False  # the documents leave it open: nothing may be demanded
    inferred: bool = False  # no document states it, the format does


def pointer(parts: Any) -> str:
    """The JSON pointer of a sequence of names and indexes."""
    return "".join(f"/{escaped(part)}" for part in parts)


def short(value: Any) -> Any:
    """The value where it is small; else a string that shows its beginning or its size."""
    if isinstance(value, str):
        return value if len(value) <= _SHOWN else f"{value[:_SHOWN]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return f"an object with {len(value)} member{'s' * (len(value) != 1)}" if value else {}
    if isinstance(value, list):
        return f"an array of {len(value)}" if value else []
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    return value


def _shown(value: Any) -> str:
    found = short(value)
    if isinstance(value, (dict, list)) and value:
        return str(found)
    if isinstance(found, str):
        return repr(found) if found.isprintable() else ascii(found)
    if found is None or isinstance(found, bool):
        return "null" if found is None else str(found).lower()
    return repr(found)


def _listed(values: Any) -> str:
    return ", ".join(map(_shown, values))


_MESSAGES: dict[str, Callable[[Any, Any], str]] = {
    "type": lambda limit, came: (
        f"must be {limit if isinstance(limit, str) else ' or '.join(limit)}, not {_shown(came)}"
    ),
    "enum": lambda limit, came: f"must be one of {_listed(limit)}, not {_shown(came)}",
    "const": lambda limit, came: f"must be {_shown(limit)}, not {_shown(came)}",
    "minimum": lambda limit, came: f"must be at least {limit}, not {_shown(came)}",
    "maximum": lambda limit, came: f"must be at most {limit}, not {_shown(came)}",
    "minItems": lambda limit, came: f"must have at least {limit} entries, not {len(came)}",
    "maxItems": lambda limit, came: f"must have at most {limit} entries, not {len(came)}",
    "required": lambda _, name: f"lacks the required {_shown(name)}",
    "not": lambda _, came: f"is not allowed here, but is {_shown(came)}",
    "oneOf": lambda _, came: f"fits none of the allowed forms: {_shown(came)}",
    "anyOf": lambda _, came: f"fits none of the allowed forms: {_shown(came)}",
    "x-max-bytes": lambda limit, came: f"must have at most {limit} bytes of UTF-8, not {utf8_length(came)}",
}


def _walk(schema: dict[str, Any], parts: list[Any]) -> tuple[list[Any], dict[str, Any], bool]:
    """The canonical place of a keyword (references followed), the schema that holds it, and whether it is inferred."""
    node: Any = schema
    place: list[Any] = []
    holder: dict[str, Any] = schema
    inferred = False
    for part in parts:
        inferred = inferred or (isinstance(node, dict) and node.get("x-inferred") is True)
        while isinstance(node, dict) and "$ref" in node and part not in node:  # jsonschema leaves $ref out of its paths
            name = node["$ref"].removeprefix("#/$defs/")
            place, node = ["$defs", name], schema["$defs"][name]
            inferred = inferred or node.get("x-inferred") is True
        holder, node = node, node[part]
        place.append(part)
    return place, holder, inferred


def _is_open(schema: dict[str, Any], keyword: str, value: Any) -> bool:
    marked = schema.get("x-open", {}).get(keyword)
    if isinstance(marked, list):
        return any(type(entry) is type(value) and entry == value for entry in marked)
    return marked is True


def _breach(schema: dict[str, Any], error: Any, missing: str | None) -> Breach:
    place, node, inferred = _walk(schema, list(error.absolute_schema_path))
    keyword = str(place[-1])
    value = missing if keyword == "required" else error.instance
    return Breach(
        constraint=pointer(place),
        path=pointer(error.absolute_path),
        keyword=keyword,
        message=_MESSAGES[keyword](error.validator_value, missing if keyword == "required" else error.instance),
        value=short(value),
        rule=owner(node, keyword, value),
        open=_is_open(node, keyword, value),
        inferred=inferred,
    )


def _found(schema: dict[str, Any], errors: list[Any]) -> list[Breach]:
    breaches: list[Breach] = []
    lacking: dict[str, list[str]] = {}
    for error in errors:
        missing = None
        if error.validator == "required":  # jsonschema says which property only in its message
            place = pointer(error.absolute_path) + " " + pointer(error.absolute_schema_path)
            if place not in lacking:
                lacking[place] = [name for name in error.validator_value if name not in error.instance]
            missing = lacking[place].pop(0) if lacking[place] else None
        breaches.append(_breach(schema, error, missing))
    return breaches


def _below(path: str, other: str) -> bool:
    return other == path or other.startswith(path + "/")


def _of_model(breach: Breach) -> bool:
    return breach.rule is not None and breach.rule.startswith("model.")


def _settled(breaches: list[Breach]) -> tuple[Breach, ...]:
    """Without what another breach already says.

    A value that a model's rule forbids altogether has no other breach, and a wrong type has no further one at its
    place; a breach that belongs to a model's rule leaves no other at its place or below.
    """
    banned = {breach.path for breach in breaches if _of_model(breach) and breach.keyword == "not"}
    typed = {breach.path for breach in breaches if breach.keyword == "type"} - banned
    owned = {breach.path for breach in breaches if _of_model(breach)} - typed
    kept: list[Breach] = []
    for breach in breaches:
        path = breach.path
        said = (path in typed and breach.keyword != "type") or (
            not _of_model(breach) and any(_below(other, path) for other in owned)
        )
        if not said and breach not in kept:
            kept.append(breach)
    return tuple(kept[:_MOST])


class _Body:
    """A parsed body, told from others by the JSON of it."""

    __slots__ = ("_text", "value")

    def __init__(self, text: str, value: Any) -> None:
        self._text = text
        self.value = value

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Body) and other._text == self._text


def _judged(validator: Validator, body: Any) -> tuple[Breach, ...]:
    if validator.accepts(body):
        return ()
    try:
        text = json.dumps(body)
    except (TypeError, ValueError, RecursionError):
        return _broken(validator, _Body("", body))
    return (_broken if len(text) > _LONGEST_KEPT else _kept)(validator, _Body(text, body))


def _broken(validator: Validator, body: _Body) -> tuple[Breach, ...]:
    return _settled(_found(validator.schema, validator.errors(body.value)))


_kept = functools.lru_cache(4096)(_broken)  # rules, reports and generators ask for the same bodies


@functools.cache
def _request(protocol: Protocol, model: str) -> Validator:
    return Validator(shared_request(protocol, model))


@functools.cache
def _response(protocol: Protocol, model: str, *, required: bool) -> Validator:
    return Validator(shared_response(protocol, model, required=required))


@functools.cache
def _events(protocol: Protocol) -> dict[str, Validator]:
    return {name: Validator(schema) for name, schema in shared_events(protocol).items()}


def breaches(protocol: Protocol, model: str, body: object) -> tuple[Breach, ...]:
    """Every constraint of the request schema that a parsed body breaks; empty for a valid one.

    ``open`` ones are those that the documents leave open, inferred ones among them: neither refusing nor accepting them
    is wrong. At most 100 are reported.
    """
    return tuple(
        msgspec.structs.replace(breach, open=True) if breach.inferred else breach
        for breach in _judged(_request(protocol, model), body)
    )


def body_breaches(protocol: Protocol, model: str, body: object, *, required: bool = False) -> tuple[Breach, ...]:
    """Every constraint of the response schema that the body of a 200 answer breaks.

    With ``required`` also the fields of the documented example that are missing (rule body.required-fields).
    """
    return _judged(_response(protocol, model, required=required), body)


def event_breaches(protocol: Protocol, name: str | None, data: object) -> tuple[Breach, ...]:
    """Every constraint of its schema that the parsed data of a stream event breaks.

    An event of a name without a schema has none. Chat events have no names: there it is ignored.
    """
    validators = _events(protocol)
    if protocol is Protocol.CHAT:
        failed = isinstance(data, dict) and "error" in data and "choices" not in data
        name = "error" if failed else "chat.completion.chunk"
    found = validators.get(name) if name is not None else None
    return () if found is None else _judged(found, data)
