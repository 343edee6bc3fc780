"""Hostile schemas end as unusable at once; honest ones are still judged."""

from __future__ import annotations

from typing import Any

import pytest
from counting import calls_below

from conformance.rules.json_schemas import Unusable, breach


def doubled(word: str, last: dict[str, Any], times: int = 10) -> dict[str, Any]:
    """A schema whose thirty definitions each apply the one before ten times."""
    definitions = {"d0": last}
    definitions |= {f"d{n}": {word: [{"$ref": f"#/$defs/d{n - 1}"}] * times} for n in range(1, 31)}
    return {"$defs": definitions, "$ref": "#/$defs/d30"}


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


OPTION = {"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}}}
ANCHORED = {"type": "object", "properties": {"a": {"$dynamicRef": "#node"}}}
APART = {"$id": "tag:x", "$defs": {"node": {"oneOf": [OPTION] * 10}}, "$ref": "#/$defs/node"}

HOSTILE = {
    "all of all of all": (doubled("allOf", {"type": "object"}), {}),
    "one of one of one": (doubled("oneOf", {"type": "string"}), {}),
    "a tree with ten ways at each step": ({"$defs": {"node": {"oneOf": [OPTION] * 10}}, **OPTION}, nested(100)),
    "the same through anchors": (
        {"$defs": {"node": {"$dynamicAnchor": "node", "anyOf": [ANCHORED] * 10}}, "$dynamicRef": "#node"},
        nested(100),
    ),
    "the same in a part with an address": ({"allOf": [APART]}, nested(100)),
    "itself": ({"$ref": "#"}, {}),
    "two that are each other": (
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        1,
    ),
    "a large one for each of many": ({"items": {"allOf": [{"minimum": n} for n in range(5_000)]}}, list(range(50_000))),
}


@pytest.mark.parametrize(("schema", "value"), HOSTILE.values(), ids=HOSTILE)
def test_a_schema_that_takes_for_ever_is_unusable_at_once(schema, value):
    with calls_below(10_000_000), pytest.raises(Unusable, match="the schema is not followed"):
        breach(schema, value)


LINKED = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            },
            "required": ["value", "next"],
        }
    },
    "$ref": "#/$defs/node",
}


def linked(length: int, last: object = None) -> object:
    value = last
    for number in range(length):
        value = {"value": number, "next": value}
    return value


HONEST = {
    "a linked list": (LINKED, linked(40), linked(40, "end")),
    "a long array of records": (
        {
            "type": "array",
            "items": {"$ref": "#/$defs/r"},
            "$defs": {"r": {"required": ["a"], "properties": {"a": {"type": "string"}}}},
        },
        [{"a": str(n)} for n in range(5_000)],
        [*({"a": str(n)} for n in range(5_000)), {"a": 1}],
    ),
    "an anchor": (
        {"properties": {"a": {"$ref": "#n"}}, "$defs": {"n": {"$anchor": "n", "type": "integer"}}},
        {"a": 1},
        {"a": "1"},
    ),
    "a tree": (
        {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}},
        {"children": [{"children": [{}, {}]}, {}]},
        {"children": [{"children": [{}, 1]}, {}]},
    ),
}


@pytest.mark.parametrize(("schema", "good", "bad"), HONEST.values(), ids=HONEST)
def test_references_of_honest_schemas_are_followed(schema, good, bad):
    assert breach(schema, good) is None
    assert breach(schema, bad) is not None
