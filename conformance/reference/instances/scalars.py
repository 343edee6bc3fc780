"""Candidate strings and numbers for a schema, likeliest first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from conformance.reference.instances.patterns import Unsupported, matching

MOST_CHARACTERS = 100_000
MOST_VARIANTS = 1_000
FORMATS = {
    "date": "2026-01-15",
    "date-time": "2026-01-15T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "P1D",
    "email": "user@example.com",
    "idn-email": "user@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uri-reference": "https://example.com/",
    "iri": "https://example.com/",
    "iri-reference": "https://example.com/",
    "uri-template": "https://example.com/{id}",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "json-pointer": "/a",
    "relative-json-pointer": "0",
    "regex": "a",
    "byte": "AA==",
}


def strings(schema: dict[str, Any], wish: str | None) -> Iterator[str]:
    """Strings of the right length, pattern and format; the wish first."""
    if wish is not None:
        yield wish
    if schema.get("format") in FORMATS:
        yield FORMATS[schema["format"]]
    least, most = _size(schema, "minLength", 0), _size(schema, "maxLength", MOST_CHARACTERS)
    if least > MOST_CHARACTERS:
        return
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        yield from _matching(pattern, least)
    for word in ("example", "a", ""):
        yield (word + "a" * (least - len(word)))[: max(most, 0)]
    for number in range(2, MOST_VARIANTS):
        yield f"example {number}".ljust(least, "a")


def _matching(pattern: str, least: int) -> Iterator[str]:
    """Matches of a pattern, as they are and lengthened to the least length."""
    for choice in range(max(26, min(least, 64)) + 1):
        try:
            made = matching(pattern, choice)
        except Unsupported:
            return
        yield made
        if len(made) < least:
            yield made + made[-1:] * (least - len(made))
            yield made[:1] * (least - len(made)) + made
            yield made + "a" * (least - len(made))
        yield f"{made}{choice}"  # where the pattern leaves the end open


def numbers(schema: dict[str, Any], *, whole: bool) -> Iterator[int | float]:
    """Numbers within the bounds that are multiples of what they must be; small ones first."""
    unit = max((_fraction(value) for value in _present(schema, "multipleOf")), default=Fraction(1))
    if unit <= 0:
        return
    if whole and unit.denominator != 1:
        unit = Fraction(unit.numerator)
    low = max((_fraction(value) for value in _present(schema, "minimum", "exclusiveMinimum")), default=None)
    high = min((_fraction(value) for value in _present(schema, "maximum", "exclusiveMaximum")), default=None)
    starts: list[Fraction] = []
    if low is not None:
        first = math.ceil(low / unit)
        starts = [first * unit, (first + 1) * unit]
    if high is not None:
        last = math.floor(high / unit)
        starts += [last * unit, (last - 1) * unit]
    for value in (unit, *starts, Fraction(0)):
        yield _plain(value)
    if not whole and low is not None and high is not None and "multipleOf" not in schema:
        for part in range(2, 34):
            yield _plain(low + (high - low) / part)
    start = starts[0] if starts else Fraction(0)
    if not whole and "multipleOf" not in schema:
        yield _plain(start + Fraction(1, 2))
    down = low is None and high is not None
    for number in range(2, MOST_VARIANTS):
        yield _plain(start - number * unit if down else start + number * unit)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _fraction(value: float) -> Fraction:
    return Fraction(str(value))  # as written: 0.1 is one tenth


def _present(schema: dict[str, Any], *names: str) -> list[Any]:
    return [schema[name] for name in names if _number(schema.get(name))]


def _plain(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)


def _size(schema: dict[str, Any], name: str, default: int) -> int:
    value = schema.get(name)
    return int(value) if _number(value) else default  # type: ignore[arg-type] # _number says that it is one
