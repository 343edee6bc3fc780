"""Faults in the arguments of tool calls: their encoding, and what the schema of the tool says of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, RESPONSES, STREAM, fault
from conformance.reference.faults.terms import sent
from conformance.reference.hooks import Context
from conformance.reference.results import Finish, Result

_STRINGS = (CHAT, RESPONSES)
_JSON = ("tool.arguments-json",)
_OBJECT = ("tool.input-object", "body.schema")
_SCHEMA = ("tool.arguments-match-schema",)
Arguments = dict[str, Any]


def _written(result: Result, change: Callable[[str], str]) -> Result:
    """The result with the arguments of its calls written otherwise, unless the limit cut it off."""
    if result.finish is not Finish.CALLS:
        return result
    return replace(result, calls=tuple(replace(call, arguments=change(call.arguments)) for call in result.calls))


@fault("tool-arguments-empty", "result", on=_STRINGS, caught_by=_JSON)
def empty(_: Context, result: Result) -> Result:
    """The arguments of a call are an empty string."""
    return _written(result, lambda _arguments: "")


@fault("tool-arguments-encoded-twice", "result", on=_STRINGS, caught_by=_JSON)
def encoded_twice(_: Context, result: Result) -> Result:
    """The arguments of a call are a JSON string that holds the object."""
    return _written(result, json.dumps)


@fault("tool-arguments-in-array", "result", on=_STRINGS, caught_by=_JSON)
def in_array(_: Context, result: Result) -> Result:
    """The arguments of a call are an array around the object."""
    return _written(result, lambda arguments: f"[{arguments}]")


@fault("tool-arguments-unclosed", "result", on=_STRINGS, caught_by=_JSON)
def unclosed(_: Context, result: Result) -> Result:
    """The arguments of a call lack their last bracket."""
    return _written(result, lambda arguments: arguments[:-1])


@fault("tool-arguments-closed-twice", "result", on=_STRINGS, caught_by=_JSON)
def closed_twice(_: Context, result: Result) -> Result:
    """The arguments of a call have a bracket too many."""
    return _written(result, lambda arguments: f"{arguments}}}")


@fault("tool-arguments-as-python", "result", on=_STRINGS, caught_by=_JSON)
def as_python(_: Context, result: Result) -> Result:
    """The arguments of a call are in single quotes."""
    return _written(result, lambda arguments: repr(json.loads(arguments)))


@fault("tool-arguments-fenced", "result", on=_STRINGS, caught_by=_JSON)
def fenced(_: Context, result: Result) -> Result:
    """The arguments of a call stand in a code fence."""
    return _written(result, lambda arguments: f"```json\n{arguments}\n```")


@fault("tool-arguments-sent-twice", "result", on=_STRINGS, caught_by=_JSON, seen=("elizaOS/eliza#16973",))
def sent_twice(_: Context, result: Result) -> Result:
    """The arguments of a call stand twice in the string."""
    return _written(result, lambda arguments: arguments * 2)


def _holder(call: Arguments) -> Arguments:
    """What holds the arguments of a call."""
    found: Arguments = call.get("function", call)
    return found


@fault(
    "tool-arguments-as-object",
    "call",
    on=(CHAT,),
    modes=(JSON,),
    caught_by=(*_JSON, "body.schema"),
    seen=("ggml-org/llama.cpp#20198", "huggingface/text-generation-inference#2136"),
)
def as_object(_: Context, call: Arguments) -> Arguments:
    """The arguments of a call are an object instead of a string."""
    _holder(call)["arguments"] = json.loads(_holder(call)["arguments"])
    return call


@fault("tool-arguments-as-object-in-items", "call", on=(RESPONSES,), caught_by=(*_JSON, "body.item-fields"))
def as_object_in_items(_: Context, call: Arguments) -> Arguments:
    """The arguments of a call that is done are an object instead of a string."""
    if call["arguments"] and call["status"] == "completed":
        call["arguments"] = json.loads(call["arguments"])
    return call


@fault("tool-arguments-null", "call", on=(CHAT,), modes=(JSON,), caught_by=(*_JSON, "body.schema"))
def null(_: Context, call: Arguments) -> Arguments:
    """The arguments of a call are null."""
    _holder(call)["arguments"] = None
    return call


@fault("tool-arguments-missing", "call", on=_STRINGS, modes=(JSON,), caught_by=(*_JSON, "body.schema"))
def missing(_: Context, call: Arguments) -> Arguments:
    """Calls have no arguments."""
    del _holder(call)["arguments"]
    return call


@fault("tool-input-as-string", "call", on=(MESSAGES,), modes=(JSON,), caught_by=_OBJECT)
def input_as_string(_: Context, call: Arguments) -> Arguments:
    """The input of a call is a string that holds the object."""
    return call | {"input": json.dumps(call["input"])}


@fault("tool-input-in-array", "call", on=(MESSAGES,), modes=(JSON,), caught_by=_OBJECT)
def input_in_array(_: Context, call: Arguments) -> Arguments:
    """The input of a call is an array around the object."""
    return call | {"input": [call["input"]]}


@fault("tool-input-null", "call", on=(MESSAGES,), modes=(JSON,), caught_by=_OBJECT)
def input_null(_: Context, call: Arguments) -> Arguments:
    """The input of a call is null."""
    return call | {"input": None}


@fault("tool-input-missing", "call", on=(MESSAGES,), modes=(JSON,), caught_by=_OBJECT)
def input_missing(_: Context, call: Arguments) -> Arguments:
    """Calls have no input."""
    del call["input"]
    return call


@fault(
    "tool-input-encoded-twice",
    "result",
    on=(MESSAGES,),
    modes=(STREAM,),
    caught_by=("tool.input-object", "stream.messages.tool-json"),
)
def input_encoded_twice(_: Context, result: Result) -> Result:
    """The pieces of a call's input add up to a string that holds the object."""
    return _written(result, json.dumps)


def _changed(result: Result, change: Callable[[Arguments], Arguments]) -> Result:
    """The result with other arguments in its calls."""
    return _written(result, lambda arguments: json.dumps(change(json.loads(arguments)), ensure_ascii=False))


@fault("tool-argument-of-wrong-type", "result", caught_by=_SCHEMA)
def wrong_type(_: Context, result: Result) -> Result:
    """Each argument is an array around the value."""
    return _changed(result, lambda arguments: {name: [value] for name, value in arguments.items()})


@fault("tool-argument-missing", "result", caught_by=_SCHEMA)
def argument_missing(_: Context, result: Result) -> Result:
    """The last required argument is left out."""
    return _changed(result, lambda arguments: dict(list(arguments.items())[:-1]))


@fault("tool-argument-undeclared", "result", caught_by=_SCHEMA)
def undeclared(_: Context, result: Result) -> Result:
    """There is one more argument than the schema allows."""
    return _changed(result, lambda arguments: {**arguments, "note": ""})


@fault("tool-argument-null", "result", caught_by=_SCHEMA)
def argument_null(_: Context, result: Result) -> Result:
    """Each argument is null."""
    return _changed(result, dict.fromkeys)


@fault("tool-arguments-wrapped", "result", caught_by=_SCHEMA)
def wrapped(_: Context, result: Result) -> Result:
    """The arguments stand under properties, as in the schema."""
    return _changed(result, lambda arguments: {"properties": arguments})


@fault("tool-arguments-renamed", "result", caught_by=_SCHEMA)
def renamed(_: Context, result: Result) -> Result:
    """The names of the arguments are in capitals."""
    return _changed(result, lambda arguments: {name.upper(): value for name, value in arguments.items()})


def _other(name: str, value: object) -> Callable[[Arguments], Arguments]:
    """A change of one argument where a call has it."""
    return lambda arguments: {**arguments, name: value} if name in arguments else arguments


@fault("tool-argument-outside-enum", "result", caught_by=_SCHEMA)
def outside_enum(_: Context, result: Result) -> Result:
    """An argument is none of the values that its enum allows."""
    return _changed(result, _other("seating", "Terrace"))


@fault("tool-argument-below-minimum", "result", caught_by=_SCHEMA)
def below_minimum(_: Context, result: Result) -> Result:
    """A number is below its minimum."""
    return _changed(result, _other("price", -0.01))


@fault("tool-argument-number-as-string", "result", caught_by=_SCHEMA)
def number_as_string(_: Context, result: Result) -> Result:
    """A number is written as a string."""
    return _changed(result, lambda a: {**a, "price": str(a["price"])} if "price" in a else a)


@fault("tool-argument-nested-wrong", "result", caught_by=_SCHEMA)
def nested_wrong(_: Context, result: Result) -> Result:
    """In the items of an array a boolean is a word."""
    return _changed(
        result,
        lambda a: {**a, "guests": [{**guest, "vegetarian": "no"} for guest in a["guests"]]} if "guests" in a else a,
    )


@fault("tool-strict-ignored", "result", on=(CHAT,), caught_by=_SCHEMA)
def strict_ignored(context: Context, result: Result) -> Result:
    """Where a tool says strict, an argument that is not declared comes all the same."""
    if sent(context, "tools", 0, "function", "strict") is not True:
        return result
    return _changed(result, lambda arguments: {**arguments, "note": ""})
