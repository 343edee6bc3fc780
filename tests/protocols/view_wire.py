"""Exchanges of the three surfaces, modelled on the documented examples: one answer as JSON and as the stream of it."""

from __future__ import annotations

import json
from typing import Any

from conformance.protocols import BUILDERS, Answer, read
from conformance.values import Chunk, Exchange, Failure, Protocol, Request, Response

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES
JSON = "application/json"
SSE = "text/event-stream"


def exchange(
    protocol: Protocol,
    body: Any = b"",
    *,
    status: int = 200,
    media_type: str | None = JSON,
    asked: Any = None,
    failure: Failure | None = None,
    size: int | None = None,
) -> Exchange:
    """An exchange with this response body: bytes as they are, anything else as JSON; ``size`` cuts it into chunks."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    step = size or max(len(raw), 1)
    chunks = tuple(Chunk(ms=float(at), data=raw[at : at + step]) for at in range(0, len(raw), step))
    sent = asked if isinstance(asked, bytes) else json.dumps(asked or {"model": "kimi-k3.1-pro"}).encode()
    return Exchange(
        id="x",
        protocol=protocol,
        model="kimi-k3.1-pro",
        request=Request(method="POST", url=f"http://127.0.0.1:1{BUILDERS[protocol].path}", body=sent),
        response=Response(status=status, headers=(("Content-Type", media_type),) if media_type else (), chunks=chunks),
        failure=failure,
    )


def answer(protocol: Protocol, body: Any, **more: Any) -> Answer:
    return read(exchange(protocol, body, **more))


def streamed(protocol: Protocol, events: list[Any], **more: Any) -> Answer:
    return read(exchange(protocol, stream(protocol, events), media_type=SSE, **more))


def stream(protocol: Protocol, events: list[Any]) -> bytes:
    """Events as bytes: named by their type on messages and responses; a string is sent as it is."""
    lines = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        if protocol is not CHAT and isinstance(event, dict) and "type" in event:
            lines.append(f"event: {event['type']}\n")
        lines.append(f"data: {data}\n\n")
    return "".join(lines).encode()


def pieces(text: str, size: int = 3) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def chat_events(body: dict[str, Any]) -> list[Any]:
    """The stream that says what a chat.completion body says."""
    head = {key: body[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    deltas: list[tuple[int, dict[str, Any], Any]] = []
    for choice in body["choices"]:
        index, message = choice["index"], choice["message"]
        deltas.append((index, {"role": message["role"], "content": None}, None))
        for key in ("reasoning_content", "content"):
            deltas += [(index, {key: piece}, None) for piece in pieces(message.get(key) or "")]
        for place, call in enumerate(message.get("tool_calls", ())):
            function = call["function"]
            start = {**call, "index": place, "function": {"name": function["name"], "arguments": ""}}
            deltas.append((index, {"tool_calls": [start]}, None))
            deltas += [
                (index, {"tool_calls": [{"index": place, "function": {"arguments": piece}}]}, None)
                for piece in pieces(function["arguments"])
            ]
        deltas.append((index, {}, choice["finish_reason"]))
    chunks: list[Any] = [
        {**head, "choices": [{"index": index, "delta": delta, "finish_reason": finish}], "usage": None}
        for index, delta, finish in deltas
    ]
    return [*chunks, {**head, "choices": [], "usage": body["usage"]}, "[DONE]"]


def messages_events(body: dict[str, Any]) -> list[Any]:
    """The stream that says what a message body says."""
    usage = {**body["usage"], "output_tokens": 1}
    start = {**body, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[Any] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(body["content"]):
        kind = block["type"]
        deltas: list[dict[str, Any]] = []
        opened = dict(block)
        if kind == "text":
            opened["text"] = ""
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        elif kind == "thinking":
            opened |= {"thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif kind in ("tool_use", "server_tool_use"):
            opened["input"] = {}
            text = json.dumps(block["input"]) if block["input"] else ""
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(text)]]
        events.append({"type": "content_block_start", "index": index, "content_block": opened})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": body["stop_reason"], "stop_sequence": body["stop_sequence"]}
    counts = {"output_tokens": body["usage"]["output_tokens"]}
    return [*events, {"type": "message_delta", "delta": end, "usage": counts}, {"type": "message_stop"}]


def responses_events(body: dict[str, Any]) -> list[Any]:
    """The stream that says what a response body says."""
    begun = {**body, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(body["output"]):
        at = {"output_index": index, "item_id": item["id"]}
        empty = {key: [] if key in ("content", "summary") else value for key, value in item.items()}
        if "arguments" in item:
            empty["arguments"] = ""
        events.append({"type": "response.output_item.added", "output_index": index, "item": empty})
        for place, part in enumerate(item.get("content", ())):
            events += [
                {"type": "response.output_text.delta", **at, "content_index": place, "delta": piece}
                for piece in pieces(part["text"])
            ]
        for place, part in enumerate(item.get("summary", ())):
            events += [
                {"type": "response.reasoning_summary_text.delta", **at, "summary_index": place, "delta": piece}
                for piece in pieces(part["text"])
            ]
        events += [
            {"type": "response.function_call_arguments.delta", **at, "delta": piece}
            for piece in pieces(item.get("arguments", ""))
        ]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": f"response.{body['status']}", "response": body})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


EVENTS = {CHAT: chat_events, MESSAGES: messages_events, RESPONSES: responses_events}

CHAT_USAGE = {
    "prompt_tokens": 24,
    "completion_tokens": 96,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 62},
}
MESSAGES_USAGE = {
    "input_tokens": 12,
    "cache_creation_input_tokens": 4,
    "cache_read_input_tokens": 8,
    "output_tokens": 96,
    "output_tokens_details": {"thinking_tokens": 62},
    "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 0},
    "server_tool_use": {"web_search_requests": 1},
}
RESPONSES_USAGE = {
    "input_tokens": 24,
    "input_tokens_details": {"cached_tokens": 8},
    "output_tokens": 96,
    "output_tokens_details": {"reasoning_tokens": 62},
    "total_tokens": 120,
}


def chat_body(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1792832171,
        "model": "kimi-k3.1-pro",
        "choices": [choice],
        "usage": CHAT_USAGE,
    }


def messages_body(content: list[dict[str, Any]], stop: str = "end_turn") -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "kimi-k3.1-pro",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": MESSAGES_USAGE,
    }


def responses_body(output: list[dict[str, Any]], status: str = "completed", **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1792832171,
        "status": status,
        "model": "kimi-k3.1-pro",
        "output": output,
        "usage": RESPONSES_USAGE,
        **more,
    }


def called(name: str, arguments: str, call: str = "call_0") -> dict[str, Any]:
    """A chat tool call."""
    return {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}


THINKING = {"type": "thinking", "thinking": "Let me see.", "signature": "sig=="}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Let me see."}],
    "status": "completed",
}


def said(text: str, item: str = "msg_1") -> dict[str, Any]:
    """A responses message item."""
    part = {"type": "output_text", "text": text}
    return {"type": "message", "id": item, "role": "assistant", "content": [part], "status": "completed"}


TEXT = "Grüße 世界 🚀!"
ARGUMENTS = '{"city": "北京", "days": 2}'
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": json.loads(ARGUMENTS)}
FUNCTION_CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "weather",
    "arguments": ARGUMENTS,
    "status": "completed",
}

BODIES: dict[str, tuple[Protocol, dict[str, Any]]] = {
    "chat text": (CHAT, chat_body({"content": TEXT, "reasoning_content": "Let me see."})),
    "chat calls": (
        CHAT,
        chat_body(
            {
                "content": None,
                "reasoning_content": "Let me see.",
                "tool_calls": [called("weather", ARGUMENTS, "call_0"), called("clock", "{}", "call_1")],
            },
            "tool_calls",
        ),
    ),
    "chat search": (
        CHAT,
        chat_body(
            {
                "content": "",
                "tool_calls": [
                    {
                        "id": "t0",
                        "type": "builtin_function",
                        "function": {"name": "$web_search", "arguments": '{"q":1}'},
                    }
                ],
            },
            "tool_calls",
        ),
    ),
    "chat cut off": (CHAT, chat_body({"content": "One two", "reasoning_content": "Hm"}, "length")),
    "messages text": (MESSAGES, messages_body([THINKING, {"type": "text", "text": TEXT}])),
    "messages calls": (
        MESSAGES,
        messages_body(
            [THINKING, TOOL_USE, {"type": "tool_use", "id": "toolu_2", "name": "clock", "input": {}}], "tool_use"
        ),
    ),
    "messages search": (
        MESSAGES,
        messages_body(
            [
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "kimi"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": [{"type": "web_search_result", "url": "https://example.com", "title": "Kimi"}],
                },
                {"type": "text", "text": "Found."},
            ]
        ),
    ),
    "messages cut off": (MESSAGES, messages_body([THINKING], "max_tokens")),
    "messages refused": (MESSAGES, messages_body([], "refusal")),
    "responses text": (RESPONSES, responses_body([REASONING, said(TEXT)])),
    "responses calls": (RESPONSES, responses_body([REASONING, FUNCTION_CALL])),
    "responses cut off": (
        RESPONSES,
        responses_body([REASONING], "incomplete", incomplete_details={"reason": "max_output_tokens"}),
    ),
    "responses failed": (
        RESPONSES,
        responses_body([], "failed", error={"code": "server_error", "message": "Sorry."}),
    ),
}
