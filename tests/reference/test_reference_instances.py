"""Instances of JSON Schemas."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import pytest
from counting import calls_below

from conformance.reference.instances import Hints, Unsatisfiable, instance
from conformance.reference.instances.patterns import Unsupported, matching
from conformance.reference.instances.scalars import FORMATS

STRING: dict[str, Any] = {"type": "string"}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


TREE = {
    "$defs": {"node": of(value=STRING, next={"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]})},
    "$ref": "#/$defs/node",
}
SATISFIABLE: dict[str, Any] = {
    "anything": {},
    "plain": of(city=STRING),
    "optional": {"type": "object", "properties": {"city": STRING, "unit": {"enum": ["c", "f"]}}},
    "undeclared but required": {"type": "object", "required": ["a"]},
    "const and enum": of(a={"const": 5}, b={"enum": [None, "x"]}),
    "typed enum": of(a={"type": "integer", "enum": ["x", 3]}),
    "bounds": of(n={"type": "integer", "minimum": 3, "maximum": 9, "multipleOf": 4}),
    "open bounds": of(n={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.01}),
    "negative": of(n={"type": "integer", "maximum": -5}),
    "tenths": of(n={"type": "number", "multipleOf": 0.1, "minimum": 0.25}),
    "lengths": of(a={**STRING, "minLength": 40}, b={**STRING, "maxLength": 1}),
    "pattern": of(a={**STRING, "pattern": "^[A-Z]{2,3}-\\d{4}$"}),
    "long pattern": of(a={**STRING, "pattern": "^[a-z]+$", "minLength": 70}),
    "unanchored pattern": of(a={**STRING, "pattern": "x\\.y|z"}),
    "formats": of(**{name: {**STRING, "format": name} for name in FORMATS}),
    "nested": of(a=of(b={"type": "array", "minItems": 2, "items": of(c={"type": "boolean"})})),
    "unique": {
        "type": "array",
        "items": {"type": "integer", "minimum": 1, "maximum": 9},
        "minItems": 9,
        "uniqueItems": True,
    },
    "unique strings": {"type": "array", "items": STRING, "minItems": 5, "uniqueItems": True},
    "unique letters": {"type": "array", "items": {**STRING, "pattern": "^[a-f]$"}, "minItems": 6, "uniqueItems": True},
    "tuple": {"type": "array", "prefixItems": [STRING, {"type": "null"}], "items": False, "minItems": 2},
    "contains": {"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}, "minItems": 2},
    "none of": {"type": "array", "items": False},
    "extra": {"type": "object", "minProperties": 3, "additionalProperties": {"type": "integer"}},
    "pattern properties": {
        "type": "object",
        "patternProperties": {"^x_": {"type": "number"}},
        "additionalProperties": False,
        "minProperties": 2,
    },
    "names": {"type": "object", "propertyNames": {"pattern": "^[a-z]{3}$"}, "minProperties": 2},
    "dependent": {"type": "object", "properties": {"a": STRING}, "dependentRequired": {"a": ["b"]}},
    "at most": {"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["b"], "maxProperties": 1},
    "reference": {"$defs": {"a": {"type": "integer"}}, **of(x={"$ref": "#/$defs/a"})},
    "recursion": TREE,
    "all of": {"allOf": [of(a=STRING), {"properties": {"a": {"minLength": 30}}}]},
    "all of references": {
        "$defs": {"a": {"properties": {"x": STRING}, "required": ["x"]}, "b": {"required": ["y"]}},
        "type": "object",
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
    },
    "one of": {"oneOf": [of(kind={"const": "a"}), of(kind={"const": "b"}, x=STRING)]},
    "one of types": of(a={"oneOf": [{"type": "number"}, {"type": "integer"}]}),
    "any of": {"anyOf": [False, of(a={"type": "null"})]},
    "not": of(a={"not": STRING}),
    "if then": {
        **of(a={"type": "integer"}),
        "additionalProperties": True,
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
    },
    "types": of(a={"type": ["null", "string"], "minLength": 3}),
    "draft 7": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"a": STRING},
        **of(x={"$ref": "#/definitions/a"}, y={"type": "array", "items": [STRING], "minItems": 1}),
    },
    "unique objects": {
        "type": "array",
        "minItems": 5,
        "uniqueItems": True,
        "items": of(a=STRING, b={"type": "boolean"}),
    },
    "anchors": {"$defs": {"a": {"$anchor": "here", "type": "integer"}}, **of(x={"$ref": "#here"})},
    "other root": {"$id": "http://example.com/x.json", "$defs": {"a": {"type": "null"}}, **of(x={"$ref": "#/$defs/a"})},
    "large numbers": of(a={"type": "number", "minimum": 1e308}, b={"type": "number", "multipleOf": 1e-300}),
    "costly pattern": of(a={**STRING, "pattern": "^(a|a)*b$", "minLength": 40}),
    "many unique": {"type": "array", "items": STRING, "minItems": 600, "uniqueItems": True},
    "many properties": {"type": "object", "properties": {f"p{n}": STRING for n in range(500)}},
    "bushy recursion": {"type": "object", "properties": {name: {"$ref": "#"} for name in "abcde"}},
    "many items": {"type": "array", "minItems": 400, "items": of(a=STRING, b=STRING)},
}


@pytest.mark.parametrize("schema", SATISFIABLE.values(), ids=SATISFIABLE)
def test_instance_is_valid_and_the_same_each_time(schema: dict[str, Any]) -> None:
    found = instance(schema)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    kind(schema).validate(found)
    assert instance(schema) == found


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "integer", "minimum": 5, "maximum": 3},
        {"enum": []},
        {"type": "object", "properties": {"self": {"$ref": "#"}}, "required": ["self"]},
        {"$ref": "#/nowhere"},
        {"$ref": "http://127.0.0.1:9/elsewhere"},
        {"$ref": "#"},
        {"type": "string", "pattern": "(?=a)b"},
        {"type": "string", "pattern": "("},
        {"type": "string", "minLength": 10**9},
        {"type": "array", "minItems": 10**9},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 3, "uniqueItems": True},
        {"allOf": [{"type": "string"}, {"type": "object"}]},
        {"type": "nonsense"},
        {"oneOf": [{"allOf": [{"$ref": "#"}, {"type": "string"}]}] * 5},
        {"allOf": [{"$ref": "#"}]},
        {"type": "string", "pattern": "((a{1000}){1000}){1000}"},
        {"type": "array", "minItems": "x"},
        {"type": "array", "minItems": 900, "items": {"type": "array", "minItems": 900, "items": {"type": "null"}}},
        {"type": "object", "required": 5},
        {"type": "integer", "minimum": 10**4000},
    ],
    ids=lambda schema: str(schema)[:60],
)
def test_what_has_no_instance_is_refused(schema: Any) -> None:
    with pytest.raises(Unsatisfiable):
        instance(schema)


def _doubled(word: str, last: dict[str, Any]) -> dict[str, Any]:
    """A schema whose thirty definitions each apply the one before ten times."""
    definitions = {"d0": last} | {f"d{n}": {word: [{"$ref": f"#/$defs/d{n - 1}"}] * 10} for n in range(1, 31)}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d30"}}, "required": ["a"], "$defs": definitions}


ENDLESS = "a" * 60 + "!"


@pytest.mark.parametrize(
    "schema",
    [
        _doubled("allOf", {"type": "string"}),
        _doubled("allOf", {"not": {"type": "string"}}),
        _doubled("oneOf", {"type": "string"}),
        {"enum": [ENDLESS], "pattern": "^(a+)+$"},
        {"enum": [{ENDLESS: 1}], "patternProperties": {"^(a+)+$": True}, "additionalProperties": False},
        {"enum": [{ENDLESS: 1}], "patternProperties": {"^(a+)+$": True}, "unevaluatedProperties": False},
        {
            "type": "object",
            "required": [ENDLESS],
            "patternProperties": {"^(a+)+$": True},
            "additionalProperties": False,
        },
    ],
    ids=lambda schema: str(schema)[:60],
)
def test_a_schema_that_takes_for_ever_is_refused_at_once(schema: Any) -> None:
    with calls_below(2_000_000), pytest.raises(Unsatisfiable):
        instance(schema)


def test_hints_fill_what_they_fit() -> None:
    schema = of(unit={"enum": ["c", "f"]}, city=STRING, note=STRING, days={"type": "integer"})
    found = instance(schema, Hints(values={"note": "soon", "unit": "f", "days": "x"}, subject="Paris"))
    assert found == {"unit": "f", "city": "Paris", "note": "soon", "days": 1}


def test_a_hint_that_does_not_fit_is_left_out() -> None:
    assert instance(of(city={**STRING, "maxLength": 3}), Hints(subject="Paris")) != {"city": "Paris"}


@pytest.mark.parametrize(
    "pattern",
    [
        "abc",
        "^a+b*c?$",
        "[0-9a-f]{8}-[0-9a-f]{4}",
        "^(red|green)$",
        "(?:x|y){2,}",
        "[^a-z]",
        r"^\w+@\w+\.com$",
        r"\d{3}[\s_-]\S",
        r"^\+?[1-9]\d{1,14}$",
        r"^[\w.-]+$",
        r"\u4e2d\x41",
        "^$",
        r"a{2}?b",
        "[]a]",
        r"(?P<year>\d{4})",
    ],
)
def test_matching_strings_match(pattern: str) -> None:
    for choice in range(4):
        assert re.search(pattern, matching(pattern, choice))


@pytest.mark.parametrize("pattern", ["(?=a)", "(?<!a)b", r"(a)\1", "(", "[a", "*", "a{5000}", "[^\\s\\S]"])
def test_patterns_beyond_the_generator_are_named_so(pattern: str) -> None:
    with pytest.raises(Unsupported):
        matching(pattern)
