"""Responses: request bodies, and what they ask for."""

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

path: Final = "/v1/responses"


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
    """A request body: input is the user's string, or the array of items ``messages``; what is None is left out.

    The page documents no system prompt; ``system`` is sent as the format's ``instructions``.
    """
    sent: Any = user or ""
    if messages is not None:
        sent = [dict(message) for message in messages]
        if user is not None:
            sent.append({"role": "user", "content": user})
    built = {
        "model": model,
        "input": sent,
        **without_none(
            instructions=system,
            max_output_tokens=limit,
            stream=stream,
            tools=None if tools is None else list(tools),
            tool_choice=choice,
        ),
        **extra,
    }
    if effort is not None:
        built["reasoning"] = {"effort": effort, **(object_of(extra.get("reasoning")) or {})}
    return built


def tool(name: str, schema: Mapping[str, Any], description: str, strict: bool | None = None) -> dict[str, Any]:
    """A function tool."""
    declared = {"type": "function", "name": name, "description": description, "parameters": dict(schema)}
    return {**declared, **without_none(strict=strict)}


def search(max_uses: int | None = None) -> dict[str, Any]:  # noqa: ARG001 (one signature on all surfaces)
    """The format's web search tool; it has no field for ``max_uses``, which is left out."""
    return {"type": "web_search"}


def choice(kind: str, name: str | None = None) -> Any:
    """A tool_choice: auto, none, required, or named together with a name."""
    return {"type": "function", "name": name} if kind == "named" else kind


def continue_with(body: Mapping[str, Any], answer: Mapping[str, Any], new: New) -> dict[str, Any]:
    """The request with the output items appended to its input unchanged, then the new turn.

    ``answer`` is an answer's body, from JSON or folded from a stream. Raises NoAnswerError where it has no output.
    """
    output = answer.get("output")
    if not isinstance(output, list):
        raise NoAnswerError("expected an array of output items in the answer's body")
    sent = body.get("input")
    before = [{"role": "user", "content": sent}] if isinstance(sent, str) else items(sent)
    return {**body, "input": [*before, *output, *_turns(new)]}


def _turns(new: New) -> list[Mapping[str, Any]]:
    if isinstance(new, str):
        return [{"role": "user", "content": new}]
    if isinstance(new, Mapping):
        return [{"type": "function_call_output", "call_id": call, "output": result} for call, result in new.items()]
    return list(new)


def terms(body: dict[str, Any]) -> Terms:
    """What a body asks for; what has the wrong type counts as absent."""
    chosen = body.get("tool_choice")
    name = text_of(field(chosen, "name"))
    kind = chosen if isinstance(chosen, str) and chosen in ("auto", "none", "required") else None
    if field(chosen, "type") == "function" and name is not None:
        kind = "named"
    asked = field(body.get("text"), "format")
    wanted = text_of(field(asked, "type"))
    sent = body.get("input")
    return Terms(
        limit=limit_of(body, "max_output_tokens"),
        tools=tuple(_tool(declared) for declared in items(body.get("tools")) if isinstance(declared, dict)),
        choice=kind,
        choice_name=name if kind == "named" else None,
        effort=field(body.get("reasoning"), "effort"),
        format=wanted if wanted in FORMATS else None,
        format_schema=object_of(field(asked, "schema")),
        format_strict=truth_of(field(asked, "strict")),
        prompt=all_text(body.get(key) for key in ("instructions", "input", "tools", "text")),
        last_user=sent if isinstance(sent, str) else last_user(sent),
    )


def _tool(declared: dict[str, Any]) -> Tool:
    if is_search(declared.get("type")):
        return Tool(name=text_of(declared.get("name")), search=True)
    return function_tool(declared, "parameters")
