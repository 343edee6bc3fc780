"""Valid requests that make sense, which between them hold every field, block and item that the schemas know.

Each asks for little and has a small limit. Those of which the documents leave a doubt (a history that no model said, an
image that must be fetched, forms that the Responses page does not show) are not vouched for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.generators import Base
from conformance.probes.cell import Cell
from conformance.probes.formats import RESULT, RESULT_SCHEMA
from conformance.probes.media import base64_of, data_url, image_block
from conformance.probes.tools import ASK_WEATHER, GET_WEATHER, Function
from conformance.values import Protocol

LIMIT = 16  # tokens: an answer that is cut off proves that the request was accepted
MOST_TOOLS = 128  # of chat
USER = "Reply with OK."
CITY = {"city": "Beijing"}
ARGUMENTS = '{"city":"Beijing"}'
RESULT_TEXT = "17 degrees and sunny"
IMAGE_URL = "https://www.w3.org/Icons/w3c_home.png"


def bases(cell: Cell) -> tuple[Base, ...]:
    """The valid requests of a cell, the plainest first."""
    return tuple(_MAKERS[cell.protocol](cell))


def withheld(cell: Cell) -> tuple[dict[str, Any], ...]:
    """Requests that hold what the model does not support, one thing each, and are valid for other models."""
    row, found = cell.row, list[dict[str, Any]]()
    if cell.protocol is Protocol.CHAT and not row.cache_ttl:
        found.append(_ask(cell, prompt_cache_options={"mode": "implicit", "ttl": "1h"}))
    if cell.protocol is Protocol.MESSAGES and not row.cache_ttl:
        found.append(_ask(cell, cache_control={"type": "ephemeral", "ttl": "1h"}))
    if cell.protocol is Protocol.MESSAGES and cell.protocol not in row.structured_output:
        found.append(_ask(cell, RESULT, output_config={"format": {"type": "json_schema", "schema": RESULT_SCHEMA}}))
    return tuple(found)


def _ask(cell: Cell, user: object = USER, **rest: Any) -> dict[str, Any]:
    return cell.body(user, **{"limit": LIMIT, **rest})


def _said(cell: Cell, *messages: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return cell.body(messages=messages, **{"limit": LIMIT, **rest})


def _user(content: object = USER) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _text(text: str = USER) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _chat(cell: Cell) -> Iterator[Base]:
    effort: dict[str, Any] = {} if cell.k31 else {"reasoning_effort": "max"}
    yield Base(body=_ask(cell, stream=False, **effort))
    yield Base(body=_ask(cell, system="Be brief."))
    yield Base(body=_said(cell, _user([_text()])))
    yield Base(body=_ask(cell, limit=None, max_tokens=LIMIT))
    yield Base(body=_ask(cell, temperature=1), sure=cell.k31)
    yield Base(body=_ask(cell, top_p=0.95), sure=cell.k31)
    if cell.row.cache_ttl:
        yield Base(body=_ask(cell, prompt_cache_options={"mode": "implicit", "ttl": "5m"}))
    weather = GET_WEATHER.on(cell, strict=False)
    yield Base(body=_ask(cell, ASK_WEATHER, tools=[weather, cell.builder.search()], choice="auto"))
    yield Base(body=_ask(cell, ASK_WEATHER, tools=[weather], choice=cell.builder.choice("named", "get_weather")))
    for form in (
        {"type": "text"},
        {"type": "json_object"},
        {"type": "json_schema", "json_schema": {"name": "result", "schema": RESULT_SCHEMA, "strict": True}},
    ):
        yield Base(body=_ask(cell, RESULT, response_format=form))
    question = _text("What is shown? Answer in a few words.")
    for part in (
        image_block(cell, "square.png"),
        {"type": "image_url", "image_url": data_url("square.png")},
        {"type": "video_url", "video_url": {"url": data_url("square.mp4")}},
        {"type": "video_url", "video_url": data_url("square.mp4")},
    ):
        yield Base(body=_said(cell, _user([part, question])))
    function = {"name": "get_weather", "arguments": ARGUMENTS}
    for extra, kind, sure in (
        ({}, function, True),
        ({"reasoning_content": "The weather tool knows."}, function, False),
        ({}, {"name": "$web_search", "arguments": '{"query":"weather in Beijing"}'}, False),
    ):
        yield Base(body=_chat_history(cell, kind, weather, **extra), sure=sure)
    yield Base(body=_ask(cell, tools=[_numbered(cell, number) for number in range(MOST_TOOLS)]))


def _chat_history(cell: Cell, function: dict[str, Any], weather: dict[str, Any], **extra: Any) -> dict[str, Any]:
    searches = function["name"].startswith("$")
    call = {"id": "call_1", "type": "builtin_function" if searches else "function", "function": function}
    result = function["arguments"] if searches else RESULT_TEXT
    return _said(
        cell,
        _user(ASK_WEATHER),
        {"role": "assistant", "content": None, **extra, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
        tools=[cell.builder.search() if searches else weather],
    )


def _numbered(cell: Cell, number: int) -> dict[str, Any]:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    return Function(name=f"tool_{number:03}", description=f"Tool number {number}", schema=schema).on(cell)


def _messages(cell: Cell) -> Iterator[Base]:
    effort: dict[str, Any] = {} if cell.k31 else {"output_config": {"effort": "max"}}
    yield Base(body=_ask(cell, stream=False, **effort))
    yield Base(body=_ask(cell, system="Be brief."))
    yield Base(body=_ask(cell, system=[_text("Be brief.")]))
    yield Base(body=_said(cell, _user([_text()])))
    yield Base(body=_ask(cell, temperature=1), sure=cell.k31)
    yield Base(body=_ask(cell, top_p=0.95), sure=cell.k31)
    yield Base(body=_ask(cell, stop_sequences=["STOP"] if cell.row.stop_sequences else []), sure=cell.k31)
    if cell.row.cache_ttl:
        yield Base(body=_ask(cell, cache_control={"type": "ephemeral", "ttl": "5m"}))
    if cell.protocol in cell.row.structured_output:
        yield Base(body=_ask(cell, RESULT, output_config={"format": {"type": "json_schema", "schema": RESULT_SCHEMA}}))
    weather = GET_WEATHER.on(cell)
    offered = [weather, cell.builder.search(1)]
    yield Base(body=_ask(cell, ASK_WEATHER, tools=offered, choice=cell.builder.choice("auto")))
    question = _text("What is shown? Answer in a few words.")
    for name in ("square.png", "square.jpg", "square.gif", "square.webp"):
        yield Base(body=_said(cell, _user([image_block(cell, name), question])))
    linked = {"type": "image", "source": {"type": "url", "url": IMAGE_URL}}
    yield Base(body=_said(cell, _user([linked, question])), sure=False)
    use = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": CITY}
    source = {"type": "base64", "media_type": "image/png", "data": base64_of("square.png")}
    shown = [_text(RESULT_TEXT), {"type": "image", "source": source}]
    for content in (RESULT_TEXT, [_text(RESULT_TEXT)], shown):
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": content, "is_error": False}
        asked = (_user(ASK_WEATHER), {"role": "assistant", "content": [use]}, _user([result]))
        yield Base(body=_said(cell, *asked, tools=[weather]))
    yield from _messages_histories(cell)


def _messages_histories(cell: Cell) -> Iterator[Base]:
    """Turns of an assistant that no model said."""
    thought = {"type": "thinking", "thinking": "The user wants OK.", "signature": "c2lnbmF0dXJl"}
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Kimi homepage"}}
    page = {
        "type": "web_search_result",
        "url": "https://www.kimi.com",
        "title": "Kimi",
        "encrypted_content": "a2ltaQ==",
    }
    failed = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    turns: list[list[dict[str, Any]]] = [[thought, _text("OK.")]]
    for content in ([page], failed):
        found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": content}
        turns.append([search, found, _text("It is kimi.com.")])
    for turn in turns:
        body = _said(cell, _user(), {"role": "assistant", "content": turn}, _user(), tools=[cell.builder.search(1)])
        yield Base(body=body, sure=False)


def _responses(cell: Cell) -> Iterator[Base]:
    effort: dict[str, Any] = {} if cell.k31 else {"reasoning": {"effort": "max"}}
    yield Base(body=_ask(cell, stream=False, **effort))
    yield Base(body=_said(cell, _user()))
    unsure = [
        _said(cell, {"type": "message", "role": "user", "content": [{"type": "input_text", "text": USER}]}),
        *_responses_histories(cell),
        _ask(cell, ASK_WEATHER, tools=[GET_WEATHER.on(cell, strict=True), cell.builder.search()], choice="auto"),
        _ask(cell, ASK_WEATHER, tools=[GET_WEATHER.on(cell)], choice=cell.builder.choice("named", "get_weather")),
        _ask(cell, tools=None, tool_choice=None),
    ]
    schema = {"type": "json_schema", "name": "result", "strict": True, "schema": RESULT_SCHEMA}
    unsure += [_ask(cell, RESULT, text={"format": form}) for form in (schema, {"type": "json_object"})]
    for body in unsure:
        yield Base(body=body, sure=False)


def _responses_histories(cell: Cell) -> Iterator[dict[str, Any]]:
    call = {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": ARGUMENTS}
    for output, said in (
        (RESULT_TEXT, call),
        ([{"type": "input_text", "text": RESULT_TEXT}], {**call, "content": None}),
    ):
        result = {"type": "function_call_output", "call_id": "call_1", "output": output}
        yield _said(cell, _user(ASK_WEATHER), said, result, tools=[GET_WEATHER.on(cell)])


_MAKERS = {Protocol.CHAT: _chat, Protocol.MESSAGES: _messages, Protocol.RESPONSES: _responses}
