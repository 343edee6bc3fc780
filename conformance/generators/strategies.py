"""Valid requests: every field as the effective schema of the surface and model allows it, with a meaning.

What a schema says by itself (enums, ranges, flags, what a model does not take) is read from it; what a field means for
the others (conversations, tools, formats, stop sequences) is made here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import strategies as st

from conformance.generators.conversations import Offer, conversations
from conformance.generators.places import resolved
from conformance.generators.schemas_of_tools import schemas
from conformance.generators.texts import names, stop_sequences, texts
from conformance.models import DEFAULT_LIMIT, MODELS
from conformance.protocols import BUILDERS
from conformance.specs.schemas import shared_request
from conformance.values import Intent, Protocol

MOST_TOOLS = 128  # of chat
_LIMITS = {
    Protocol.CHAT: "max_completion_tokens",
    Protocol.MESSAGES: "max_tokens",
    Protocol.RESPONSES: "max_output_tokens",
}
_SAMPLING = ("temperature", "top_p")
_UNDOCUMENTED = frozenset({"tools", "tool_choice", "text"})  # on responses: what its page leaves folded
_MADE = frozenset({"model", "messages", "input", "system", "tools", "tool_choice", "response_format", "text"})
_EDGES = (1, 2, 16, 1024, DEFAULT_LIMIT, 1_048_576)
Draw = Callable[[st.SearchStrategy[Any]], Any]


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be sent, one body after the other, and what may be said of it."""

    bodies: tuple[Any, ...]  # JSON values; bytes are sent as they are
    intents: tuple[Intent, ...] = ()
    broken: str | None = None  # the constraint that the body breaks, and no other
    base: Any = None  # the valid body that a broken one was made from


def requests(protocol: Protocol, model: str, *, most_tokens: int | None = None) -> st.SearchStrategy[Proposal]:
    """Valid requests of a cell; some twice, the second time in the same or in the other mode.

    Where the documents leave no doubt, the intent VALID is declared. ``most_tokens`` bounds the output that is asked
    for, where it costs.
    """
    return _requests(protocol, model, most_tokens)


@st.composite
def bodies(draw: Draw, protocol: Protocol, model: str, most_tokens: int | None) -> tuple[dict[str, Any], bool]:
    """A valid body, and whether the documents leave no doubt that it must be accepted."""
    fields: dict[str, Any] = {}
    sure = True
    asking: str | None = None
    offers: tuple[Offer, ...] = ()
    search = False
    feature = draw(st.sampled_from(("none", "none", "tools", "format")))
    if feature == "tools":
        fields, offers, search, asking = _tools(draw, protocol)
        sure = protocol is not Protocol.RESPONSES
    elif feature == "format":
        fields, sure = _formats(draw, protocol, model)
        asking = "Return a JSON object." if fields else None
    conversation = draw(conversations(protocol, offers, search=search, asking=asking))
    body = {"model": model, "input" if protocol is Protocol.RESPONSES else "messages": conversation.messages}
    if protocol is Protocol.MESSAGES and draw(st.sampled_from((False, False, True))):
        words = draw(st.just("Be brief.") | texts().map("Style: {}".format))
        body["system"] = draw(st.sampled_from((words, [{"type": "text", "text": words}])))
    plain, known = _plain(draw, protocol, model, most_tokens, stops=feature != "format")
    merged = _merged(plain, fields)
    return {**body, **merged}, sure and known and conversation.sure


@st.composite
def _requests(draw: Draw, protocol: Protocol, model: str, most_tokens: int | None) -> Proposal:
    body, sure = draw(bodies(protocol, model, most_tokens))
    intents = (Intent.VALID,) if sure else ()
    second = draw(st.sampled_from(("", "", "", "", "same", "mode")))
    if not second:
        return Proposal(bodies=(body,), intents=intents)
    other = body if second == "same" else {**body, "stream": not body.get("stream", False)}
    return Proposal(bodies=(body, other), intents=intents)


def _merged(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    """Both together; objects that both have are joined."""
    joined = {key: {**one[key], **two[key]} for key in one.keys() & two.keys() if isinstance(one[key], dict)}
    return {**one, **two, **joined}


def _tools(draw: Draw, protocol: Protocol) -> tuple[dict[str, Any], tuple[Offer, ...], bool, str | None]:
    """Tools and their choice, what a conversation may call, whether it may search, and what the user asks."""
    builder = BUILDERS[protocol]
    chosen = draw(st.lists(names(), max_size=3, unique=True))
    if protocol is Protocol.CHAT and draw(st.sampled_from((False,) * 15 + (True,))):
        chosen = [f"tool_{number:03}" for number in range(MOST_TOOLS)]
    crowd = len(chosen) > 3
    pairs = [({"type": "object", "properties": {}}, {}) if crowd else draw(schemas()) for _ in chosen]
    tools = []
    for name, (schema, _) in zip(chosen, pairs, strict=True):
        strict = draw(st.sampled_from((None, None, True, False))) if protocol is Protocol.CHAT and not crowd else None
        tools.append(builder.tool(name, schema, draw(st.just(f"The tool {name}") | texts()), strict=strict))
    search = protocol is not Protocol.RESPONSES and not crowd and (not tools or draw(st.booleans()))
    if search:
        tools.append(builder.search(draw(st.sampled_from((None, 1, 2)))))
    if not tools:
        return {}, (), False, None
    kinds = ["auto", "none", *(("required",) if chosen else ())]
    kinds += ["named"] if chosen and protocol is not Protocol.MESSAGES else []
    kind = draw(st.sampled_from([None, *kinds]))
    fields: dict[str, Any] = {"tools": tools}
    if kind is not None:
        fields["tool_choice"] = builder.choice(kind, draw(st.sampled_from(chosen)) if kind == "named" else None)
    asking = [None, *(f"Call {name} for Paris." for name in chosen[:1])]
    asking += ["Use web search to find the official Kimi homepage URL."] if search else []
    offers = tuple(Offer(name=name, arguments=value) for name, (_, value) in zip(chosen, pairs, strict=True))
    return fields, offers, search, draw(st.sampled_from(asking))


def _formats(draw: Draw, protocol: Protocol, model: str) -> tuple[dict[str, Any], bool]:
    """The format that an answer is to have, where the model takes one, and whether it is documented."""
    if protocol is Protocol.MESSAGES:
        if protocol not in MODELS[model].structured_output:
            return {}, True
        return {"output_config": {"format": {"type": "json_schema", "schema": draw(schemas())[0]}}}, True
    kind = draw(st.sampled_from(("text", "json_object", "json_schema")))
    if kind != "json_schema":
        form: dict[str, Any] = {"type": kind}
        return _placed(protocol, form), protocol is Protocol.CHAT
    strict = draw(st.sampled_from((None, True, False)))
    schema, _ = draw(schemas(strict=strict is not False))
    inner = {"name": draw(names()), "schema": schema, **({} if strict is None else {"strict": strict})}
    form = {"type": kind, "json_schema": inner} if protocol is Protocol.CHAT else {"type": kind, **inner}
    return _placed(protocol, form), protocol is Protocol.CHAT


def _placed(protocol: Protocol, form: dict[str, Any]) -> dict[str, Any]:
    return {"response_format": form} if protocol is Protocol.CHAT else {"text": {"format": form}}


def _plain(
    draw: Draw, protocol: Protocol, model: str, most_tokens: int | None, *, stops: bool
) -> tuple[dict[str, Any], bool]:
    """The fields that mean the same whatever the others hold, each present or not, and whether all are documented."""
    schema = shared_request(protocol, model)
    found: dict[str, Any] = {}
    sure = True
    for name, node in schema["properties"].items():
        if name in _MADE or "not" in node or (name == "stop_sequences" and not stops):
            continue
        bound = name in ("max_tokens", "max_completion_tokens", "max_output_tokens")
        if bound and (name == _LIMITS[protocol] and most_tokens is not None):
            found[name] = draw(_limit(most_tokens))
        elif name in schema["required"] or draw(_sometimes()):
            found[name] = draw(_limit(most_tokens) if bound else _named(protocol, model, name))
            sure = sure and _is_sure(protocol, model, name, found)
    return found, sure


def _is_sure(protocol: Protocol, model: str, name: str, found: dict[str, Any]) -> bool:
    """Whether the documents leave no doubt of a field, beside those that come before it in the schema."""
    row = MODELS[model]
    if name in _SAMPLING:  # kimi-k3 is judged on it by rules of its own
        return not row.rejects_other_sampling and 0 <= found[name] <= 2
    if name == "max_tokens" and protocol is Protocol.CHAT:
        return "max_completion_tokens" not in found
    if name == "reasoning":
        return found[name].get("effort", row.default_effort) in row.efforts
    if name == "stop_sequences":
        return row.stop_sequences
    return True


@functools.cache
def _sometimes() -> st.SearchStrategy[bool]:
    return st.sampled_from((False, False, True))


@functools.cache
def _limit(most: int | None) -> st.SearchStrategy[int]:
    if most is not None:
        return st.sampled_from((min(16, most), most)) | st.integers(1, most)
    return st.just(4096) | st.integers(1, 200) | st.sampled_from(_EDGES)


@functools.cache
def _named(protocol: Protocol, model: str, name: str) -> st.SearchStrategy[Any]:
    """Values of a top-level field."""
    schema = shared_request(protocol, model)
    node = schema["properties"][name]
    if name == "stop_sequences":
        return st.lists(stop_sequences(), max_size=node["maxItems"], unique=True)
    if name == "reasoning":
        efforts = MODELS[model].efforts
        return st.fixed_dictionaries({}, optional={"effort": st.sampled_from((*efforts, None, "medium", "none"))})
    return _value(schema.get("$defs", {}), node)


def _value(definitions: dict[str, Any], node: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a part of a request schema allows."""
    node, _ = resolved(definitions, node, "")
    if "const" in node:
        return st.just(node["const"])
    if "enum" in node:
        return st.sampled_from(node["enum"])
    kinds = [node["type"]] if isinstance(node["type"], str) else node["type"]
    return st.one_of(*(_of_type(definitions, node, kind) for kind in kinds))


def _of_type(definitions: dict[str, Any], node: dict[str, Any], kind: str) -> st.SearchStrategy[Any]:
    if kind == "object":
        parts = {
            name: _value(definitions, child)
            for name, child in node.get("properties", {}).items()
            if "not" not in child and name != "format"
        }
        required = {name: part for name, part in parts.items() if name in node.get("required", ())}
        optional = {name: part for name, part in parts.items() if name not in required}
        return st.fixed_dictionaries(required, optional=optional)
    if kind == "array":
        return st.lists(_value(definitions, node["items"]), max_size=min(node.get("maxItems", 3), 5))
    scalars: dict[str, st.SearchStrategy[Any]] = {
        "boolean": st.booleans(),
        "null": st.none(),
        "string": texts(),
        "integer": st.integers(node.get("minimum", -(2**31)), node.get("maximum", 2**31)),
        "number": st.sampled_from((1, 0, 0.95, 0.5, 2)) | st.sampled_from((-1, 1e9, 1e-300, 1.7976931348623157e308)),
    }
    return scalars[kind]
