"""Long streams that are made short fold to the same answers and give the same findings."""

from __future__ import annotations

import json
import random

import pytest
from msgspec.structs import replace

from conformance.evidence import bodies, condensing, fixtures
from conformance.evidence.condensing import JOINED, Condenser
from conformance.evidence.oddities import WIRES
from conformance.evidence.written import exchange
from conformance.judge import judge
from conformance.protocols import read
from conformance.values import Chunk

STREAMS = tuple(
    sorted(path.stem for path in (fixtures.root() / "bases").glob("*.yaml") if "\n  sse:" in path.read_text("utf-8"))
)


def base(name: str):
    return exchange(fixtures.load(fixtures.root() / "bases" / f"{name}.yaml"), name)


def condensed(data: bytes, sizes: list[int] | None = None) -> tuple[bytes, Condenser]:
    condenser = Condenser()
    place = 0
    for size in sizes or [len(data)]:
        condenser.feed(data[place : place + size], 1.0)
        place += size
    condenser.feed(data[place:], 1.0)
    return b"".join(chunk.data for chunk in condenser.close()), condenser


def stretched(data: bytes) -> bytes:
    """A stream whose every delta comes in pieces of one or two characters, its sequence numbers in step."""
    blocks, number = [], None
    for block in data.decode().split("\n\n")[:-1]:
        head, mark, text = block.rpartition("data: ")
        payload = json.loads(text) if text != "[DONE]" else None
        for piece in pieces(payload):
            if isinstance(piece, dict) and isinstance(piece.get("sequence_number"), int):
                number = piece["sequence_number"] if number is None else number + 1
                piece["sequence_number"] = number
            blocks.append(f"{head}{mark}{text if piece is None else json.dumps(piece)}\n\n")
    return "".join(blocks).encode()


def pieces(payload):
    holders = [(payload, "delta")] if payload else []
    if payload and payload.get("choices"):
        delta = payload["choices"][0]["delta"]
        calls = [call["function"] for call in delta.get("tool_calls") or [] if "id" not in call]
        holders = [(delta, "content"), (delta, "reasoning_content"), *((call, "arguments") for call in calls)]
    elif payload and isinstance(payload.get("delta"), dict):
        holders = [(payload["delta"], name) for name in ("text", "thinking", "partial_json")]
    for holder, name in holders:
        if isinstance(holder.get(name), str) and len(holder[name]) > 3:
            whole = holder[name]
            for place in range(0, len(whole), 2):
                holder[name] = whole[place : place + 2]
                yield json.loads(json.dumps(payload))
            return
    yield payload


def with_body(one, data: bytes):
    return replace(one, response=replace(one.response, chunks=(Chunk(ms=1.0, data=data),)))


def told(one):
    answer = read(one)
    findings = [(f.rule, f.level, f.message, f.expected, f.actual) for f in judge([one]).findings]
    content = (answer.body, answer.complete, answer.texts, answer.reasonings, answer.calls, answer.usage_raw)
    return content, findings


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("wire", [None, "crlf", "cr", "bom", "comments", "no-space", "ids"])
def test_a_stream_says_the_same_in_fewer_events(name, wire):
    one = base(name)
    long = stretched(b"".join(chunk.data for chunk in one.response.chunks))
    long = WIRES[wire](long) if wire else long
    short, condenser = condensed(long)
    before, after = with_body(one, long), with_body(one, short)
    assert told(after) == told(before)
    assert condenser.events - condenser.kept == len(read(before).events) - len(read(after).events) or wire == "comments"
    assert len(read(after).events) <= len(read(before).events)


def test_borders_of_pieces_change_nothing():
    data = stretched(b"".join(chunk.data for chunk in base("responses.stream").response.chunks))
    whole = condensed(data)[0]
    assert len(whole) < len(data) / 2
    draw = random.Random(7)  # noqa: S311 (where pieces end is no secret)
    for most in (1, 3, 17, 400):
        assert condensed(data, [draw.randint(1, most) for _ in range(20_000)])[0] == whole


CHUNK = '{"id":"c","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}'


def events(*data: str) -> bytes:
    return "".join(f"data: {one}\n\n" for one in data).encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    "data",
    [
        events(CHUNK % "a", CHUNK % ""),
        events(CHUNK % "\udcc3", CHUNK % "\udca9"),  # a character of UTF-8 that two events share
        events(CHUNK % "\\ud83d", CHUNK % "\\ude00"),  # likewise, of UTF-16
        events(CHUNK % "a", CHUNK.replace("null", '"stop"') % "b"),
        events(*[CHUNK.replace("null", '"stop"') % text for text in "ab"]),
        events(*[CHUNK.replace("}]}", '}],"usage":{"total_tokens":1}}') % text for text in "ab"]),
        events(*[CHUNK.replace('"finish', '"logprobs":{"content":[]},"finish') % text for text in "ab"]),
        events(*[CHUNK.replace('"delta":{', '"delta":{"reasoning":"x",') % text for text in "ab"]),
        events(*[CHUNK.replace('"delta":{', '"delta":{"reasoning_content":"x",') % text for text in "ab"]),
        events(CHUNK % "a", CHUNK.replace('"index":0', '"index":1') % "b"),
        events(CHUNK % "a", CHUNK.replace('"id":"c"', '"id":"d"') % "b"),
        events(*[CHUNK % f"\t{text}" for text in "ab"]),  # no JSON
        events(*[f"{CHUNK % text}x" for text in "ab"]),
        events(*[f'{{"type":"response.output_text.done","text":"{text}"}}' for text in "ab"]),
        events(*[f'{{"type":"response.output_text.delta","sequence_number":{n},"delta":"a"}}' for n in (1, 1, 3)]),
        events(CHUNK % "a") + b": ping\n\n" + events(CHUNK % "b"),
        events(CHUNK % "a") + b"data: " + (CHUNK % "b").encode() + b"\ndata: \n\n",
    ],
)
def test_what_is_not_one_text_in_events_alike_stays(data):
    assert condensed(data)[0] == data


def test_numbers_stay_in_step_and_gaps_stay_gaps():
    event = '{"type":"response.output_text.delta","sequence_number":%d,"delta":"%s"}'
    data = events(*(event % pair for pair in ((4, "a"), (5, "b"), (6, "c"), (8, "d"), (9, "e"), (3, "f"))))
    kept = events(*(event % pair for pair in ((4, "abc"), (6, "de"), (0, "f"))))
    assert condensed(data)[0] == kept


def test_ids_of_events_may_differ_and_the_first_stays():
    blocks = [f"event: x\nid: {number}\ndata: {CHUNK % number}\n\n" for number in range(4)]
    assert condensed("".join(blocks).encode())[0].decode() == f"event: x\nid: 0\ndata: {CHUNK % '0123'}\n\n"
    other = "".join(blocks).replace("id: 2\n", "id: 2\0\n")
    assert condensed(other.encode())[0].count(b"event: x") == 3


def test_a_joined_text_is_bounded_and_an_unfinished_event_stays():
    data = events(*[CHUNK % ("word " * 100)] * 1000)
    short, condenser = condensed(data + b'data: {"id"')
    assert condenser.events == 1000
    assert 3 < condenser.kept < 20, condenser.kept
    assert max(map(len, short.split(b"\n\n"))) < 3 * JOINED
    assert short.endswith(b'data: {"id"')
    assert short.count(b"word ") == 100_000


@pytest.fixture
def bounds(monkeypatch):
    monkeypatch.setattr(bodies, "WHOLE", 2_000)
    monkeypatch.setattr(bodies, "DEAREST", 60_000)
    monkeypatch.setattr(bodies, "LARGEST_PLAIN", 3_000)
    monkeypatch.setattr(bodies, "BEGINNING", 100)
    monkeypatch.setattr(bodies, "PIECE", 100)
    monkeypatch.setattr(condensing, "JOINED", 500)


@pytest.mark.usefixtures("bounds")
def test_a_long_stream_is_kept_short_and_tells_its_size():
    data = events(CHUNK.replace('"content":"%s"', '"role":"assistant"'), *[CHUNK % "word "] * 100)
    one = with_body(base("chat.stream"), data)
    kept = bodies.bounded(one)
    assert bodies.is_condensed(kept)
    assert not bodies.is_condensed(one)
    assert bodies.size(kept.response.chunks) == len(data)
    assert sum(len(chunk.data) for chunk in kept.response.chunks) < 1_500
    assert read(kept).text == "word " * 100
    assert kept.failure is None


@pytest.mark.usefixtures("bounds")
@pytest.mark.parametrize(
    "data",
    [
        events(*[CHUNK % f"{'w' * 300}{number}" for number in range(100)]),
        events(*[CHUNK.replace('"id":"c"', f'"id":"{number}"') % "a" for number in range(100)]),
        events(CHUNK % ("w" * 20_000)),
        b"[" + b"1," * 2_000,
    ],
)
def test_what_is_too_long_is_cut_and_breaks_no_rule(data):
    one = bodies.bounded(replace(base("chat.stream"), response=with_body(base("chat.stream"), data).response))
    assert bodies.is_unread(one)
    assert one.failure.kind == "cut"
    assert f"of {len(data)} bytes" in one.failure.message
    assert sum(len(chunk.data) for chunk in one.response.chunks) < 12_000
    assert not [f for f in judge([one]).findings if f.rule == "stream.complete" or "never" in f.message]


def test_an_ordinary_answer_is_the_same_object():
    one = base("chat.stream")
    assert bodies.bounded(one) is one
    assert bodies.unread_of([one]) is None
