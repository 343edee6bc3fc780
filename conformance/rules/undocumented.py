"""What a request holds that no document names: the service may ignore it or refuse it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from conformance import specs
from conformance.models import DEFAULT
from conformance.protocols.view import Asked
from conformance.rules.registry import RESPONSES
from conformance.values import Protocol

ON_RESPONSES = frozenset({"model", "input", "max_output_tokens", "reasoning", "stream"})
"""What the Responses page names; the rest of that surface is folded there, and follows the OpenAI format."""

_MOST = 20  # pointers that are told
_DEEPEST = 64  # levels that are looked at


def undocumented(asked: Asked) -> tuple[str, ...]:
    """JSON pointers to properties that the effective request schema does not name, at most 20."""
    schema = _schema(asked.protocol, asked.model or DEFAULT)
    found = [f"/{name[:100]}" for name in asked.body if asked.protocol is RESPONSES and name not in ON_RESPONSES][
        :_MOST
    ]
    for pointer in _unknown([schema], asked.body, schema, "", 0):
        if len(found) >= _MOST:
            break
        found.append(pointer)
    return tuple(found)


def extra_properties(asked: Asked) -> tuple[str, ...]:
    """The names of unknown properties at the top level of a request, at most 20."""
    named = _schema(asked.protocol, asked.model or DEFAULT).get("properties", {})
    return tuple(name[:100] for name in asked.body if name not in named)[:_MOST]


@cache
def _schema(protocol: Protocol, model: str) -> dict[str, Any]:
    """One copy of a request schema for all; nobody here changes it."""
    return specs.request_schema(protocol, model)


def _unknown(
    nodes: list[dict[str, Any]], value: object, root: dict[str, Any], pointer: str, depth: int
) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    options = [option for node in nodes for option in _options(node, root, 0)]
    if isinstance(value, dict):
        fitting = [option for option in options if _fits(option, value, root)]
        if any("properties" not in option or option.get("additionalProperties") for option in fitting):
            return
        for key, child in value.items():
            below = [option["properties"][key] for option in fitting if key in option["properties"]]
            if not below:
                yield f"{pointer}/{key[:100]}"
            else:
                yield from _unknown(below, child, root, f"{pointer}/{key[:100]}", depth + 1)
    elif isinstance(value, list):
        below = [option["items"] for option in options if isinstance(option.get("items"), dict)]
        for place, child in enumerate(value) if below else ():
            yield from _unknown(below, child, root, f"{pointer}/{place}", depth + 1)


def _options(node: dict[str, Any], root: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    """The forms that a schema allows: its references followed, its alternatives side by side."""
    if depth > _DEEPEST:
        return
    reference = node.get("$ref")
    if isinstance(reference, str):
        yield from _options(root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {}), root, depth + 1)
        return
    alternatives = [*node.get("oneOf", ()), *node.get("anyOf", ())]
    if not alternatives:
        yield node
    for alternative in alternatives:
        yield from _options(alternative, root, depth + 1)


def _fits(option: dict[str, Any], value: dict[str, Any], root: dict[str, Any]) -> bool:
    """Whether a form can be meant: it allows objects, and the value's type tag."""
    allowed = option.get("type", "object")
    if allowed != "object" and "object" not in allowed:
        return False
    tag = option.get("properties", {}).get("type")
    if not isinstance(tag, dict) or "type" not in value:
        return True
    tag = next(_options(tag, root, 0), {})
    names = tag.get("enum", [tag["const"]] if "const" in tag else [value["type"]])
    return value["type"] in names
