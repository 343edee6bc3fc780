from __future__ import annotations

import base64
import inspect
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect as types

from conformance import values
from conformance.values import RANK, Chunk, Exchange, Level, Protocol, Request, Response

STRUCTS = [value for _, value in inspect.getmembers(values, inspect.isclass) if issubclass(value, msgspec.Struct)]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
PLAIN: dict[type, st.SearchStrategy[Any]] = {
    types.StrType: texts,
    types.IntType: st.integers(-(2**63), 2**63),
    types.FloatType: numbers,
    types.BoolType: st.booleans(),
    types.NoneType: st.none(),
    types.BytesType: st.binary(max_size=32),
    types.AnyType: json_values,
}


def of(kind: Any) -> st.SearchStrategy[Any]:  # noqa: PLR0911 (one return a type)
    """Any value of a type, by its msgspec description."""
    if type(kind) in PLAIN:
        return PLAIN[type(kind)]
    if isinstance(kind, types.EnumType):
        return st.sampled_from(list(kind.cls))
    if isinstance(kind, types.UnionType):
        return st.one_of(*(of(option) for option in kind.types))
    if isinstance(kind, types.VarTupleType):
        return st.lists(of(kind.item_type), max_size=2).map(tuple)
    if isinstance(kind, types.TupleType):
        return st.tuples(*(of(item) for item in kind.item_types))
    if isinstance(kind, types.DictType):
        return st.dictionaries(of(kind.key_type), of(kind.value_type), max_size=2)
    assert isinstance(kind, types.StructType), kind
    return st.builds(kind.cls, **{field.name: of(field.type) for field in kind.fields})


def test_the_structs_are_found() -> None:
    assert {"Request", "Chunk", "Response", "Failure", "Exchange", "Finding", "Verdict", "Run", "Source"} <= {
        struct.__name__ for struct in STRUCTS
    }


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: struct.__name__)
@given(data=st.data())
def test_json_round_trip(struct: type[Any], data: st.DataObject) -> None:
    value = data.draw(of(types.type_info(struct)))
    encoded = msgspec.json.encode(value)
    assert msgspec.json.decode(encoded, type=struct) == value
    json.loads(encoded)  # readable by any other reader


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: struct.__name__)
def test_structs_are_frozen_and_keyword_only(struct: type[Any]) -> None:
    config = struct.__struct_config__
    assert config.frozen
    assert all(field.kind is inspect.Parameter.KEYWORD_ONLY for field in inspect.signature(struct).parameters.values())


@given(st.binary(), st.binary())
def test_bodies_are_base64_and_every_byte_survives(sent: bytes, came: bytes) -> None:
    exchange = Exchange(
        id="x",
        protocol=Protocol.CHAT,
        model="kimi-k3",
        request=Request(method="POST", url="http://127.0.0.1/v1/chat/completions", body=sent),
        response=Response(status=200, chunks=(Chunk(ms=1.5, data=came),)),
    )
    told = json.loads(msgspec.json.encode(exchange))
    assert base64.b64decode(told["request"]["body"]) == sent
    assert told["response"]["chunks"] == [[1.5, base64.b64encode(came).decode()]]
    assert msgspec.json.decode(msgspec.json.encode(exchange), type=Exchange) == exchange


def test_levels_are_ranked() -> None:
    assert sorted(Level, key=RANK.__getitem__) == [Level.INFO, Level.SHOULD, Level.MUST]
