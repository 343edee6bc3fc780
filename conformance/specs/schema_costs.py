"""How much work a schema makes of a value, estimated before a validator runs away with both.

References let a schema of a few lines apply itself ten to the thirtieth times. The estimate follows them as a validator
does, but judges each pair of a schema and a value once, so that it is cheap where the validation is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

MOST_STEPS = 2_000_000
"""Applications of a schema to a value that a validation may take: about a second."""

_PAIRS = 10_000  # of a schema and a value that an estimate looks at, and as many more as the value has characters,
_MOST_PAIRS = 100_000  # up to this
_DEEPEST = 300
_LISTS = ("allOf", "anyOf", "oneOf")
_REFERENCES = ("$ref", "$dynamicRef")
_SAME = ("not", "if", "then", "else", *_REFERENCES)
_EACH = ("additionalProperties", "unevaluatedProperties")
_ITEMS = ("items", "contains", "additionalItems", "unevaluatedItems")


class TooCostly(Exception):
    """A validation would take too long, or would never end; the message says why."""


def affordable(schema: Any, value: object, size: int, *, root: Any = None) -> None:
    """Return where a validation takes a bounded number of steps. Raises TooCostly.

    ``size`` is how large the value is, say its characters as JSON; ``root`` is the document that holds the schema,
    where it is a part of one.
    """
    if (
        _Estimate(schema if root is None else root, min(_PAIRS + size, _MOST_PAIRS)).steps(schema, value, 0)
        > MOST_STEPS
    ):
        raise TooCostly(f"it takes more than {MOST_STEPS} steps")


class _Estimate:
    def __init__(self, root: Any, most: int) -> None:
        self._root = root
        self._most = most
        self._named: tuple[list[Any], dict[str, list[Any]]] | None = None
        self._known: dict[tuple[int, int], int | None] = {}

    def steps(self, schema: Any, value: object, depth: int) -> int:
        """The applications of a schema and its parts to a value and its parts; no more than one above the most."""
        if not isinstance(schema, dict):
            return 1
        key = (id(schema), id(value))
        if key in self._known:
            known = self._known[key]
            if known is None:
                raise TooCostly("it refers to itself without an end")
            return known
        if len(self._known) >= self._most or depth > _DEEPEST:
            raise TooCostly("it is too large or too deep for its value")
        self._known[key] = None
        total = 1
        for part, inner in self._parts(schema, value):
            total = min(total + self.steps(part, inner, depth + 1), MOST_STEPS + 1)
        self._known[key] = total
        return total

    def _parts(self, schema: dict[str, Any], value: object) -> Iterator[tuple[Any, object]]:
        """The schemas that a schema applies, each with the value that it applies them to."""
        for name in _LISTS:
            parts = schema.get(name)
            yield from ((part, value) for part in parts) if isinstance(parts, list) else ()
        for name in _SAME:
            if name in schema:
                targets = self._targets(schema[name]) if name in _REFERENCES else [schema[name]]
                yield from ((target, value) for target in targets)
        if isinstance(value, dict):
            yield from self._of_object(schema, value)
        elif isinstance(value, list):
            yield from self._of_array(schema, value)

    def _of_object(self, schema: dict[str, Any], value: dict[str, Any]) -> Iterator[tuple[Any, object]]:
        for name in ("dependentSchemas", "dependencies"):
            yield from ((part, value) for part in _members(schema.get(name)).values())
        named = _members(schema.get("properties"))
        yield from ((named[name], inner) for name, inner in value.items() if name in named)
        wide = [
            *_members(schema.get("patternProperties")).values(),
            *(schema[name] for name in _EACH if name in schema),
        ]
        yield from ((part, inner) for part in wide for inner in value.values())
        if "propertyNames" in schema:
            yield from ((schema["propertyNames"], name) for name in value)

    def _of_array(self, schema: dict[str, Any], value: list[Any]) -> Iterator[tuple[Any, object]]:
        for name in ("prefixItems", "items"):
            parts = schema.get(name)
            yield from zip(parts, value, strict=False) if isinstance(parts, list) else ()
        wide = [schema[name] for name in _ITEMS if isinstance(schema.get(name), dict)]
        yield from ((part, inner) for part in wide for inner in value)

    def _targets(self, reference: object) -> list[Any]:
        """What a reference within the document may mean: everything, where parts of it have an address of their own."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return []
        if self._named is None:
            self._named = _named(self._root)
        roots, anchors = self._named
        name = unquote(reference[1:])
        if name and not name.startswith("/"):
            return anchors.get(name, [])
        return [found for root in roots if (found := _at(root, name)) is not None]


def _named(root: Any) -> tuple[list[Any], dict[str, list[Any]]]:
    """The roots that a pointer may start from, and the schemas by their anchors."""
    roots: list[Any] = [root]
    anchors: dict[str, list[Any]] = {}
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            if node is not root and isinstance(node.get("$id"), str):
                roots.append(node)
            for word in ("$anchor", "$dynamicAnchor"):
                if isinstance(node.get(word), str):
                    anchors.setdefault(node[word], []).append(node)
    return roots, anchors


def _at(root: Any, name: str) -> Any:
    node = root
    for coded in name.split("/")[1:]:
        part = coded.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(part)
        elif isinstance(node, list):
            node = node[int(part)] if part.isdecimal() and len(part) < 8 and int(part) < len(node) else None
        else:
            return None
    return node


def _members(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
