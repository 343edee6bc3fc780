"""The allowed edges of a constraint: which ones there are, which ones a value shows, and values that show one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from conformance.generators.breaking import entries, of_type, sized, types
from conformance.generators.places import Place, option_of
from conformance.specs.validation import referred, tags, utf8_length

_SAMPLES: dict[str, tuple[Any, ...]] = {
    "true": (True,),
    "false": (False,),
    "fraction": (0.5,),
    "integer": (1,),
    "null": (None,),
}


def named(definitions: dict[str, Any], schema: dict[str, Any], keyword: str) -> tuple[str, ...]:
    """The edges of a keyword, by the names that reports show; none for what has no allowed edge."""
    if keyword == "enum":
        return tuple(_word(member) for member in schema["enum"])
    if keyword in ("const", "minimum", "maximum"):
        return (_word(schema[keyword]),)
    if keyword in ("minItems", "maxItems"):
        return (_count(schema[keyword]),)
    if keyword == "x-max-bytes":
        return (f"{schema[keyword]} bytes", f"{schema[keyword]} bytes in fewer characters")
    if keyword in ("oneOf", "anyOf"):
        return _options(definitions, schema[keyword])
    return tuple(_kinds(schema)) if keyword == "type" else ()


def shown(definitions: dict[str, Any], place: Place, keyword: str) -> Iterator[str]:
    """The edges of a keyword that a valid value shows."""
    schema, value = place.schema, place.value
    if keyword in ("enum", "const"):
        yield _word(value)
    elif keyword in ("oneOf", "anyOf"):
        number = option_of(definitions, schema[keyword], value)
        if number is not None:
            yield _options(definitions, schema[keyword])[number]
    elif keyword == "type":
        yield from (name for name in _kinds(schema) if _of_kind(value, name))
    elif keyword in _MEASURES:
        yield from _MEASURES[keyword](schema[keyword], value)


def values(place: Place, keyword: str, edge: str) -> Iterator[Any]:
    """Values for a place that show an edge, where one value can stand for another without a change of meaning."""
    schema = place.schema
    if keyword == "enum":
        yield from (member for member in schema["enum"] if _word(member) == edge)
    elif keyword in ("const", "minimum", "maximum"):
        yield schema[keyword]
    elif keyword == "maxItems":
        yield entries(place, schema[keyword])
    elif keyword == "x-max-bytes":
        yield sized(schema[keyword], "x" if edge.endswith("bytes") else "止")
    elif keyword == "type":
        yield from _SAMPLES.get(edge, ())


def _at(limit: float, value: Any) -> Iterator[str]:
    if of_type(value, "number") and value == limit:
        yield _word(limit)


def _at_count(limit: int, value: Any) -> Iterator[str]:
    if isinstance(value, list) and len(value) == limit:
        yield _count(limit)


def _at_bytes(limit: int, value: Any) -> Iterator[str]:
    if isinstance(value, str) and utf8_length(value) == limit:
        yield f"{limit} bytes" if len(value) == limit else f"{limit} bytes in fewer characters"


_MEASURES: dict[str, Callable[[Any, Any], Iterator[str]]] = {
    "minimum": _at,
    "maximum": _at,
    "minItems": _at_count,
    "maxItems": _at_count,
    "x-max-bytes": _at_bytes,
}


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _count(number: int) -> str:
    return f"{number} entr{'y' if number == 1 else 'ies'}"


def _kinds(schema: dict[str, Any]) -> Iterator[str]:
    """The types of a schema, true and false apart, and a whole number apart from a fraction."""
    fixed = [schema["const"]] if "const" in schema else schema.get("enum")
    for name in types(schema):
        for kind in {"boolean": ("true", "false"), "number": ("integer", "fraction")}.get(name, (name,)):
            if fixed is None or any(_of_kind(value, kind) for value in fixed):
                yield kind


def _of_kind(value: Any, kind: str) -> bool:
    if kind in ("true", "false"):
        return value is (kind == "true")
    if kind == "fraction":
        return isinstance(value, float) and not value.is_integer()
    return of_type(value, kind)


def _options(definitions: dict[str, Any], options: list[dict[str, Any]]) -> tuple[str, ...]:
    """A name for each option: the value of its ``type``, or else its JSON type; alike ones are numbered."""
    words = [_option(referred(definitions, option)) for option in options]
    return tuple(f"{word} {number}" if words.count(word) > 1 else word for number, word in enumerate(words))


def _option(option: dict[str, Any]) -> str:
    told = tags(option)
    if told is not None:
        return " or ".join(map(_word, told))
    return " or ".join(types(option)) if "type" in option else "any"
