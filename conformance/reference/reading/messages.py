"""A messages body into a prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from conformance.models import EFFORT_ALIASES
from conformance.reference import media
from conformance.reference.prompts import (
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

MOST_SEARCHES = 10  # in one answer, where max_uses sets no bound


def prompt(model: str, body: dict[str, Any]) -> Prompt:
    """The prompt of a body that validation accepted; raises Refused for what a schema cannot say."""
    tools, search = _tools(body.get("tools") or [])
    config = body.get("output_config") or {}
    effort = config.get("effort", "max")
    form = config.get("format")
    cache = body.get("cache_control") or {}
    history = (*_system(body.get("system")), *(_message(index, each) for index, each in enumerate(body["messages"])))
    return Prompt(
        protocol=Protocol.MESSAGES,
        model=model,
        messages=history,
        tools=tools,
        search=search,
        choice=_choice(body.get("tool_choice") or {}, tools, search),
        format=None if form is None else Format(schema=usable(form["schema"], "/output_config/format/schema")),
        stop=tuple(body.get("stop_sequences") or ()),
        limit=int(body["max_tokens"]),
        effort=EFFORT_ALIASES.get(effort, effort),
        ttl=cache.get("ttl", "5m"),
        stream=body.get("stream") is True,
    )


def _system(system: object) -> Iterator[Message]:
    if isinstance(system, str):
        yield Message("system", (Text(system),))
    elif isinstance(system, list):
        yield Message("system", tuple(Text(block["text"]) for block in system))


def _message(index: int, message: dict[str, Any]) -> Message:
    content = message["content"]
    where = f"/messages/{index}/content"
    if isinstance(content, str):
        return Message(message["role"], (Text(content),))
    parts = [part for number, block in enumerate(content) for part in _block(block, f"{where}/{number}")]
    return Message(message["role"], tuple(parts))


def _block(block: dict[str, Any], where: str) -> Iterator[Part]:
    kind = block["type"]
    if kind == "text":
        yield Text(block["text"])
    elif kind == "thinking":
        yield Reasoning(block["thinking"])
    elif kind == "image":
        yield _image(block["source"], f"{where}/source")
    elif kind == "tool_use":
        yield PastCall(block["id"], block["name"], _json(block["input"]))
    elif kind == "tool_result":
        content = block["content"]
        inner = (
            [Text(content)] if isinstance(content, str) else [part for each in content for part in _block(each, where)]
        )
        text = "\n".join(part.text for part in inner if isinstance(part, Text))
        yield ToolResult(block["tool_use_id"], text, tuple(part for part in inner if isinstance(part, Media)))
    else:  # a search that the server made, or its results: read as words
        yield Text(_json(block["input"] if kind == "server_tool_use" else block["content"]))


def _image(source: dict[str, Any], where: str) -> Media:
    if source["type"] == "url":
        return media.from_reference(source.get("url", ""), f"{where}/url")
    return media.from_base64("image", source.get("media_type", ""), source.get("data", ""), f"{where}/data")


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _tools(declared: list[dict[str, Any]]) -> tuple[tuple[Tool, ...], int]:
    """The functions, and how many searches the server may run."""
    tools: list[Tool] = []
    search = 0
    for index, tool in enumerate(declared):
        if "input_schema" in tool:
            schema = usable(tool["input_schema"], f"/tools/{index}/input_schema")
            tools.append(Tool(name=tool["name"], description=tool.get("description") or "", parameters=schema))
        else:
            search = min(int(tool.get("max_uses") or MOST_SEARCHES), MOST_SEARCHES)
    return tuple(tools), search


def _choice(choice: dict[str, Any], tools: tuple[Tool, ...], search: int) -> Choice:
    mode = choice.get("type", "auto")
    if mode == "any" and not tools and not search:
        raise invalid("/tool_choice: any needs at least one tool.")
    parallel = choice.get("disable_parallel_tool_use") is not True
    return Choice(mode="required" if mode == "any" else mode, parallel=parallel)
