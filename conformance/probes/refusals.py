"""Requests that must be refused: one broken constraint each, malformed bodies, wrong credentials, wrong methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.probes.cell import Cell, encode
from conformance.probes.script import Credentials, Script
from conformance.probes.tools import GET_WEATHER
from conformance.values import Intent, Protocol

Change = tuple[str, Any]  # a top-level field and its new value
REMOVED: Any = object()
LIMIT_NAMES = {
    Protocol.CHAT: "max_completion_tokens",
    Protocol.MESSAGES: "max_tokens",
    Protocol.RESPONSES: "max_output_tokens",
}


def broken_constraints(cell: Cell) -> Script:
    """One request for each constraint of the request schema, with nothing but that constraint broken."""
    base = cell.body("Reply with OK.", limit=1024)
    for name, value in changes(cell):
        body = {key: item for key, item in base.items() if key != name}
        if value is not REMOVED:
            body[name] = value
        yield cell.challenge(body)


def in_both_modes(cell: Cell) -> Script:
    """Invalid requests, whole and streamed: the refusal must come before a stream begins."""
    for name, value in ((LIMIT_NAMES[cell.protocol], 0), (_history_name(cell), 5)):
        for body in cell.both({**cell.body("Reply with OK."), name: value}):
            yield cell.challenge(body)


def unknown_model(cell: Cell) -> Script:
    """Model ids that are near one of the three, in both modes, and none of the right type."""
    body = cell.body("Reply with OK.", limit=1024)
    for model in (cell.model + "-ultra", "KIMI-K3.1-PRO", "gpt-4o", "", 31):
        for mode in cell.both({**body, "model": model}):
            yield cell.challenge(mode)


def malformed(cell: Cell) -> Script:
    """Bodies that are not one JSON object."""
    whole = encode(cell.body("Reply with OK.", limit=1024))
    for body in (
        b"",
        whole[: len(whole) // 2],
        whole[:-1],
        whole + b"}",
        b"[" + whole + b"]",
        b'"Reply with OK."',
        b"null",
        b"model=kimi-k3&input=OK",
        whole.replace(b"OK", b"\xff\xfe"),
        whole.replace(b'"', b"'"),
    ):
        yield cell.challenge(body)


def credentials(cell: Cell) -> Script:
    """No key, and a key that cannot be valid, in both modes."""
    for body in cell.both(cell.body("Reply with OK.", limit=1024)):
        yield cell.challenge(body, credentials=Credentials.NONE)
        yield cell.challenge(body, Intent.INVALID_KEY, credentials=Credentials.INVALID)


def other_schemes(cell: Cell) -> Script:
    """The key under other schemes and in another header, in both modes; and an invalid key with an invalid body."""
    for way in (Credentials.BASIC, Credentials.BARE, Credentials.X_API_KEY):
        for body in cell.both(cell.body("Reply with OK.", limit=1024)):
            yield cell.challenge(body, credentials=way)
    yield cell.challenge(b"{", Intent.INVALID_KEY, credentials=Credentials.INVALID)


def methods(cell: Cell) -> Script:
    """GET on the endpoint."""
    yield cell.challenge(b"", method="GET")


def system_role(cell: Cell) -> Script:
    """A system message among messages, where only user and assistant may speak."""
    if cell.protocol is Protocol.MESSAGES:
        turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Reply with OK."}]
        for body in cell.both(cell.body(messages=turns)):
            yield cell.challenge(body)


def changes(cell: Cell) -> Iterator[Change]:
    """Each broken constraint as one field and its value."""
    limit = LIMIT_NAMES[cell.protocol]
    for value in (0, -1, 1_048_577, "1024", 1.5, True, [1024], None):
        yield limit, value
    for stream in ("true", 1):
        yield "stream", stream
    yield from _histories(cell)
    if cell.protocol is Protocol.CHAT:
        yield from _chat_changes(cell)
    elif cell.protocol is Protocol.MESSAGES:
        yield limit, REMOVED
        yield from _messages_changes(cell)
    else:
        yield "model", REMOVED
        yield "reasoning", "low"


def _history_name(cell: Cell) -> str:
    return "input" if cell.protocol is Protocol.RESPONSES else "messages"


def _histories(cell: Cell) -> Iterator[Change]:
    name = _history_name(cell)
    for value in (REMOVED, 5, {"role": "user", "content": "Reply with OK."}):
        yield name, value
    if cell.protocol is Protocol.RESPONSES:
        return
    user: Mapping[str, Any] = {"role": "user", "content": "Reply with OK."}
    wrong: tuple[object, ...] = (
        "Reply with OK.",
        [],
        ["Reply with OK."],
        [{"content": "Reply with OK."}],
        [{**user, "role": "robot"}],
        [{**user, "role": 1}],
        [{**user, "content": 5}],
        [{**user, "content": {"type": "text", "text": "OK"}}],
        [{**user, "content": ["OK"]}],
        [{**user, "content": [{"type": "text"}]}],
        [{**user, "content": [{"type": "text", "text": 5}]}],
        [{**user, "content": [{"text": "OK"}]}],
        [{**user, "content": [{"type": "audio", "audio": "OK"}]}],
    )
    for value in wrong:
        yield name, value


def _chat_changes(cell: Cell) -> Iterator[Change]:
    tool = GET_WEATHER.on(cell)
    function = tool["function"]
    for tools in (
        tool,
        ["get_weather"],
        [{**tool, "type": "plugin"}],
        [{"type": "function"}],
        [{"type": "function", "function": {key: item for key, item in function.items() if key != "name"}}],
        [{"type": "function", "function": {key: item for key, item in function.items() if key != "parameters"}}],
        [{"type": "function", "function": {**function, "parameters": "city"}}],
        [{"type": "function", "function": {**function, "strict": "yes"}}],
        [{**tool, "function": {**function, "name": f"tool_{number}"}} for number in range(129)],
    ):
        yield "tools", tools
    for choice in ("sometimes", 5, {"type": "function"}, {"type": "function", "function": {}}):
        yield "tool_choice", choice
    for effort in ("extreme", 5):
        yield "reasoning_effort", effort
    for options in ("1h", {"mode": "explicit"}, {"ttl": "2h"}, {"ttl": 3600}):
        yield "prompt_cache_options", options
    schema = {"type": "object"}
    for form in (
        "json_object",
        {"type": "xml"},
        {"type": "json_schema", "json_schema": "result"},
        {"type": "json_schema", "json_schema": {"schema": schema}},
        {"type": "json_schema", "json_schema": {"name": "result"}},
        {"type": "json_schema", "json_schema": {"name": "result", "schema": "object"}},
        {"type": "json_schema", "json_schema": {"name": "result", "schema": schema, "strict": "yes"}},
    ):
        yield "response_format", form
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Rome"}'}}
    wrong: tuple[object, ...] = (
        {},
        [{**call, "id": 1}],
        [{**call, "type": "plugin"}],
        [{"id": "call_1", "type": "function"}],
    )
    for calls in wrong:
        history = [
            {"role": "user", "content": "Call get_weather for Rome."},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "call_1", "content": "17 degrees"},
        ]
        yield "messages", history
    for part in ({"type": "image_url"}, {"type": "image_url", "image_url": 5}, {"type": "image_url", "image_url": {}}):
        yield "messages", [{"role": "user", "content": [part]}]


def _messages_changes(cell: Cell) -> Iterator[Change]:
    for system in (5, {"type": "text", "text": "Be brief."}, [{"type": "image"}], [{"type": "text"}]):
        yield "system", system
    tool = GET_WEATHER.on(cell)
    for tools in (
        tool,
        ["get_weather"],
        [{key: item for key, item in tool.items() if key != "name"}],
        [{key: item for key, item in tool.items() if key != "input_schema"}],
        [{**tool, "input_schema": "city"}],
        [{"type": "web_search_20250305", "name": "web_search", "max_uses": 0}],
        [{"type": "web_search_20250305", "name": "web_search", "max_uses": "1"}],
    ):
        yield "tools", tools
    for choice in ("auto", {}, {"type": "sometimes"}):
        yield "tool_choice", choice
    for config in ("low", {"effort": "extreme"}, {"effort": 5}):
        yield "output_config", config
    schema = {"type": "object"}
    for form in (
        "json_schema",
        {"type": "json_object", "schema": schema},
        {"type": "json_schema"},
        {"schema": schema},
        {"type": "json_schema", "schema": "object"},
    ):
        yield "output_config", {"format": form}
    for control in ("ephemeral", {}, {"ttl": "5m"}, {"type": "persistent"}, {"type": "ephemeral", "ttl": "2h"}):
        yield "cache_control", control
    for stops in ("STOP", [5]):
        yield "stop_sequences", stops
    for block in (
        {"type": "image"},
        {"type": "image", "source": {"media_type": "image/png", "data": "iVBORw0KGgo="}},
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": "Qk0="}},
        {"type": "tool_result", "content": "17 degrees"},
    ):
        yield "messages", [{"role": "user", "content": [block]}]
