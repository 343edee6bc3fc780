"""Faults in structured output: text that is not the JSON that the request asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from conformance.reference.faults.registry import CHAT, MESSAGES, fault
from conformance.reference.faults.terms import sent
from conformance.reference.hooks import Context
from conformance.reference.prompts import Prompt
from conformance.reference.results import Finish, Result
from conformance.values import Protocol

_CHAT = (CHAT,)
_ON = (CHAT, MESSAGES)
_OBJECT = ("format.json-object",)
_SCHEMA = ("format.json-schema",)
_BOTH = (*_SCHEMA, *_OBJECT)
Value = dict[str, Any]


def _kind(context: Context) -> Any:
    """The type of the format that a request asks for."""
    paths = {Protocol.CHAT: ("response_format", "type"), Protocol.MESSAGES: ("output_config", "format", "type")}
    return sent(context, *paths[context.protocol]) if context.protocol in paths else None


def _written(context: Context, result: Result, change: Callable[[str], str], *kinds: str) -> Result:
    """The result with its JSON text written otherwise, where a format of these kinds (default: any) was asked for."""
    wanted = kinds or ("json_object", "json_schema")
    if _kind(context) not in wanted or result.finish is not Finish.STOP or result.searches:
        return result
    return replace(result, text=change(result.text))


@fault(
    "format-fenced",
    "result",
    on=_ON,
    caught_by=_BOTH,
    seen=("veniceai/api-docs#264", "OpenRouterTeam/typescript-sdk#204"),
)
def fenced(context: Context, result: Result) -> Result:
    """The JSON stands in a code fence."""
    return _written(context, result, lambda text: f"```json\n{text}\n```")


@fault("format-fence-opened", "result", on=_ON, caught_by=_BOTH)
def fence_opened(context: Context, result: Result) -> Result:
    """A code fence is opened before the JSON and never closed."""
    return _written(context, result, lambda text: f"```json\n{text}")


@fault("format-introduced", "result", on=_ON, caught_by=_BOTH)
def introduced(context: Context, result: Result) -> Result:
    """A sentence introduces the JSON."""
    return _written(context, result, lambda text: f"Here is the JSON you asked for:\n{text}")


@fault("format-explained", "result", on=_ON, caught_by=_BOTH)
def explained(context: Context, result: Result) -> Result:
    """A sentence follows the JSON."""
    return _written(context, result, lambda text: f"{text}\n\nThe object has the field that was asked for.")


@fault("format-thought-first", "result", on=_ON, caught_by=(*_BOTH, "reasoning.not-in-text"))
def thought_first(context: Context, result: Result) -> Result:
    """The JSON comes after a thought between tags."""
    return _written(context, result, lambda text: f"<think>The object is simple.</think>{text}")


@fault("format-unclosed", "result", on=_ON, caught_by=_BOTH)
def unclosed(context: Context, result: Result) -> Result:
    """The JSON lacks its last bracket."""
    return _written(context, result, lambda text: text[:-1])


@fault("format-sent-twice", "result", on=_ON, caught_by=_BOTH)
def sent_twice(context: Context, result: Result) -> Result:
    """The JSON stands twice in the text."""
    return _written(context, result, lambda text: f"{text}\n{text}")


@fault("format-as-python", "result", on=_ON, caught_by=_BOTH)
def as_python(context: Context, result: Result) -> Result:
    """The object is in single quotes."""
    return _written(context, result, lambda text: repr(json.loads(text)))


@fault("format-trailing-comma", "result", on=_ON, caught_by=_BOTH)
def trailing_comma(context: Context, result: Result) -> Result:
    """A comma follows the last member."""
    return _written(context, result, lambda text: f"{text[:-1]},}}")


@fault("format-encoded-twice", "result", on=_ON, caught_by=_BOTH)
def encoded_twice(context: Context, result: Result) -> Result:
    """The text is a JSON string that holds the object."""
    return _written(context, result, json.dumps)


@fault("format-in-array", "result", on=_ON, caught_by=_BOTH)
def in_array(context: Context, result: Result) -> Result:
    """The text is an array around the object."""
    return _written(context, result, lambda text: f"[{text}]")


@fault("format-object-as-word", "result", on=_CHAT, caught_by=_OBJECT)
def as_word(context: Context, result: Result) -> Result:
    """Under json_object the text is a JSON string."""
    return _written(context, result, lambda _text: '"OK"', "json_object")


@fault("format-object-ignored", "prompt", on=_CHAT, caught_by=_OBJECT)
def object_ignored(context: Context, prompt: Prompt) -> Prompt:
    """The answer is plain text though json_object was asked for."""
    return _ignoring(prompt) if _kind(context) == "json_object" else prompt


@fault("format-schema-ignored", "prompt", on=_ON, caught_by=_SCHEMA)
def schema_ignored(context: Context, prompt: Prompt) -> Prompt:
    """The answer is plain text though a schema was sent."""
    return _ignoring(prompt) if _kind(context) == "json_schema" else prompt


def _ignoring(prompt: Prompt) -> Prompt:
    """The prompt without its format, and with a question to answer in words."""
    return replace(prompt, format=None, messages=tuple(replace(m, parts=()) for m in prompt.messages))


@fault("format-schema-as-any-object", "prompt", on=_ON, caught_by=_SCHEMA)
def as_any_object(context: Context, prompt: Prompt) -> Prompt:
    """A schema is taken for a wish for any object."""
    if prompt.format is None or _kind(context) != "json_schema":
        return prompt
    return replace(prompt, format=replace(prompt.format, schema={"type": "object"}), messages=())


def _changed(context: Context, result: Result, change: Callable[[Value], Value]) -> Result:
    """The result with another value in place of an instance of the schema."""
    return _written(context, result, lambda text: json.dumps(change(json.loads(text))), "json_schema")


@fault("format-member-missing", "result", on=_ON, caught_by=_SCHEMA)
def member_missing(context: Context, result: Result) -> Result:
    """A required member is left out."""
    return _changed(context, result, lambda value: dict(list(value.items())[1:]))


@fault("format-member-undeclared", "result", on=_ON, caught_by=_SCHEMA)
def member_undeclared(context: Context, result: Result) -> Result:
    """There is one member more than the schema allows."""
    return _changed(context, result, lambda value: {**value, "note": "done"})


@fault("format-member-null", "result", on=_ON, caught_by=_SCHEMA)
def member_null(context: Context, result: Result) -> Result:
    """Every member is null."""
    return _changed(context, result, dict.fromkeys)


@fault("format-members-renamed", "result", on=_ON, caught_by=_SCHEMA)
def members_renamed(context: Context, result: Result) -> Result:
    """The names of the members are in capitals."""
    return _changed(context, result, lambda value: {name.upper(): member for name, member in value.items()})


@fault("format-instance-wrapped", "result", on=_ON, caught_by=_SCHEMA)
def wrapped(context: Context, result: Result) -> Result:
    """The instance stands under the name of the schema."""
    return _changed(context, result, lambda value: {"result": value})


def _people(value: Value, change: Callable[[Value], Value]) -> Value:
    """The value with each of its people changed, where it has any."""
    return {**value, "people": [change(person) for person in value["people"]]} if "people" in value else value


@fault("format-nested-type-wrong", "result", on=_ON, caught_by=_SCHEMA)
def nested_type_wrong(context: Context, result: Result) -> Result:
    """In the items of an array a number is written as a string."""
    return _changed(context, result, lambda v: _people(v, lambda person: {**person, "born": str(person["born"])}))


@fault("format-nested-enum-wrong", "result", on=_ON, caught_by=_SCHEMA)
def nested_enum_wrong(context: Context, result: Result) -> Result:
    """In the items of an array a word is none of its enum."""
    return _changed(context, result, lambda v: _people(v, lambda person: {**person, "field": "Physics"}))


@fault("format-one-item-too-few", "result", on=_ON, caught_by=_SCHEMA)
def one_too_few(context: Context, result: Result) -> Result:
    """An array has one item less than its schema demands."""
    return _changed(context, result, lambda v: {**v, "people": v["people"][:1]} if "people" in v else v)


@fault("format-loose-schema-ignored", "result", on=_CHAT, caught_by=_SCHEMA)
def loose_ignored(context: Context, result: Result) -> Result:
    """Where strict is false the schema is not followed at all."""
    loose = sent(context, "response_format", "json_schema", "strict") is False
    return _changed(context, result, lambda _value: {"answer": "OK"}) if loose else result


@fault("format-unstated-strictness-ignored", "result", on=_CHAT, caught_by=_SCHEMA)
def unstated_ignored(context: Context, result: Result) -> Result:
    """Where strict is left out the schema is not followed at all."""
    unstated = sent(context, "response_format", "json_schema", "strict") is None
    return _changed(context, result, lambda _value: {"answer": "OK"}) if unstated else result
