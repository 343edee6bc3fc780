"""Bodies in which one keyword of the schema is broken, made by changing one value of a valid body."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from conformance.generators.places import Place, replaced, without

UNLISTED = "unlisted"  # no enum has it
KINDS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
"""The JSON types, a whole number before any number."""


def types(schema: dict[str, Any]) -> tuple[str, ...]:
    """The JSON types that a part of a schema allows."""
    found = schema["type"]
    return (found,) if isinstance(found, str) else tuple(found)


def of_type(value: Any, name: str) -> bool:
    """Whether a value is of a JSON type; 16.0 is a number here and no integer."""
    return KINDS[name](value)


def variants(place: Place, keyword: str, *, thorough: bool) -> Iterator[tuple[str, Any, Any]]:
    """Bodies that should break a keyword at a place, as (what was done, path to change, new value or ``REMOVED``).

    The plainest comes first; ``thorough`` gives every kind of wrong value. Whether a body breaks that keyword alone is
    for the caller to prove.
    """
    yield from _VARIANTS[keyword](place, thorough)


REMOVED: Any = object()


def applied(body: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """The body with the change made."""
    return without(body, path) if value is REMOVED else replaced(body, path, value)


Variants = Iterator[tuple[str, Any, Any]]


def _wrong_type(place: Place, thorough: bool) -> Variants:
    value = place.value
    spelled = [("a number as a string", str(value))] if of_type(value, "number") else []
    found: tuple[tuple[str, Any], ...] = (
        ("a string", "text"),
        ("a number", 5),
        ("an object", {}),
        ("true", True),
        ("an array", [value]),
        ("a fraction", 1.5),
        *spelled,
        ("null", None),
    )
    allowed = types(place.schema)
    for words, wrong in found if thorough else found[:4]:
        if not any(of_type(wrong, name) for name in allowed):
            yield words, place.path, wrong


def _unlisted(place: Place, _thorough: bool) -> Variants:
    yield UNLISTED, place.path, UNLISTED


def _other(place: Place, _thorough: bool) -> Variants:
    fixed = place.schema["const"]
    other = "low" if isinstance(fixed, str) else 0.5
    yield f"{other}", place.path, other


def _below(place: Place, thorough: bool) -> Variants:
    least = place.schema["minimum"]
    for value in (least - 1, least - 2)[: 2 if thorough else 1]:
        yield f"{value}", place.path, value


def _above(place: Place, _thorough: bool) -> Variants:
    yield f"{place.schema['maximum'] + 1}", place.path, place.schema["maximum"] + 1


def _fewer(place: Place, _thorough: bool) -> Variants:
    few = place.schema["minItems"] - 1
    yield f"{few} entries", place.path, list(place.value)[:few]


def _more(place: Place, _thorough: bool) -> Variants:
    yield f"{place.schema['maxItems'] + 1} entries", place.path, entries(place, place.schema["maxItems"] + 1)


def entries(place: Place, count: int) -> list[Any]:
    """So many different entries like the first one of an array; strings where it has none."""
    if not place.value or isinstance(place.value[0], str):
        return [f"stop {number}" for number in range(count)]
    return [_numbered(place.value[0], number) for number in range(count)]


def _numbered(value: Any, number: int) -> Any:
    """A copy in which every ``name`` ends in a number."""
    if isinstance(value, dict):
        return {
            key: f"{item}_{number}" if key == "name" and isinstance(item, str) else _numbered(item, number)
            for key, item in value.items()
        }
    return value


def _lacking(place: Place, _thorough: bool) -> Variants:
    for name in place.schema["required"]:
        yield f"without {name}", (*place.path, name), REMOVED


def _no_option(place: Place, thorough: bool) -> Variants:
    found: tuple[tuple[str, Any], ...] = (
        ("an object of an unlisted type", {"type": UNLISTED}),
        ("a number", 5),
        ("a string", "text"),
        ("an object", {}),
        ("null", None),
    )
    for words, value in found if thorough else found[:4]:
        yield words, place.path, value


def _present(place: Place, _thorough: bool) -> Variants:
    yield "present", place.path, place.value


def _longer(place: Place, _thorough: bool) -> Variants:
    most = place.schema["x-max-bytes"]
    yield f"{most + 1} bytes", place.path, sized(most + 1)
    yield f"{most + 1} bytes in fewer characters", place.path, sized(most + 1, "止")


def sized(count: int, char: str = "x") -> str:
    """A string of so many bytes of UTF-8, of one character as far as that goes."""
    size = len(char.encode())
    return "x" * (count % size) + char * (count // size)


_VARIANTS: dict[str, Callable[[Place, bool], Variants]] = {
    "type": _wrong_type,
    "enum": _unlisted,
    "const": _other,
    "minimum": _below,
    "maximum": _above,
    "minItems": _fewer,
    "maxItems": _more,
    "required": _lacking,
    "oneOf": _no_option,
    "anyOf": _no_option,
    "not": _present,
    "x-max-bytes": _longer,
}
