"""A chat body into a prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.models import DEFAULT_LIMIT, EFFORT_ALIASES
from conformance.reference import media
from conformance.reference.prompts import (
    SEARCH,
    Choice,
    Format,
    Media,
    Message,
    Part,
    PastCall,
    Prompt,
    Reasoning,
    Text,
    Tool,
    ToolResult,
)
from conformance.reference.reading.schemas import usable
from conformance.reference.refusals import invalid
from conformance.values import Protocol

JSON_OBJECT: dict[str, Any] = {"type": "object"}


def prompt(model: str, body: dict[str, Any]) -> Prompt:
    """The prompt of a body that validation accepted; raises Refused for what a schema cannot say."""
    tools, search = _tools(body.get("tools") or [])
    stream_options = body.get("stream_options")
    cache = body.get("prompt_cache_options") or {}
    effort = body.get("reasoning_effort", "max")
    return Prompt(
        protocol=Protocol.CHAT,
        model=model,
        messages=tuple(_message(index, message) for index, message in enumerate(body["messages"])),
        tools=tools,
        search=search,
        choice=_choice(body, tools, search),
        format=_format(body.get("response_format") or {}),
        limit=int(body.get("max_completion_tokens") or body.get("max_tokens") or DEFAULT_LIMIT),
        effort=EFFORT_ALIASES.get(effort, effort),
        ttl=cache.get("ttl", "5m"),
        stream=body.get("stream") is True,
        usage_chunk=isinstance(stream_options, dict) and stream_options.get("include_usage") is True,
    )


def _message(index: int, message: dict[str, Any]) -> Message:
    where = f"/messages/{index}"
    role = message["role"]
    content = tuple(_content(message.get("content"), f"{where}/content"))
    if role == "tool":
        name = message.get("tool_call_id")
        if not name:
            raise invalid(f"{where}/tool_call_id: a tool message names the call that it answers.")
        text = "\n".join(part.text for part in content if isinstance(part, Text))
        shown = tuple(part for part in content if isinstance(part, Media))
        return Message("tool", (ToolResult(name, text, shown),))
    if role == "assistant":
        reasoning = message.get("reasoning_content")
        before: tuple[Part, ...] = (Reasoning(reasoning),) if reasoning else ()
        return Message(role, (*before, *content, *_calls(message.get("tool_calls") or [])))
    return Message(role, content)


def _content(content: object, where: str) -> Iterator[Part]:
    if isinstance(content, str):
        yield Text(content)
    for number, part in enumerate(content if isinstance(content, list) else ()):
        if part["type"] == "text":
            yield Text(part["text"])
        else:
            kind = part["type"].removesuffix("_url")
            source = part[part["type"]]
            url = source if isinstance(source, str) else source["url"]
            yield media.from_url(kind, url, f"{where}/{number}/{part['type']}")


def _calls(calls: list[dict[str, Any]]) -> Iterator[PastCall]:
    for call in calls:
        function = call["function"]
        yield PastCall(call["id"], str(function.get("name", "")), str(function.get("arguments", "")))


def _tools(declared: list[dict[str, Any]]) -> tuple[tuple[Tool, ...], int]:
    """The functions, and how many searches an answer may ask for."""
    tools: list[Tool] = []
    search = 0
    for index, tool in enumerate(declared):
        if tool["type"] == "web_search":
            search = 1
            continue
        function = tool["function"]
        parameters = usable(function["parameters"], f"/tools/{index}/function/parameters")
        description = function.get("description") or ""
        tools.append(Tool(name=function["name"], description=description, parameters=parameters))
    return tuple(tools), search


def _choice(body: dict[str, Any], tools: tuple[Tool, ...], search: int) -> Choice:
    choice = body.get("tool_choice", "auto")
    parallel = body.get("parallel_tool_calls") is not False
    if isinstance(choice, dict):
        name = choice["function"]["name"]
        if name not in {tool.name for tool in tools} and not (search and name == SEARCH):
            raise invalid("/tool_choice/function/name: no such function is declared in tools.")
        return Choice(mode="named", name=name, parallel=parallel)
    if choice == "required" and not tools and not search:
        raise invalid("/tool_choice: required needs at least one tool.")
    return Choice(mode=choice, parallel=parallel)


def _format(form: dict[str, Any]) -> Format | None:
    if form.get("type") == "json_object":
        return Format(schema=JSON_OBJECT)
    if form.get("type") != "json_schema":
        return None
    if "json_schema" not in form:
        return Format(schema=JSON_OBJECT)
    return Format(schema=usable(form["json_schema"]["schema"], "/response_format/json_schema/schema"))
