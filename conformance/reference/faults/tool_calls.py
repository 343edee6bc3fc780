"""Faults in single tool calls: ids, names, types, calls that nobody asked for."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.models import K3
from conformance.reference.faults.registry import CHAT, fault
from conformance.reference.hooks import Context
from conformance.reference.prompts import SEARCH
from conformance.reference.results import Call, Finish, Result
from conformance.values import Protocol

_ON_CHAT = (CHAT,)
_IDS = ("tool.ids", "stream.chat.tool-deltas", "stream.responses.calls", "body.schema")
_DECLARED = ("tool.declared-only",)
_TYPE = ("tool.type", "body.schema")
_UNIQUE = ("tool.no-duplicates",)
_NONE = ("tool.none-declared",)


def _with(context: Context, call: dict[str, Any], value: object) -> dict[str, Any]:
    """The call with another id."""
    return call | {"call_id" if context.protocol is Protocol.RESPONSES else "id": value}


@fault("tool-id-missing", "call", caught_by=_IDS)
def id_missing(context: Context, call: dict[str, Any]) -> dict[str, Any]:
    """Calls have no id."""
    del call["call_id" if context.protocol is Protocol.RESPONSES else "id"]
    return call


@fault("tool-id-empty", "call", caught_by=_IDS, seen=("huggingface/smolagents#2768",))
def id_empty(context: Context, call: dict[str, Any]) -> dict[str, Any]:
    """The id of a call is an empty string."""
    return _with(context, call, "")


@fault("tool-id-null", "call", caught_by=_IDS)
def id_null(context: Context, call: dict[str, Any]) -> dict[str, Any]:
    """The id of a call is null."""
    return _with(context, call, None)


@fault("tool-id-missing-after-first", "call", caught_by=_IDS)
def id_missing_after_first(context: Context, call: dict[str, Any]) -> dict[str, Any]:
    """Only the first call of an answer has an id."""
    name = "call_id" if context.protocol is Protocol.RESPONSES else "id"
    return call if context.facts.setdefault("first call", call[name]) == call[name] else call | {name: None}


@fault("tool-id-as-number", "call", caught_by=_IDS)
def id_as_number(context: Context, call: dict[str, Any]) -> dict[str, Any]:
    """The id of a call is a number."""
    return _with(context, call, 1)


def _renamed(result: Result, *names: str) -> Result:
    """The result with other names for its calls; the last name for all that are left."""
    calls = tuple(
        replace(call, name=names[min(place, len(names) - 1)].format(call.name))
        for place, call in enumerate(result.calls)
    )
    return replace(result, calls=calls)


@fault("tool-name-prefixed", "result", caught_by=_DECLARED, seen=("tontinton/maki#505",))
def name_prefixed(_: Context, result: Result) -> Result:
    """The name of a called function has the prefix of the model's template."""
    return _renamed(result, "functions.{}")


@fault("tool-name-with-number", "result", caught_by=_DECLARED)
def name_with_number(_: Context, result: Result) -> Result:
    """The name of a called function is followed by the number of the call."""
    return _renamed(result, "{}:0")


@fault("tool-name-in-other-case", "result", caught_by=_DECLARED)
def name_in_other_case(_: Context, result: Result) -> Result:
    """The name of a called function is written in capitals."""
    return replace(result, calls=tuple(replace(call, name=call.name.upper()) for call in result.calls))


@fault("tool-name-with-space", "result", caught_by=_DECLARED)
def name_with_space(_: Context, result: Result) -> Result:
    """The name of a called function begins with a space."""
    return _renamed(result, " {}")


@fault("tool-name-of-second-call-unknown", "result", caught_by=_DECLARED)
def second_name_unknown(_: Context, result: Result) -> Result:
    """The second call of an answer is of a function that nobody declared."""
    return _renamed(result, "{}", "lookup")


@fault(
    "tool-name-missing",
    "call",
    caught_by=(*_DECLARED, "stream.chat.tool-deltas", "stream.responses.calls"),
    seen=("tailcallhq/forgecode#1141",),
)
def name_missing(_: Context, call: dict[str, Any]) -> dict[str, Any]:
    """Calls have no name."""
    call.get("function", call).pop("name", None)
    return call


@fault("tool-name-null", "call", caught_by=(*_DECLARED, "stream.chat.tool-deltas", "stream.responses.calls"))
def name_null(_: Context, call: dict[str, Any]) -> dict[str, Any]:
    """The name of a call is null."""
    call.get("function", call)["name"] = None
    return call


@fault("tool-type-foreign", "call", on=_ON_CHAT, caught_by=_TYPE)
def type_foreign(_: Context, call: dict[str, Any]) -> dict[str, Any]:
    """The type of a call is tool_use, as on messages."""
    return call | {"type": "tool_use"}


@fault("tool-type-missing", "call", on=_ON_CHAT, caught_by=_TYPE)
def type_missing(_: Context, call: dict[str, Any]) -> dict[str, Any]:
    """Calls have no type."""
    del call["type"]
    return call


@fault("tool-type-null", "call", on=_ON_CHAT, caught_by=_TYPE)
def type_null(_: Context, call: dict[str, Any]) -> dict[str, Any]:
    """The type of a call is null."""
    return call | {"type": None}


@fault("tool-type-builtin-for-function", "call", on=_ON_CHAT, caught_by=_TYPE)
def type_builtin(_: Context, call: dict[str, Any]) -> dict[str, Any]:
    """The call of a declared function is of type builtin_function."""
    return call | {"type": "builtin_function"}


@fault("tool-type-function-for-search", "call", on=_ON_CHAT, caught_by=_TYPE)
def type_function_for_search(_: Context, call: dict[str, Any]) -> dict[str, Any]:
    """The call of $web_search is of type function."""
    return call | {"type": "function"} if call["function"]["name"] == SEARCH else call


@fault(
    "tool-id-repeated-in-answer",
    "result",
    caught_by=_UNIQUE,
    seen=("NousResearch/hermes-agent#67777", "huggingface/smolagents#2768"),
)
def id_repeated(_: Context, result: Result) -> Result:
    """All calls of one answer have the same id."""
    return replace(result, calls=tuple(replace(call, id=result.calls[0].id) for call in result.calls))


@fault(
    "tool-id-counted-in-answer",
    "result",
    caught_by=_UNIQUE,
    seen=("NVIDIA-NeMo/Switchyard#502", "NousResearch/hermes-agent#111443"),
)
def id_counted(_: Context, result: Result) -> Result:
    """The ids of calls count from 0 in each answer, so that later turns use them again."""
    return replace(result, calls=tuple(replace(call, id=str(place)) for place, call in enumerate(result.calls)))


@fault("tool-id-is-name", "result", caught_by=_UNIQUE, seen=("NousResearch/hermes-agent#11722",))
def id_is_name(_: Context, result: Result) -> Result:
    """The id of a call is made of its function's name."""
    return replace(result, calls=tuple(replace(call, id=call.name) for call in result.calls))


def _unasked(context: Context, result: Result, name: str, *, builtin: bool = False) -> Result:
    """The result with a call, where the request offers no tools and the answer ends by itself."""
    prompt = context.prompt
    if prompt is None or prompt.tools or prompt.search or result.finish is not Finish.STOP:
        return result
    call = Call(id=context.id, name=name, arguments='{"query": "Kimi"}', builtin=builtin)
    return replace(result, calls=(call,), finish=Finish.CALLS)


@fault("tool-call-without-tools", "result", caught_by=_NONE)
def without_tools(context: Context, result: Result) -> Result:
    """A function is called though the request has no tools."""
    return _unasked(context, result, "search")


@fault("tool-call-without-tools-on-k3", "result", models=K3, caught_by=_NONE)
def without_tools_on_k3(context: Context, result: Result) -> Result:
    """On kimi-k3 alone a function is called though the request has no tools."""
    return _unasked(context, result, "search") if context.model in K3 else result


@fault("tool-search-without-tools", "result", on=_ON_CHAT, caught_by=_NONE)
def search_without_tools(context: Context, result: Result) -> Result:
    """A web search is called though the request does not offer it."""
    return _unasked(context, result, SEARCH, builtin=True)
