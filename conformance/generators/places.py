"""A body beside its schema: which part of the schema governs which value, and bodies with one value changed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.specs.schemas import escaped, shared_request
from conformance.specs.validation import meant, referred
from conformance.values import Protocol

MOST_ITEMS = 256  # of one array: what follows says nothing new
MOST_PLACES = 20_000  # of one body, which may come from the wire
Path = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True)
class Place:
    """One value of a body and the part of the schema that governs it."""

    pointer: str  # of the part, references followed, as constraints are named
    schema: dict[str, Any]
    path: Path  # into the body
    value: Any


def places(protocol: Protocol, model: str, body: object) -> Iterator[Place]:
    """Every place of a body that the request schema speaks of, outer before inner, at most 20,000.

    Of a ``oneOf`` the option that the value is meant for is followed; none where that is open.
    """
    schema = shared_request(protocol, model)
    definitions: dict[str, Any] = schema.get("$defs", {})
    waiting: list[tuple[dict[str, Any], str, Path, Any]] = [(schema, "", (), body)]
    for _ in range(MOST_PLACES):
        if not waiting:
            return
        node, pointer, path, value = waiting.pop()
        node, pointer = resolved(definitions, node, pointer)
        yield Place(pointer=pointer, schema=node, path=path, value=value)
        waiting += reversed(list(_below(definitions, node, pointer, path, value)))


def resolved(definitions: dict[str, Any], node: dict[str, Any], pointer: str) -> tuple[dict[str, Any], str]:
    """A part of a schema and its pointer, its reference followed."""
    while "$ref" in node:
        name = node["$ref"].removeprefix("#/$defs/")
        node, pointer = definitions[name], f"/$defs/{escaped(name)}"
    return node, pointer


def option_of(definitions: dict[str, Any], options: list[dict[str, Any]], value: Any) -> int | None:
    """The option of a ``oneOf`` that a value is meant for; None where that is open."""
    return meant([referred(definitions, option) for option in options], value)


def _below(
    definitions: dict[str, Any], node: dict[str, Any], pointer: str, path: Path, value: Any
) -> Iterator[tuple[dict[str, Any], str, Path, Any]]:
    for keyword in ("oneOf", "anyOf"):
        number = option_of(definitions, node[keyword], value) if keyword in node else None
        if number is not None:
            yield node[keyword][number], f"{pointer}/{keyword}/{number}", path, value
    if isinstance(value, dict):
        for name, child in node.get("properties", {}).items():
            if name in value:
                yield child, f"{pointer}/properties/{escaped(name)}", (*path, name), value[name]
    if isinstance(value, list) and "items" in node:
        for number, item in enumerate(value[:MOST_ITEMS]):
            yield node["items"], f"{pointer}/items", (*path, number), item


def replaced(body: Any, path: Path, value: Any) -> Any:
    """A copy of the body with another value at a place; an empty path replaces the body itself."""
    if not path:
        return copy.deepcopy(value)
    changed = copy.deepcopy(body)
    _parent(changed, path)[path[-1]] = copy.deepcopy(value)
    return changed


def without(body: Any, path: Path) -> Any:
    """A copy of the body that lacks a property."""
    changed = copy.deepcopy(body)
    del _parent(changed, path)[path[-1]]
    return changed


def _parent(body: Any, path: Path) -> Any:
    for part in path[:-1]:
        body = body[part]
    return body
