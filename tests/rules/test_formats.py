"""Structured output on streams, models and schemas beyond the minimal pairs."""

from __future__ import annotations

import pytest
from variants import BODY, EVENTS, drop, judged, outcome, put, to_k3

from conformance.rules.json_schemas import Unusable, breach
from conformance.values import Outcome

CONTENT = f"{BODY}/choices/0/message/content"
OBJECT = put("/0/request/body/response_format", {"type": "json_object"})
ONE = {"type": "object", "properties": {"year": {"type": "integer"}}, "required": ["year"]}
SCHEMA = put("/0/request/body/output_config/format", {"type": "json_schema", "schema": ONE})


def streamed(*texts):
    return [put(f"{EVENTS}/{n}/data/choices/0/delta/content", text) for n, text in enumerate(texts, 3)]


def blocks(*texts):
    return [put(f"{EVENTS}/{n}/data/delta/text", text) for n, text in enumerate(texts, 8)]


FAULTS = {
    "an object that is not closed, in a stream": (
        "chat.stream",
        [OBJECT, *streamed('{"year"', ": 19", "89", "")],
        ("format.json-object", "must"),
    ),
    "a fence around it, in a stream of messages": (
        "messages.stream",
        [SCHEMA, *blocks("```json\n", '{"year": 1989}', "\n```", "")],
        ("format.json-schema", "must"),
    ),
    "a thought before it": (
        "chat.json-schema",
        [put(CONTENT, 'thought\n{"result":"OK"}')],
        ("format.json-schema", "must"),
    ),
    "two values": ("chat.json-object", [put(CONTENT, "{} {}")], ("format.json-object", "must")),
    "a number of JSON's relatives": ("chat.json-object", [put(CONTENT, '{"a": NaN}')], ("format.json-object", "must")),
    "a schema of kimi-k3 on chat": (
        "chat.json-schema",
        [*to_k3("chat"), put(CONTENT, '{"result":1}')],
        ("format.json-schema", "must"),
    ),
    "a loose schema, broken": (
        "chat.json-schema",
        [put("/0/request/body/response_format/json_schema/strict", False), put(CONTENT, '{"result":1}')],
        ("format.json-schema", "should"),
    ),
    "no text at all": ("messages.json-schema", [drop(f"{BODY}/content/1")], ("format.json-schema", "must")),
}


@pytest.mark.parametrize(("base", "changes", "finding"), FAULTS.values(), ids=FAULTS)
def test_other_texts_are_found(base, changes, finding):
    assert finding in judged(base, changes)


FINE = {
    "white space around it": ("chat.json-object", [put(CONTENT, ' \n{"capital": "Lisbon"}\n')]),
    "in pieces": ("chat.stream", [OBJECT, *streamed('{"year"', ": 19", "89", "}")]),
    "in pieces on messages": ("messages.stream", [SCHEMA, *blocks('{"year"', ": 19", "89", "}")]),
}


@pytest.mark.parametrize(("base", "changes"), FINE.values(), ids=FINE)
def test_what_was_asked_for_is_fine(base, changes):
    assert judged(base, changes) == set()


SILENT = {
    "cut off": ("format.json-object", "chat.json-object", [put(f"{BODY}/choices/0/finish_reason", "length")]),
    "refused": (
        "format.json-schema",
        "chat.json-schema",
        [put(f"{BODY}/choices/0/message/refusal", "No."), put(CONTENT, None)],
    ),
    "with stop sequences": (
        "format.json-schema",
        "messages.json-schema",
        [put("/0/request/body/stop_sequences", ["}"])],
    ),
}


@pytest.mark.parametrize(("rule", "base", "changes"), SILENT.values(), ids=SILENT)
def test_no_format_is_demanded_of_what_did_not_end_normally(rule, base, changes):
    assert outcome(rule, base, changes) is Outcome.NOT_EXERCISED


def test_no_schema_is_demanded_of_kimi_k3_on_messages():
    given = outcome("format.json-schema", "messages.json-schema", to_k3("messages"))
    assert given is Outcome.NOT_APPLICABLE


def test_the_first_broken_constraint_is_named():
    fault = breach(ONE, {"year": "1989"})
    assert (fault.pointer, fault.expected, fault.actual) == ("/year", "integer", "1989")


def test_names_in_pointers_are_escaped():
    schema = {"properties": {"a/b~c": {"type": "integer"}}}
    assert breach(schema, {"a/b~c": ""}).pointer == "/a~1b~0c"


def nested(depth):
    schema = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


UNUSABLE = {
    "another document": {"$ref": "https://example.com/schema.json"},
    "a part of another document": {"properties": {"a": {"$ref": "other.json#/a"}}},
    "a part that is not there": {"$ref": "#/$defs/none"},
    "no schema": {"type": 5},
    "an unknown dialect": {"$schema": "https://example.com/dialect"},
    "too deep": nested(20_000),
    "too large": {"enum": ["x" * 2**20]},
}


@pytest.mark.parametrize("schema", UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_schemas_are_told_apart_from_invalid_values(schema):
    with pytest.raises(Unusable):
        breach(schema, {})


def test_a_schema_that_refers_to_itself_is_usable():
    tree = {"type": "object", "properties": {"child": {"$ref": "#"}}}
    assert breach(tree, {"child": {"child": {}}}) is None
    assert breach(tree, {"child": {"child": 1}}).pointer == "/child/child"


def test_a_pattern_that_takes_forever_does_not():
    assert breach({"pattern": "^(a+)+$"}, "a" * 100 + "b") is not None


def test_half_a_surrogate_pair_cannot_be_judged():
    with pytest.raises(Unusable):
        breach({"type": "string", "pattern": "^a$"}, "\ud83e")
