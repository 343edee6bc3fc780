"""The documents' own examples, and each of their other documented forms, sent to every model that they cover."""

from __future__ import annotations

import json
from typing import Any

from conformance import specs
from conformance.probes.cell import CEILING, Cell
from conformance.probes.media import data_url, image_block
from conformance.probes.script import Script
from conformance.probes.tools import GET_WEATHER
from conformance.values import Intent, Protocol

BROKEN_JPEG = "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAA..."  # the example's image is cut off


def examples(cell: Cell) -> Script:
    """Every documented example, for this model, without what is withheld from kimi-k3.

    Each is also streamed, but for the one that searches the web, since a search costs.
    """
    seen: list[str] = []
    for example in specs.documented_examples(cell.protocol).values():
        text = json.dumps(example).replace(BROKEN_JPEG, data_url("square.jpg"))
        body = _fitted(cell, {**json.loads(text), "model": cell.model})
        key = json.dumps(body, sort_keys=True)
        if key not in seen:
            seen.append(key)
            yield cell.ask(body, Intent.VALID)
            if "stream" not in body and "web_search" not in key:
                yield cell.ask({**body, "stream": True}, Intent.VALID, ceiling=CEILING)


def forms(cell: Cell) -> Script:
    """A documented example with one field in its other documented form, in both modes."""
    for body in _forms(cell):
        for mode in cell.both(body):
            yield cell.ask(mode, Intent.VALID)


def _fitted(cell: Cell, body: dict[str, Any]) -> dict[str, Any]:
    if cell.k31:
        return body
    kept = {key: value for key, value in body.items() if key not in ("prompt_cache_options", "cache_control")}
    if kept.get("reasoning_effort") != "max":
        kept.pop("reasoning_effort", None)
    kept.pop("output_config", None)
    return kept


def _forms(cell: Cell) -> list[dict[str, Any]]:
    user = "Reply with OK."
    if cell.protocol is Protocol.RESPONSES:
        base = cell.body(user)
        return [base, {**base, "input": [{"role": "user", "content": user}]}]
    block = {"type": "text", "text": user}
    found = [cell.body(user), cell.body(messages=[{"role": "user", "content": [block]}])]
    tools = [GET_WEATHER.on(cell)]
    found += [cell.body(messages=[*_called(cell), result], tools=tools) for result in _results(cell)]
    if cell.protocol is Protocol.MESSAGES:
        found.append(cell.body(user, system="Be brief."))
        found.append(cell.body(user, system=[{"type": "text", "text": "Be brief."}]))
    return found


def _called(cell: Cell) -> list[dict[str, Any]]:
    """A user's question and the call that answers it."""
    user = {"role": "user", "content": "Check today's weather in Beijing."}
    if cell.protocol is Protocol.MESSAGES:
        use = {"type": "tool_use", "id": "toolu_form_1", "name": "get_weather", "input": {"city": "Beijing"}}
        return [user, {"role": "assistant", "content": [use]}]
    call = {
        "id": "call_form_1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city":"Beijing"}'},
    }
    return [user, {"role": "assistant", "content": None, "tool_calls": [call]}]


def _results(cell: Cell) -> list[dict[str, Any]]:
    """The result in each documented form."""
    text = "17 degrees"
    block = {"type": "text", "text": text}
    if cell.protocol is Protocol.CHAT:
        return [{"role": "tool", "tool_call_id": "call_form_1", "content": content} for content in (text, [block])]
    result = {"type": "tool_result", "tool_use_id": "toolu_form_1"}
    forms: list[dict[str, Any]] = [
        {**result, "content": text},
        {**result, "content": [block]},
        {**result, "content": [block, image_block(cell, "square.png")]},
        {**result, "content": "The city is unknown.", "is_error": True},
    ]
    return [{"role": "user", "content": [form]} for form in forms]
