"""Two schemas that must both hold, as one schema that a generator can follow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]

_HIGHER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_LOWER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")


def merged(first: Schema, second: Schema) -> Schema:
    """A schema close to ``allOf: [first, second]``; what cannot be joined keeps the second's word.

    The result guides generation only: instances are checked against the schema as it was sent.
    """
    result = dict(first)
    for key, value in second.items():
        result[key] = _joined(key, result[key], value) if key in result else value
    return result


def _joined(key: str, first: Any, second: Any) -> Any:
    if key in _HIGHER:
        return _bound(max, first, second)
    if key in _LOWER:
        return _bound(min, first, second)
    join = _JOINS.get(key)
    return second if join is None else join(first, second)


def _bound(pick: Callable[..., Any], first: Any, second: Any) -> Any:
    numbers = [value for value in (first, second) if isinstance(value, int | float)]
    return pick(numbers) if numbers else second


def _types(first: Any, second: Any) -> Any:
    one = first if isinstance(first, list) else [first]
    other = second if isinstance(second, list) else [second]
    both = [name for name in one if name in other or (name == "integer" and "number" in other)]
    return both + [name for name in other if name == "integer" and "number" in one and name not in both]


def _members(first: Any, second: Any) -> Any:
    return (
        [value for value in first if value in second]
        if isinstance(first, list) and isinstance(second, list)
        else second
    )


def _union(first: Any, second: Any) -> Any:
    return list(dict.fromkeys([*first, *second])) if isinstance(first, list) and isinstance(second, list) else second


def _properties(first: Any, second: Any) -> Any:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return second
    return first | {key: both(first[key], value) if key in first else value for key, value in second.items()}


def both(first: Any, second: Any) -> Any:
    """A schema that asks for both; True and False are schemas too."""
    if first is False or second is False:
        return False
    if isinstance(first, dict) and isinstance(second, dict):
        return {"allOf": [first, second]}
    return second if first is True else first


def _multiple(first: Any, second: Any) -> Any:
    if isinstance(first, int) and isinstance(second, int) and first and second:
        return math.lcm(first, second)
    return second


def _together(first: Any, second: Any) -> Any:
    return [*first, *second] if isinstance(first, list) and isinstance(second, list) else second


_JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "type": _types,
    "enum": _members,
    "required": _union,
    "properties": _properties,
    "patternProperties": _properties,
    "items": both,
    "additionalProperties": both,
    "propertyNames": both,
    "multipleOf": _multiple,
    "allOf": _together,
}
