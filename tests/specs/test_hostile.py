"""Bodies from the wire: whatever they hold, an answer in bounded time and size, and never a traceback."""

import json
import math

import msgspec
import pytest
from counting import calls_below
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import specs
from conformance.models import ALL, DEFAULT
from conformance.specs.breach import _request, _response
from conformance.specs.validation import meant, pruned
from conformance.values import Protocol


def nested(depth, leaf="x"):
    for _ in range(depth):
        leaf = {"a": [leaf]}
    return leaf


HOSTILE = {
    "deep": nested(400),
    "too deep to print": nested(450, {"role": 5}),
    "long string": "x" * 2**20,
    "lone surrogate": "\ud800",
    "null character": "\x00",
    "huge integer": 10**5000,
    "infinity": math.inf,
    "not a number": math.nan,
    "many": [{}] * 20_000,
    "wide": {str(number): None for number in range(20_000)},
    "markup": "<script>\x1b[31m\u202e",
}
PLACES = {
    Protocol.CHAT: ("messages", "tools", "tool_choice", "max_tokens", "temperature", "stream", "unknown"),
    Protocol.MESSAGES: ("messages", "system", "stop_sequences", "max_tokens", "tools", "unknown"),
    Protocol.RESPONSES: ("input", "max_output_tokens", "reasoning", "tools", "unknown"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_body_gives_bounded_breaches(protocol, kind, minimal):
    value = HOSTILE[kind]
    bodies = [value, {"model": value}, {"messages": [value]}, {"messages": [{"role": "user", "content": value}]}]
    bodies += [{"model": DEFAULT, **minimal, place: value} for place in PLACES[protocol]]
    bodies += [{"model": DEFAULT, **minimal, place: [value]} for place in PLACES[protocol]]
    for body in bodies:
        with calls_below(2_000_000):
            found = specs.breaches(protocol, DEFAULT, body)
            found += specs.body_breaches(protocol, "kimi-k3", body, required=True)
        assert len(found) <= 200
        for breach in found:
            assert len(breach.message) < 400
            assert len(json.dumps(msgspec.to_builtins(breach))) < 2000
            assert breach.message.isprintable()


@pytest.mark.parametrize("text", ["\ud800" * 10 + "ab", "é" * 16, "😀" * 8, "a" * 32, "你" * 10 + "é"], ids=ascii)
def test_thirty_two_bytes_are_accepted_and_one_more_is_not(text):
    body = {"model": DEFAULT, "max_tokens": 1, "messages": [{"role": "user", "content": ""}], "stop_sequences": [text]}
    assert len(text.encode("utf-8", "surrogatepass")) == 32
    assert specs.breaches(Protocol.MESSAGES, DEFAULT, body) == ()
    body["stop_sequences"] = [text + "x"]
    (breach,) = specs.breaches(Protocol.MESSAGES, DEFAULT, body)
    assert breach.rule == "request.edge.stop-sequence-bytes"


def test_pruning_keeps_types_and_what_schemas_look_at():
    assert pruned(nested(3), depth=2) == {"a": [{}]}
    assert pruned([[[1]], {"a": 1}, "x", None, 1.5, True]) == [[[1]], {"a": 1}, "x", None, 1.5, True]


WORDS = st.sampled_from(
    [
        *("model", "messages", "role", "content", "type", "text", "tools", "tool_choice", "input", "system", "name"),
        *("max_tokens", "temperature", "user", "assistant", "auto", "function", "web_search", "kimi-k3", *ALL),
        *("output", "status", "usage", "choices", "message", "index", "output_text", "reasoning", "stop_sequences"),
    ]
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS | st.text()
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=6), max_leaves=20
)
BODIES = st.dictionaries(WORDS, JSON, max_size=8)


@settings(max_examples=100)
@given(body=BODIES, protocol_=st.sampled_from(list(Protocol)), model_=st.sampled_from(ALL))
def test_the_fast_and_the_explaining_validator_agree(body, protocol_, model_):
    for validator in (_request(protocol_, model_), _response(protocol_, model_, required=False)):
        assert validator.accepts(body) == (not validator.errors(body))


@settings(max_examples=100)
@given(body=BODIES, protocol_=st.sampled_from(list(Protocol)), model_=st.sampled_from(ALL))
def test_a_breach_points_at_what_it_speaks_of(body, protocol_, model_):
    counted = {row.pointer for row in specs.constraints(protocol_, model_)}
    for breach in specs.breaches(protocol_, model_, body):
        node = body
        for token in breach.path.split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            node = node[int(name)] if isinstance(node, list) else node[name]
        assert breach.constraint in counted


OPTIONS = [
    {"type": "string"},
    {"type": "object", "properties": {"type": {"enum": ["a"]}}},
    {"type": "object", "properties": {"type": {"const": "b"}}},
    {"type": "object", "properties": {"other": {}}},
]


@pytest.mark.parametrize(
    ("options", "value", "number"),
    [
        (OPTIONS, "x", 0),
        (OPTIONS, 5, None),
        (OPTIONS, {"type": "a"}, 1),
        (OPTIONS, {"type": "b"}, 2),
        (OPTIONS, {"type": "c"}, 3),
        (OPTIONS, {}, 3),
        (OPTIONS[:3], {"type": "c"}, None),
        (OPTIONS[:3], {"type": ["a"]}, None),
        (OPTIONS[:2], {"type": "c"}, 1),
        ([{"type": "integer"}, {"type": "boolean"}], True, 1),
        ([{"type": ["string", "null"]}, {"type": "array"}], None, 0),
        ([{}, {"type": "array"}], [], None),
    ],
)
def test_the_option_that_is_meant_is_told_by_type(options, value, number):
    assert meant(options, value) == number
