"""A responses body into a prompt; what the page leaves folded is read as the OpenAI format has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.models import DEFAULT_LIMIT, EFFORT_ALIASES
from conformance.reference import media
from conformance.reference.prompts import (
    Choice,
    Format,
    Message,
    Part,
    PastCall,
    Prompt,
    Reasoning,
    Text,
    Tool,
    ToolResult,
)
from conformance.reference.reading.chat import JSON_OBJECT
from conformance.reference.reading.schemas import usable
from conformance.reference.refusals import invalid
from conformance.values import Protocol

_TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


def prompt(model: str, body: dict[str, Any]) -> Prompt:
    """The prompt of a body that validation accepted; raises Refused for what a schema cannot say."""
    tools = tuple(_tools(body.get("tools") or []))
    reasoning = body.get("reasoning")
    effort = reasoning.get("effort") if isinstance(reasoning, dict) else None
    effort = EFFORT_ALIASES.get(effort, effort) if isinstance(effort, str) else "max"
    return Prompt(
        protocol=Protocol.RESPONSES,
        model=model,
        messages=(*_instructions(body.get("instructions")), *_input(body["input"])),
        tools=tools,
        choice=_choice(body, tools),
        format=_format(body.get("text")),
        limit=int(body.get("max_output_tokens") or DEFAULT_LIMIT),
        effort=effort if effort in ("low", "high", "max") else "max",
        stream=body.get("stream") is True,
    )


def _instructions(instructions: object) -> Iterator[Message]:
    if isinstance(instructions, str):
        yield Message("system", (Text(instructions),))


def _input(given: object) -> Iterator[Message]:
    if isinstance(given, str):
        yield Message("user", (Text(given),))
        return
    for index, item in enumerate(given if isinstance(given, list) else ()):
        where = f"/input/{index}"
        if not isinstance(item, dict):
            raise invalid(f"{where}: an object is expected.")
        yield _item(item, where)


def _item(item: dict[str, Any], where: str) -> Message:
    kind = item.get("type", "message")
    if kind == "message":
        role = _ROLES.get(_string(item, "role", where))
        if role is None:
            raise invalid(f"{where}/role: one of {', '.join(_ROLES)} is expected.")
        return Message(role, tuple(_content(item.get("content"), f"{where}/content")))  # type: ignore[arg-type] # of _ROLES
    if kind == "reasoning":
        parts = [*_texts(item.get("summary")), *_texts(item.get("content"))]
        return Message("assistant", tuple(Reasoning(part) for part in parts))
    if kind == "function_call":
        call_id, name = _string(item, "call_id", where), _string(item, "name", where)
        return Message("assistant", (PastCall(call_id, name, _string(item, "arguments", where)),))
    if kind == "function_call_output":
        output = item.get("output")
        text = output if isinstance(output, str) else "\n".join(_texts(output))
        return Message("tool", (ToolResult(_string(item, "call_id", where), text),))
    raise invalid(f"{where}/type: the item type is not supported.")


def _string(item: dict[str, Any], name: str, where: str) -> str:
    value = item.get(name)
    if not isinstance(value, str):
        raise invalid(f"{where}/{name}: a string is expected.")
    return value


def _texts(parts: object) -> list[str]:
    found = parts if isinstance(parts, list) else []
    return [part["text"] for part in found if isinstance(part, dict) and isinstance(part.get("text"), str)]


def _content(content: object, where: str) -> Iterator[Part]:
    if isinstance(content, str):
        yield Text(content)
        return
    if not isinstance(content, list):
        raise invalid(f"{where}: a string or an array of content parts is expected.")
    for number, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in _TEXTS:
            yield Text(_string(part, "text", f"{where}/{number}"))
        elif kind == "input_image":
            yield media.from_url(
                "image", _string(part, "image_url", f"{where}/{number}"), f"{where}/{number}/image_url"
            )
        else:
            raise invalid(f"{where}/{number}/type: the part type is not supported.")


def _tools(declared: object) -> Iterator[Tool]:
    """The functions; tools of other types are not documented and left alone."""
    for index, tool in enumerate(declared if isinstance(declared, list) else ()):
        where = f"/tools/{index}"
        if not isinstance(tool, dict):
            raise invalid(f"{where}: an object is expected.")
        if tool.get("type") != "function":
            continue
        parameters = tool.get("parameters")
        if not isinstance(parameters, dict | None):
            raise invalid(f"{where}/parameters: an object is expected.")
        yield Tool(
            name=_string(tool, "name", where),
            description=tool["description"] if isinstance(tool.get("description"), str) else "",
            parameters=usable(parameters or {}, f"{where}/parameters"),
        )


def _choice(body: dict[str, Any], tools: tuple[Tool, ...]) -> Choice:
    choice = body.get("tool_choice") or "auto"
    parallel = body.get("parallel_tool_calls") is not False
    names = {tool.name for tool in tools}
    if isinstance(choice, dict) and choice.get("type") == "function":
        if choice.get("name") not in names:
            raise invalid("/tool_choice/name: no such function is declared in tools.")
        return Choice(mode="named", name=choice["name"], parallel=parallel)
    if choice == "none":
        return Choice(mode="none")
    if choice == "required":
        if not tools:
            raise invalid("/tool_choice: required needs at least one function.")
        return Choice(mode="required", parallel=parallel)
    if choice != "auto":
        raise invalid("/tool_choice: auto, none, required or a function is expected.")
    return Choice(parallel=parallel)


def _format(text: object) -> Format | None:
    form = text.get("format") if isinstance(text, dict) else None
    kind = form.get("type") if isinstance(form, dict) else None
    if kind == "json_object":
        return Format(schema=JSON_OBJECT)
    if not isinstance(form, dict) or kind != "json_schema":
        return None
    schema = form.get("schema")
    if not isinstance(schema, dict):
        raise invalid("/text/format/schema: an object is expected.")
    return Format(schema=usable(schema, "/text/format/schema"))
