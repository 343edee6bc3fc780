"""Standalone JSON Schemas (2020-12) out of the effective documents: requests, answers, stream events."""

from __future__ import annotations

import copy
import functools
from typing import Any

from conformance.models import DEFAULT
from conformance.specs.composition import recipe, shared
from conformance.values import Protocol

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_COMPONENTS = "#/components/schemas/"


def escaped(part: object) -> str:
    """One reference token of a JSON pointer."""
    return str(part).replace("~", "~0").replace("/", "~1")


def _localised(node: Any, needed: list[str]) -> Any:
    if isinstance(node, list):
        return [_localised(entry, needed) for entry in node]
    if not isinstance(node, dict):
        return node
    moved = {}
    for key, value in node.items():
        if key == "$ref" and isinstance(value, str) and value.startswith(_COMPONENTS):
            name = value.removeprefix(_COMPONENTS)
            needed.append(name)
            moved[key] = f"#/$defs/{name}"
        else:
            moved[key] = _localised(value, needed)
    return moved


def standalone(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The schema on its own: what it refers to is under ``$defs``, and the outermost ``$ref`` is resolved."""
    components = document["components"]["schemas"]
    while set(schema) == {"$ref"}:
        schema = components[schema["$ref"].removeprefix(_COMPONENTS)]
    needed: list[str] = []
    whole: dict[str, Any] = {"$schema": DIALECT, **_localised(schema, needed)}
    definitions: dict[str, Any] = {}
    while needed:
        name = needed.pop()
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _localised(components[name], needed)
    if definitions:
        whole["$defs"] = dict(sorted(definitions.items()))
    return whole


def _operation(protocol: Protocol, document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["paths"][recipe(protocol)["path"]]["post"]
    return found


@functools.cache
def shared_request(protocol: Protocol, model: str) -> dict[str, Any]:
    """As ``request_schema``, but the one cached schema: never to be changed."""
    document = shared(protocol, model)
    return standalone(document, _operation(protocol, document)["requestBody"]["content"]["application/json"]["schema"])


@functools.cache
def shared_response(protocol: Protocol, model: str, *, required: bool) -> dict[str, Any]:
    """As ``response_schema``, but the one cached schema: never to be changed."""
    document = shared(protocol, model, required=required)
    content = _operation(protocol, document)["responses"]["200"]["content"]
    return standalone(document, content["application/json"]["schema"])


@functools.cache
def shared_events(protocol: Protocol) -> dict[str, dict[str, Any]]:
    """As ``event_schemas``, but the cached schemas: never to be changed."""
    document = shared(protocol, DEFAULT, required=False)
    media = _operation(protocol, document)["responses"]["200"]["content"]["text/event-stream"]
    return {name: standalone(document, schema) for name, schema in media["x-events"].items()}


def request_schema(protocol: Protocol, model: str) -> dict[str, Any]:
    """What a request body to this surface and model must be valid under; a copy.

    Beyond JSON Schema: ``x-max-bytes`` limits the UTF-8 form of a string, ``x-rules`` names the rule that owns a
    keyword, ``x-open`` the values that the documents leave open, ``x-inferred`` what no document states.
    """
    return copy.deepcopy(shared_request(protocol, model))


def response_schema(protocol: Protocol, model: str, *, required: bool = False) -> dict[str, Any]:
    """What a 200 answer is valid under; with ``required`` also the fields of the documented example; a copy."""
    return copy.deepcopy(shared_response(protocol, model, required=required))


def event_schemas(protocol: Protocol) -> dict[str, dict[str, Any]]:
    """Event name to the schema of its data; on chat the names are chat.completion.chunk and error; copies."""
    return copy.deepcopy(shared_events(protocol))


def owner(schema: dict[str, Any], keyword: str, value: object = None) -> str | None:
    """The rule that owns a keyword of a schema, by the broken value where ownership depends on it."""
    rule = schema.get("x-rules", {}).get(keyword)
    if isinstance(rule, dict):
        rule = rule.get(value) if isinstance(value, str) else None
    return rule if isinstance(rule, str) else None
