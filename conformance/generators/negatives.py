"""Requests that must be refused, drawn: a valid one with one constraint broken, and hostile ones.

``specs.breaches`` proves of every broken one that it breaks that constraint and no other.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from conformance import specs
from conformance.generators.breaking import REMOVED, applied, entries, of_type, sized, types
from conformance.generators.places import Place, places, replaced
from conformance.generators.strategies import Draw, Proposal, bodies
from conformance.generators.texts import texts
from conformance.models import DEFAULT
from conformance.values import Intent, Protocol

_BREAKABLE = frozenset(
    {"type", "enum", "const", "minimum", "maximum", "minItems", "maxItems", "required", "oneOf", "anyOf", "x-max-bytes"}
)
_DEEP = (50, 200, 5000)  # levels
_TEXTS = ("\ud800", "a\udfffb", "\0", "\ud83d OK", "x" * 70_000, "\u202e" * 50)
_NUMBERS = (2**64, -(2**64), 10**400, 1e308, -0.0, 2**1024)
_HERE = "here-it-nests"


def broken(protocol: Protocol, model: str, *, most_tokens: int | None = None) -> st.SearchStrategy[Proposal]:
    """A valid request of a cell in which one value breaks exactly one constraint of the effective schema."""
    return _broken(protocol, model, most_tokens)


def hostile(protocol: Protocol, model: str, *, most_tokens: int | None = None) -> st.SearchStrategy[Proposal]:
    """A request that breaks careless servers: lone surrogates, U+0000, deep nesting, huge numbers, cut JSON.

    Its intent says so: it may be refused, but nothing may fail on it.
    """
    return _hostile(protocol, model, most_tokens)


@st.composite
def _broken(draw: Draw, protocol: Protocol, model: str, most_tokens: int | None) -> Proposal:
    base, _ = draw(bodies(protocol, model, most_tokens))
    choices = list(_choices(protocol, model, base))
    place, keyword = draw(st.sampled_from(choices))
    path, value = _wrong(draw, place, keyword)
    body = applied(base, path, value)
    found = {breach.constraint for breach in specs.breaches(protocol, model, body)}
    assume(found == {f"{place.pointer}/{keyword}"})
    return Proposal(bodies=(body,), broken=f"{place.pointer}/{keyword}", base=base)


def _choices(protocol: Protocol, model: str, body: Any) -> Iterator[tuple[Place, str]]:
    """Every keyword at every place of a body that can be broken there, the outermost first."""
    for place in places(protocol, model, body):
        for keyword in place.schema:
            if keyword in _BREAKABLE and not (keyword == "required" and not isinstance(place.value, dict)):
                yield place, keyword


def _wrong(draw: Draw, place: Place, keyword: str) -> tuple[tuple[str | int, ...], Any]:
    """A change that should break a keyword at a place: the path, and the new value or ``REMOVED``."""
    schema = place.schema
    if keyword == "required":
        names = [name for name in schema["required"] if name in place.value and not _makes_default(place, name)]
        return (*place.path, draw(st.sampled_from(names))), REMOVED
    if keyword == "x-max-bytes":
        return place.path, sized(schema[keyword] + draw(st.integers(1, 40)), draw(st.sampled_from("xé止")))
    if keyword == "minItems":
        return place.path, list(place.value)[: schema[keyword] - 1]
    if keyword == "maxItems":
        return place.path, entries(place, schema[keyword] + draw(st.integers(1, 3)))
    value = draw(_wrong_values(keyword, json.dumps(schema.get(keyword)), types(schema) if keyword == "type" else ()))
    return place.path, value


def _makes_default(place: Place, name: str) -> bool:
    """Whether a request without that property is answered by the default model, and so belongs to another cell."""
    return not place.path and name == "model" and place.value["model"] != DEFAULT


@functools.lru_cache(maxsize=512)
def _wrong_values(keyword: str, limit: str, allowed: tuple[str, ...]) -> st.SearchStrategy[Any]:
    bound = json.loads(limit)
    if keyword == "minimum":
        return st.integers(-(2**63), bound - 1)
    if keyword == "maximum":
        return st.integers(bound + 1, 2**63)
    if keyword == "enum":
        spelled = [
            text for value in bound if isinstance(value, str) for text in (value.upper(), f"{value} ", value[:-1])
        ]
        return (st.sampled_from([*spelled, ""]) | texts()).filter(lambda value: value not in bound)
    if keyword == "const":
        return _scalars().filter(lambda value: value != bound)
    return _values().filter(lambda value: not any(of_type(value, name) for name in allowed))


@functools.cache
def _scalars() -> st.SearchStrategy[Any]:
    numbers = st.integers(-(2**63), 2**63) | st.sampled_from((0.5, 1.5, -1e300))
    return st.none() | st.booleans() | numbers | texts() | st.sampled_from(("", "1", "true"))


@functools.cache
def _values() -> st.SearchStrategy[Any]:
    return _scalars() | st.lists(_scalars(), max_size=2) | st.dictionaries(texts(4), _scalars(), max_size=2)


@st.composite
def _hostile(draw: Draw, protocol: Protocol, model: str, most_tokens: int | None) -> Proposal:
    base, _ = draw(bodies(protocol, model, most_tokens))
    kind = draw(st.sampled_from(("text", "nested", "number", "cut", "bytes")))
    if kind == "cut":
        raw = json.dumps(base, ensure_ascii=False).encode()
        return Proposal(bodies=(raw[: draw(st.integers(0, len(raw) - 1))],), intents=(Intent.HOSTILE,), base=base)
    if kind == "bytes":
        raw = draw(
            st.sampled_from((b"\xff\xfe{", b"\xef\xbb\xbf{}", b'{"a":NaN}', b"[]", b"null", b'{"model":"\xc3"}'))
        )
        return Proposal(bodies=(raw,), intents=(Intent.HOSTILE,), base=base)
    found = [place for place in places(protocol, model, base) if place.path]
    place = draw(st.sampled_from(found))
    if kind == "nested":  # as bytes: no encoder of ours has to follow it
        levels = draw(st.sampled_from(_DEEP))
        raw = json.dumps(replaced(base, place.path, _HERE), ensure_ascii=False).encode()
        nested = raw.replace(f'"{_HERE}"'.encode(), b"[" * levels + b"]" * levels, 1)
        return Proposal(bodies=(nested,), intents=(Intent.HOSTILE,), base=base)
    values = _TEXTS if kind == "text" else _NUMBERS
    body = replaced(base, place.path, draw(st.sampled_from(values)))
    return Proposal(bodies=(body,), intents=(Intent.HOSTILE,), base=base)
