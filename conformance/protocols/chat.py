"""Chat Completions: request bodies, and what they ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.protocols.fields import field
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

path: Final = "/v1/chat/completions"
SEARCH: Final = "$web_search"


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
    """A request body: of one user message, or of ``messages``; what is None is left out."""
    turns = [dict(message) for message in messages or ()]
    if system is not None:
        turns.insert(0, {"role": "system", "content": system})
    if user is not None:
        turns.append({"role": "user", "content": user})
    return {
        "model": model,
        "messages": turns,
        **without_none(
            max_completion_tokens=limit,
            reasoning_effort=effort,
            stream=stream,
            tools=None if tools is None else list(tools),
            tool_choice=choice,
        ),
        **extra,
    }


def tool(name: str, schema: Mapping[str, Any], description: str, strict: bool | None = None) -> dict[str, Any]:
    """A function tool."""
    function = {"name": name, "description": description, "parameters": dict(schema), **without_none(strict=strict)}
    return {"type": "function", "function": function}


def search(max_uses: int | None = None) -> dict[str, Any]:  # noqa: ARG001 (one signature on all surfaces)
    """The web search tool; this surface has no field for ``max_uses``, which is left out."""
    return {"type": "web_search"}


def choice(kind: str, name: str | None = None) -> Any:
    """A tool_choice: auto, none, required, or named together with a name."""
    return {"type": "function", "function": {"name": name}} if kind == "named" else kind


def continue_with(body: Mapping[str, Any], answer: Mapping[str, Any], new: New) -> dict[str, Any]:
    """The request with the assistant's message appended unchanged, then the new turn.

    ``answer`` is an answer's body, from JSON or folded from a stream. Raises NoAnswerError where it has no message.
    """
    choices = items(answer.get("choices"))
    message = object_of(field(choices[0], "message")) if choices else None
    if message is None:
        raise NoAnswerError("expected choices[0].message in the answer's body")
    return {**body, "messages": [*items(body.get("messages")), message, *_turns(new)]}


def _turns(new: New) -> list[Mapping[str, Any]]:
    if isinstance(new, str):
        return [{"role": "user", "content": new}]
    if isinstance(new, Mapping):
        return [{"role": "tool", "tool_call_id": call, "content": result} for call, result in new.items()]
    return list(new)


def terms(body: dict[str, Any]) -> Terms:
    """What a body asks for; what has the wrong type counts as absent."""
    chosen = body.get("tool_choice")
    name = text_of(field(field(chosen, "function"), "name"))
    kind = chosen if isinstance(chosen, str) and chosen in ("auto", "none", "required") else None
    if field(chosen, "type") == "function" and name is not None:
        kind = "named"
    asked = field(body, "response_format")
    wanted = text_of(field(asked, "type"))
    schema = field(asked, "json_schema")
    return Terms(
        limit=limit_of(body, "max_completion_tokens", "max_tokens"),
        tools=tuple(_tool(declared) for declared in items(body.get("tools")) if isinstance(declared, dict)),
        choice=kind,
        choice_name=name if kind == "named" else None,
        effort=field(body, "reasoning_effort"),
        format=wanted if wanted in FORMATS else None,
        format_schema=object_of(field(schema, "schema")),
        format_strict=truth_of(field(schema, "strict")),
        prompt=all_text(body.get(key) for key in ("messages", "tools", "response_format")),
        last_user=last_user(body.get("messages")),
    )


def _tool(declared: dict[str, Any]) -> Tool:
    function = function_tool(declared.get("function"), "parameters")
    if is_search(declared.get("type")) or function.name == SEARCH:
        return Tool(name=SEARCH, search=True)
    return function
