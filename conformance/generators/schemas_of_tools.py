"""JSON Schemas that tools and output formats carry, each drawn together with a value that it admits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from conformance.generators.texts import texts

DEEPEST = 6  # levels of nesting
MOST_PARTS = 14  # schemas within one schema
_PATTERNS = (
    (r"^[a-z]{2,8}$", "river"),
    (r"^[A-Z]{2}-[0-9]{3}$", "AB-123"),
    (r"^\d{4}$", "2024"),
    (r"^(red|green|blue)$", "green"),
    (r"^\+?[0-9]{6,12}$", "+491701234"),
)
_FORMATS = (
    ("date", "2024-02-29"),
    ("date-time", "2024-02-29T12:00:00Z"),
    ("email", "ada@example.com"),
    ("uri", "https://example.com/a"),
    ("uuid", "123e4567-e89b-12d3-a456-426614174000"),
    ("ipv4", "192.0.2.1"),
)
_EDGES = (0, 1, -1, 2**31 - 1, 2**53, -(2**63))
_NAMES = ("city", "count", "when", "items", "name", "größe", "a b", "x-y", "type", "$ref-like")
Pair = tuple[dict[str, Any], Any]  # a schema, and a value that it admits
Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass
class _Drawing:
    """One schema while it is drawn: the definitions that it made, and how many parts it may still have."""

    draw: Draw
    definitions: dict[str, Any] = field(default_factory=dict)
    left: int = MOST_PARTS

    def part(self, depth: int) -> Pair:
        self.left -= 1
        deeper = depth < DEEPEST and self.left > 0
        kind = self.draw(st.sampled_from(_LEAVES + _BRANCHES if deeper else _LEAVES))
        schema, value = kind(self, depth)
        if self.draw(_seldom()):
            schema = {**schema, "description": self.draw(texts())}
        return schema, value


@functools.cache
def _seldom() -> st.SearchStrategy[bool]:
    return st.sampled_from((False, False, False, True))


def _string(now: _Drawing, _depth: int) -> Pair:
    if not now.draw(_seldom()):
        return {"type": "string"}, "Beijing"
    value = now.draw(texts())
    return {"type": "string", "minLength": 1, "maxLength": max(24, len(value))}, value


def _integer(now: _Drawing, _depth: int) -> Pair:
    value = now.draw(st.sampled_from(_EDGES) | st.integers(-1000, 1000))
    limits = now.draw(st.sampled_from(((), ("minimum",), ("maximum",), ("minimum", "maximum"))))
    return {"type": "integer", **dict.fromkeys(limits, value)}, value


def _number(now: _Drawing, _depth: int) -> Pair:
    value = now.draw(st.sampled_from((0, 0.5, -2.25, 1e9)))
    return {"type": "number", "minimum": value}, value


def _boolean(now: _Drawing, _depth: int) -> Pair:
    return {"type": "boolean"}, now.draw(st.booleans())


def _enum(now: _Drawing, _depth: int) -> Pair:
    values = now.draw(st.lists(texts(8), min_size=1, max_size=4, unique=True))
    return {"type": "string", "enum": values}, values[0]


def _pattern(now: _Drawing, _depth: int) -> Pair:
    pattern, value = now.draw(st.sampled_from(_PATTERNS))
    return {"type": "string", "pattern": pattern}, value


def _format(now: _Drawing, _depth: int) -> Pair:
    name, value = now.draw(st.sampled_from(_FORMATS))
    return {"type": "string", "format": name}, value


def _array(now: _Drawing, depth: int) -> Pair:
    schema, value = now.part(depth + 1)
    count = now.draw(st.integers(0, 3))
    sizes: dict[str, Any] = {"minItems": count, "maxItems": count + 2} if now.draw(st.booleans()) else {}
    return {"type": "array", "items": schema, **sizes}, [value] * count


def _object(now: _Drawing, depth: int) -> Pair:
    names = now.draw(st.lists(st.sampled_from(_NAMES), max_size=3, unique=True))
    pairs = {name: now.part(depth + 1) for name in names}
    required = [name for name in names if now.draw(st.booleans())]
    schema: dict[str, Any] = {"type": "object", "properties": {name: pair[0] for name, pair in pairs.items()}}
    if required:
        schema["required"] = required
    if now.draw(st.booleans()):
        schema["additionalProperties"] = False
    return schema, {name: pair[1] for name, pair in pairs.items()}


def _any_of(now: _Drawing, depth: int) -> Pair:
    options = [now.part(depth + 1) for _ in range(now.draw(st.integers(1, 3)))]
    return {"anyOf": [schema for schema, _ in options]}, options[0][1]


def _reference(now: _Drawing, depth: int) -> Pair:
    schema, value = now.part(depth + 1)
    name = f"part_{len(now.definitions) + 1}"
    now.definitions[name] = schema
    return {"$ref": f"#/$defs/{name}"}, value


def _chain(now: _Drawing, _depth: int) -> Pair:
    """A definition that refers to itself."""
    rest = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/link"}]}
    properties = {"value": {"type": "integer"}, "next": rest}
    now.definitions["link"] = {"type": "object", "properties": properties, "required": ["value", "next"]}
    return {"$ref": "#/$defs/link"}, {"value": 1, "next": None}


_LEAVES = (_string, _integer, _number, _boolean, _enum, _pattern, _format)
_BRANCHES = (_array, _object, _any_of, _reference, _chain)


@st.composite
def schemas(draw: Draw, *, strict: bool = False) -> Pair:
    """A schema of an object and a value that it admits; ``strict`` closes every object and requires all members."""
    now = _Drawing(draw)
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=0, max_size=3, unique=True))
    pairs = {name: now.part(2) for name in names}
    schema: dict[str, Any] = {"type": "object", "properties": {name: pair[0] for name, pair in pairs.items()}}
    required = names if strict else [name for name in names if draw(st.booleans())]
    schema["required"] = required
    if strict or draw(st.booleans()):
        schema["additionalProperties"] = False
    if now.definitions:
        schema["$defs"] = now.definitions
    value = {name: pair[1] for name, pair in pairs.items()}
    return (_closed(schema) if strict else schema), value


def _closed(schema: Any) -> Any:
    """A copy in which every object is closed and requires all its members."""
    if isinstance(schema, list):
        return [_closed(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {
        key: {name: _closed(part) for name, part in entry.items()}
        if key in ("properties", "$defs")
        else entry
        if key in ("enum", "required")
        else _closed(entry)
        for key, entry in schema.items()
    }
    if copy.get("type") == "object":
        copy["required"] = list(copy.get("properties", {}))
        copy["additionalProperties"] = False
    return copy
