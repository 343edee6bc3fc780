"""Messages: request bodies, and what they ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.protocols.fields import field, integer
from conformance.protocols.terms import (
    FORMATS,
    Terms,
    all_text,
    function_tool,
    is_search,
    items,
    last_user,
    limit_of,
    object_of,
    text_of,
    truth_of,
)
from conformance.protocols.turns import New, NoAnswerError, without_none
from conformance.protocols.view import Tool

path: Final = "/v1/messages"
DEFAULT_LIMIT: Final = 1024  # max_tokens is required here; this is what the documented examples send
_CHOICES = {"auto": "auto", "none": "none", "any": "required"}


def body(
    model: str,
    *,
    user: str | None = None,
    messages: Sequence[Mapping[str, Any]] | None = None,
    system: str | None = None,
    limit: int | None = None,
    stream: bool | None = None,
    effort: str | None = None,
    tools: Sequence[Mapping[str, Any]] | None = None,
    choice: Any = None,
    **extra: Any,
) -> dict[str, Any]:
    """A request body: of one user message, or of ``messages``; what is None is left out, but max_tokens."""
    turns = [dict(message) for message in messages or ()]
    if user is not None:
        turns.append({"role": "user", "content": user})
    built = {
        "model": model,
        "max_tokens": DEFAULT_LIMIT if limit is None else limit,
        "messages": turns,
        **without_none(system=system, stream=stream, tools=None if tools is None else list(tools), tool_choice=choice),
        **extra,
    }
    if effort is not None:
        built["output_config"] = {"effort": effort, **(object_of(extra.get("output_config")) or {})}
    return built


def tool(name: str, schema: Mapping[str, Any], description: str, strict: bool | None = None) -> dict[str, Any]:
    """A client tool; ``strict`` is sent where it is given, though this surface does not document it."""
    return {"name": name, "description": description, "input_schema": dict(schema), **without_none(strict=strict)}


def search(max_uses: int | None = None) -> dict[str, Any]:
    """The server's web search tool."""
    return {"type": "web_search_20250305", "name": "web_search", **without_none(max_uses=max_uses)}


def choice(kind: str, name: str | None = None) -> Any:
    """A tool_choice: auto, none, required (any here), or named together with a name."""
    if kind == "named":
        return {"type": "tool", "name": name}
    return {"type": "any" if kind == "required" else kind}


def continue_with(body: Mapping[str, Any], answer: Mapping[str, Any], new: New) -> dict[str, Any]:
    """The request with the assistant's content blocks appended unchanged, then the new turn.

    ``answer`` is an answer's body, from JSON or folded from a stream. Raises NoAnswerError where it has no content.
    """
    content = answer.get("content")
    if not isinstance(content, list):
        raise NoAnswerError("expected an array of content blocks in the answer's body")
    turn = {"role": "assistant", "content": content}
    return {**body, "messages": [*items(body.get("messages")), turn, *_turns(new)]}


def _turns(new: New) -> list[Mapping[str, Any]]:
    if isinstance(new, str):
        return [{"role": "user", "content": new}]
    if isinstance(new, Mapping):
        results = [{"type": "tool_result", "tool_use_id": call, "content": result} for call, result in new.items()]
        return [{"role": "user", "content": results}]
    return list(new)


def terms(body: dict[str, Any]) -> Terms:
    """What a body asks for; what has the wrong type counts as absent."""
    chosen = body.get("tool_choice")
    kind, name = text_of(field(chosen, "type")), text_of(field(chosen, "name"))
    choice = "named" if kind == "tool" and name is not None else _CHOICES.get(kind or "")
    config = field(body, "output_config")
    wanted = text_of(field(field(config, "format"), "type"))
    stops = items(body.get("stop_sequences"))
    return Terms(
        limit=limit_of(body, "max_tokens"),
        stop_sequences=tuple(stop for stop in stops if isinstance(stop, str)),
        tools=tuple(_tool(declared) for declared in items(body.get("tools")) if isinstance(declared, dict)),
        choice=choice,
        choice_name=name if choice == "named" else None,
        effort=field(config, "effort"),
        format=wanted if wanted in FORMATS else None,
        format_schema=object_of(field(field(config, "format"), "schema")),
        format_strict=truth_of(field(field(config, "format"), "strict")),
        prompt=all_text(body.get(key) for key in ("system", "messages", "tools", "output_config")),
        last_user=last_user(body.get("messages")),
    )


def _tool(declared: dict[str, Any]) -> Tool:
    if is_search(declared.get("type")):
        uses = integer(declared.get("max_uses"))
        return Tool(name=text_of(field(declared, "name")), search=True, max_uses=uses)
    return function_tool(declared, "input_schema")
