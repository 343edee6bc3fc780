"""Whatever a server sends, the view is read: no exception, in bounded time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from counting import takes_linear_time
from hypothesis import given, settings
from hypothesis import strategies as st
from view_wire import BODIES, CHAT, EVENTS, JSON, MESSAGES, RESPONSES, SSE, exchange, stream

from conformance.protocols import Answer, Kind, read
from conformance.values import Protocol

WORDS = re.findall(
    r"\S+",
    "choices message delta role content reasoning_content tool_calls function name arguments index finish_reason usage "
    "type text thinking signature partial_json input id error code stop_reason content_block output status response "
    "item prompt_tokens prompt_tokens_details cached_tokens output_index content_index summary incomplete_details "
    "object message_start content_block_start content_block_delta content_block_stop message_delta message_stop "
    "tool_use text_delta thinking_delta input_json_delta citations_delta response.completed response.created stop "
    "tool_use_id response.output_item.added response.output_item.done response.output_text.delta function_call "
    "web_search_call response.function_call_arguments.delta max_tokens model messages tools tool_choice "
    "json_schema stream system",
)
words = st.sampled_from(WORDS)
hostile = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.just(10**400) | st.floats() | words | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=5),
    max_leaves=15,
)
protocols = st.sampled_from(list(Protocol))
statuses = st.sampled_from([200, 200, 400, 500])
media_types = st.sampled_from([JSON, SSE, "text/html", None])


def whole(view: Answer) -> None:
    """Touches everything that rules read, and asserts what always holds."""
    assert view.exchange.response is not None
    assert view.raw == b"".join(chunk.data for chunk in view.exchange.response.chunks)
    assert len(view.payloads) == len(view.events)
    assert (view.stream is not None) == (view.kind is Kind.STREAM)
    assert all(isinstance(text, str) for text in (*view.texts, *view.reasonings, view.text, view.reasoning))
    assert isinstance(view.asked.prompt, str)
    if view.usage is not None:
        counts = (view.usage.input, view.usage.output, view.usage.total, view.usage.cached, view.usage.written)
        assert all(count is None or (type(count) is int and count >= 0) for count in counts)
    assert all(note.pointer.isprintable() and note.message.isprintable() for note in view.notes)
    assert (view.ok, view.normal, view.truncated, view.client_calls) is not None


def mutated(body: Any, draw: st.DrawFn) -> Any:
    """The body with one value anywhere in it replaced, removed or repeated."""
    copied = json.loads(json.dumps(body))
    nodes: list[tuple[Any, Any]] = []
    stack = [copied]
    while stack:
        node = stack.pop()
        children = list(node.items() if isinstance(node, dict) else enumerate(node))
        nodes += [(node, key) for key, _ in children]
        stack += [child for _, child in children if isinstance(child, (dict, list))]
    for _ in range(draw(st.integers(1, 3))):
        node, key = draw(st.sampled_from(nodes))
        if isinstance(node, list):
            if key < len(node):
                node[key] = draw(hostile)
        elif draw(st.booleans()):
            node.pop(key, None)
        else:
            node[key] = draw(hostile)
    return copied


@given(protocols, hostile, hostile, statuses, media_types)
def test_any_json_is_read(protocol: Protocol, body: Any, asked: Any, status: int, media_type: str | None) -> None:
    whole(read(exchange(protocol, body, status=status, media_type=media_type, asked=asked)))


@given(protocols, st.lists(hostile, max_size=6), statuses)
def test_any_stream_of_json_is_read(protocol: Protocol, events: list[Any], status: int) -> None:
    whole(read(exchange(protocol, stream(protocol, events), status=status, media_type=SSE)))


@given(protocols, st.binary(max_size=300), statuses, media_types, st.binary(max_size=50))
def test_any_bytes_are_read(protocol: Protocol, body: bytes, status: int, media_type: str | None, asked: bytes) -> None:
    whole(read(exchange(protocol, body, status=status, media_type=media_type, asked=asked)))


@settings(max_examples=300)
@given(st.data(), st.sampled_from(sorted(BODIES)), st.booleans())
def test_mutated_answers_are_read(data: st.DataObject, name: str, streamed: bool) -> None:
    protocol, body = BODIES[name]
    draw = data.draw
    if streamed:
        events = mutated(EVENTS[protocol](body), draw)
        whole(read(exchange(protocol, stream(protocol, events), media_type=SSE)))
    else:
        whole(read(exchange(protocol, mutated(body, draw))))


@given(st.data(), st.sampled_from(sorted(BODIES)))
def test_damaged_streams_are_read(data: st.DataObject, name: str) -> None:
    protocol, body = BODIES[name]
    raw = bytearray(stream(protocol, EVENTS[protocol](body)))
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b"", b"\n\n", b"\r", b"\xff", b'"', b"{"])
        )
    whole(read(exchange(protocol, bytes(raw), media_type=SSE, size=50)))


DEEP = b"[" * 500 + b"]" * 500
LARGE: dict[str, tuple[Protocol, int, Callable[[int], bytes]]] = {
    "chat pieces": (
        CHAT,
        40_000,
        lambda n: b'data: {"choices": [{"index": 0, "delta": {"content": "word "}}]}\n\n' * n,
    ),
    "chat arguments": (
        CHAT,
        30_000,
        lambda n: (
            b'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "1"}}]}}]}\n\n' * n
        ),
    ),
    "chat calls without index": (
        CHAT,
        30_000,
        lambda n: b"".join(
            b'data: {"choices": [{"delta": {"tool_calls": [{"id": "c%d"}]}}]}\n\n' % number for number in range(n)
        ),
    ),
    "chat reasoning arrays": (
        CHAT,
        30_000,
        lambda n: b'data: {"choices": [{"index": 0, "delta": {"reasoning_details": [{"a": 1}]}}]}\n\n' * n,
    ),
    "messages pieces": (
        MESSAGES,
        40_000,
        lambda n: (
            b'data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}\n\n'
            + b'data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}\n\n' * n
        ),
    ),
    "messages blocks without index": (
        MESSAGES,
        30_000,
        lambda n: b'data: {"type": "content_block_start", "content_block": {"type": "text", "text": ""}}\n\n' * n,
    ),
    "messages usage": (
        MESSAGES,
        30_000,
        lambda n: b'data: {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 1}}\n\n' * n,
    ),
    "responses pieces": (
        RESPONSES,
        40_000,
        lambda n: b'data: {"type": "response.output_text.delta", "output_index": 0, "delta": "a"}\n\n' * n,
    ),
    "one large event": (
        CHAT,
        8_000_000,
        lambda n: b'data: {"choices": [{"delta": {"content": "' + b"a" * n + b'"}}]}\n\n',
    ),
    "deep events": (CHAT, 200, lambda n: (b'data: {"choices": [{"delta": {"content": ' + DEEP + b"}}]}\n\n") * n),
    "data lines": (CHAT, 500_000, lambda n: b"data:\n" * n + b"\n"),
    "a large body": (CHAT, 60_000, lambda n: b'{"choices": [' + b'{"message": {"content": "a"}},' * n + b"{}]}"),
    "a body of repeated keys": (CHAT, 50_000, lambda n: b"{" + b'"a": {"b": 1, "b": 2},' * n + b'"a": 1}'),
    "an open body": (CHAT, 1_000_000, lambda n: b'{"a":' * n),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_answers_take_linear_time(name: str) -> None:
    protocol, size, made = LARGE[name]
    takes_linear_time(
        lambda n: exchange(protocol, made(n), media_type=None, size=65_536), lambda one: whole(read(one)), size
    )


def test_a_stream_beyond_the_bound_is_read_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.protocols import answering

    monkeypatch.setattr(answering, "MAX_BODY", 100)
    raw = b'data: {"choices": [{"index": 0, "delta": {"content": "a"}}]}\n\n' * 5
    view = read(exchange(CHAT, raw, media_type=SSE, size=30))
    assert view.text == "a"
    assert not view.complete
    assert view.stream is not None
    assert view.stream.problems == ()
    assert view.notes[0].message == "only the first 100 bytes of the stream are read"
    assert view.raw == raw
