"""Reads an exchange: what kind of answer it is, its JSON or its events, and what the body says."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from conformance import sse
from conformance.protocols import (
    chat_answer,
    chat_stream,
    messages_answer,
    messages_stream,
    plain_stream,
    responses_answer,
    responses_stream,
)
from conformance.protocols.asking import ask
from conformance.protocols.chat_stream import DONE
from conformance.protocols.content import Content, Folded
from conformance.protocols.errors import body_error, stream_error
from conformance.protocols.fields import Notes
from conformance.protocols.json_text import MAX_BODY, MAX_DUPLICATES, JsonText, read_bytes, read_text
from conformance.protocols.memory import Memory
from conformance.protocols.view import MISSING, Answer, Error, Kind
from conformance.values import Chunk, Exchange, Protocol

_FOLDS = {
    Protocol.CHAT: chat_stream.fold,
    Protocol.MESSAGES: messages_stream.fold,
    Protocol.RESPONSES: responses_stream.fold,
}
_CONTENTS = {
    Protocol.CHAT: chat_answer.content,
    Protocol.MESSAGES: messages_answer.content,
    Protocol.RESPONSES: responses_answer.content,
}
_BLANK = b" \t\r\n"
_SSE = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*+(?:data|event|id|retry)?:")
_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+[\[{]")
_JSON_LINES = re.compile(rb"(?:\xef\xbb\xbf)?\s*+\{[^\r\n]*\}[ \t]*[\r\n]\s*+[^\s,\]}]")  # events without "data:"
_MEMORY: Memory[Answer] = Memory(size=256, weight=16 * 2**20, weigh=lambda answer: len(answer.raw))


@dataclass(frozen=True, kw_only=True)
class _Streamed:
    """A stream read whole: its framing, and the JSON of its events."""

    stream: sse.Stream
    payloads: tuple[object, ...]
    duplicates: tuple[str, ...]


def read(exchange: Exchange) -> Answer:
    """The view of an exchange, read once for each exchange object. Never raises on what came from the wire."""
    return _MEMORY.recall(id(exchange), exchange, lambda: _read(exchange))


def _read(exchange: Exchange) -> Answer:
    notes = Notes()
    response = exchange.response
    raw = b"".join(chunk.data for chunk in response.chunks) if response else b""
    headers = response.headers if response else ()
    status = response.status if response else None
    media_type = _media_type(headers)
    kind = _kind(raw, media_type, status)
    text = JsonText()
    if kind is Kind.JSON:
        text = read_bytes(raw)
    elif kind is Kind.EMPTY:
        text = JsonText(error="the body is empty")
    streamed = _stream(exchange, len(raw), notes) if kind is Kind.STREAM else None
    body: dict[str, Any] | None = None
    error: Error | None = None
    folded: Folded | None = None
    if streamed is not None:
        events = streamed.stream.events
        error = stream_error(events, streamed.payloads, exchange.protocol)
        folded = _FOLDS[exchange.protocol](events, streamed.payloads, notes)
        body = folded.body if status == 200 else None
    elif text.value is not MISSING:
        error = body_error(text.value, exchange.protocol, status)
        body = text.value if status == 200 and isinstance(text.value, dict) else None
    content = _CONTENTS[exchange.protocol](body, folded, notes) if body is not None else Content()
    return Answer(
        exchange=exchange,
        asked=ask(exchange.protocol, exchange.request),
        protocol=exchange.protocol,
        model=exchange.model,
        status=status,
        headers=headers,
        media_type=media_type,
        kind=kind,
        raw=raw,
        broken=exchange.failure.kind if exchange.failure else _unread(len(raw), streamed),
        value=text.value,
        json_error=text.error,
        duplicate_keys=streamed.duplicates if streamed else text.duplicates,
        stream=streamed.stream if streamed else None,
        events=streamed.stream.events if streamed else (),
        payloads=streamed.payloads if streamed else (),
        body=body,
        error=error,
        complete=folded.complete if folded else text.value is not MISSING,
        **vars(content),
        notes=notes.all(),
    )


def _unread(size: int, streamed: _Streamed | None) -> str | None:
    """``cut`` where the reader left a part of the answer out: what is missing is not the server's fault."""
    if streamed is None:
        return "cut" if size > MAX_BODY else None
    left_out = any(problem.kind is sse.Fault.TOO_LARGE for problem in streamed.stream.problems)
    return "cut" if size > MAX_BODY or streamed.stream.dropped or left_out else None


def _media_type(headers: tuple[tuple[str, str], ...]) -> str | None:
    value = next((value for name, value in headers if name.lower() == "content-type"), None)
    return None if value is None else value.split(";", 1)[0].strip().lower()


def _kind(raw: bytes, media_type: str | None, status: int | None) -> Kind:
    if status is None:
        return Kind.NONE
    blank = not raw.strip(_BLANK)
    if _SSE.match(raw) or (blank and status == 200 and media_type == "text/event-stream"):
        return Kind.STREAM
    if blank:
        return Kind.EMPTY
    meant_to_stream = status == 200 and media_type == "text/event-stream"
    if _JSON_START.match(raw) and not (meant_to_stream and _JSON_LINES.match(raw)):
        return Kind.JSON
    if meant_to_stream:
        return Kind.STREAM
    is_json = media_type is not None and (media_type == "application/json" or media_type.endswith("+json"))
    return Kind.JSON if is_json else Kind.TEXT


def _stream(exchange: Exchange, size: int, notes: Notes) -> _Streamed:
    chunks = exchange.response.chunks if exchange.response else ()
    if size > MAX_BODY:
        notes.add("", f"only the first {MAX_BODY} bytes of the stream are read")
        chunks = _first(chunks)
    stream = plain_stream.read(chunks) or sse.parse(chunks)
    if size > MAX_BODY:  # the end that is missing is ours
        problems = tuple(problem for problem in stream.problems if problem.kind is not sse.Fault.LOST_AT_END)
        stream = replace(stream, pending=None, problems=problems)
    payloads: list[object] = []
    duplicates: list[str] = []
    for event in stream.events:
        data = event.data or ""
        if data.strip() == DONE:
            payloads.append(MISSING)
            continue
        read = read_text(data)
        payloads.append(read.value)
        if len(duplicates) < MAX_DUPLICATES:
            duplicates += [f"event {event.number}{pointer}" for pointer in read.duplicates]
        if read.error is not None:
            notes.add(f"event {event.number}", f"data is not JSON: {read.error}")
    return _Streamed(stream=stream, payloads=tuple(payloads), duplicates=tuple(duplicates[:MAX_DUPLICATES]))


def _first(chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    taken: list[Chunk] = []
    left = MAX_BODY
    for chunk in chunks:
        taken.append(Chunk(ms=chunk.ms, data=chunk.data[:left]))
        left -= len(taken[-1].data)
    return tuple(taken)
