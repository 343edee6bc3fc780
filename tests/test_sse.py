from __future__ import annotations

from itertools import pairwise

import pytest
from counting import takes_linear_time
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance import sse
from conformance.sse import Fault, Parser, Stream, parse
from conformance.values import Chunk

PIECES = [
    b"data: x",
    b"data:y",
    b"data",
    b"data:  two",
    b"event: ping",
    b"event:",
    b"id: 7",
    b"id: a\0b",
    b"retry: 10",
    b"retry: soon",
    b": comment",
    b":",
    b"stray",
    b"field: x",
    "data: 世界 🚀 \u2028 é".encode(),
    b"data: \xff\xe4\xb8",
    b"\xef\xbb\xbfdata: bom",
    b"",
    b"",
    b"\r",
    b"\n",
    b"\r\n",
]
bodies = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from([b"\n", b"\r", b"\r\n", b"\n\n"]))).map(
    lambda pairs: b"".join(line + end for line, end in pairs)
) | st.binary(max_size=200)


def cut(body: bytes, places: list[int]) -> list[bytes]:
    borders = sorted({0, len(body), *(place % (len(body) + 1) for place in places)})
    return [body[a:b] for a, b in pairwise(borders)]


@given(bodies, st.lists(st.integers(0, 10_000), max_size=8))
def test_any_split_reads_the_same(body: bytes, places: list[int]) -> None:
    assert parse(cut(body, places)) == parse([body])


@given(bodies)
def test_single_bytes_read_the_same(body: bytes) -> None:
    assert parse(body[i : i + 1] for i in range(len(body))) == parse([body])


@given(st.lists(st.sampled_from([piece for piece in PIECES if b"\r" not in piece and b"\n" not in piece])))
def test_line_ends_agree(lines: list[bytes]) -> None:
    def told(stream: Stream) -> list[tuple[object, ...]]:
        return [(e.number, e.name, e.data, e.id, e.retry, e.lines) for e in stream.events]

    streams = [parse([end.join([*lines, b"", b""])]) for end in (b"\n", b"\r", b"\r\n")]
    assert told(streams[0]) == told(streams[1]) == told(streams[2])
    kinds = [[problem.kind for problem in stream.problems] for stream in streams]
    assert kinds[0] == kinds[1] == kinds[2]


@given(bodies)
def test_offsets_cover_the_lines(body: bytes) -> None:
    stream = parse([body])
    for event in (*stream.events, *stream.undispatched):
        assert 0 <= event.start < event.end <= len(body) == stream.size
        assert body[event.start :].startswith(event.lines[0])
        assert body[event.start : event.end].endswith((b"\r", b"\n"))
    assert [event.number for event in stream.events] == list(range(len(stream.events)))


@given(bodies, st.lists(st.integers(0, 10_000), max_size=8))
def test_feed_returns_what_the_stream_holds(body: bytes, places: list[int]) -> None:
    parser = Parser()
    fed = [event for piece in cut(body, places) for event in parser.feed(piece)]
    events = parser.close().events
    assert fed == list(events[: len(fed)])
    assert len(events) - len(fed) <= 1  # one that ends in a CR which LF might have followed


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: a\n\n", [(None, "a")]),
        (b"data:a\r\rdata:b\r\n\r\n", [(None, "a"), (None, "b")]),
        (b"data:  a\n\n", [(None, " a")]),
        (b"data: a\ndata:\ndata: b\n\n", [(None, "a\n\nb")]),
        (b"data\n\n", [(None, "")]),
        (b"data\ndata\n\n", [(None, "\n")]),
        (b"event: x\nevent: y\ndata: a\n\n", [("y", "a")]),
        (b"event:\ndata: a\n\n", [("", "a")]),
        (b"\n\n\n: hi\n\ndata: a\n\n\n", [(None, "a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [(None, "a")]),
        ("data: a\u2028b\u0085c\u000b\n\n".encode(), [(None, "a\u2028b\u0085c\u000b")]),
        (b"data: [DONE]\n\n", [(None, "[DONE]")]),
        (b"", []),
    ],
)
def test_legal_streams_have_no_problem(body: bytes, events: list[tuple[str | None, str]]) -> None:
    stream = parse([body])
    assert [(event.name, event.data) for event in stream.events] == events
    assert stream.problems == ()
    assert stream.pending is None


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        (b"data: a\n\ndata: b\n", [(Fault.LOST_AT_END, 9)]),
        (b"data: a\n\ndata: [DONE]", [(Fault.LOST_AT_END, 9)]),
        (b"data: a\xff\n\n", [(Fault.INVALID_UTF8, 7)]),
        (b"\xef\xbb\xbfdata: \xed\xa0\xbd\n\n", [(Fault.INVALID_UTF8, 9)]),
        (b"Data: a\n\n", [(Fault.UNKNOWN_FIELD, 0)]),
        (b'{"error": 1}\n\n', [(Fault.UNKNOWN_FIELD, 0)]),
        (b"oops\n\n", [(Fault.STRAY_LINE, 0)]),
        (b"data: a\nid: \0\n\n", [(Fault.NUL_IN_ID, 8)]),
        (b"retry: 1.5\n\n", [(Fault.BAD_RETRY, 0)]),
        (b"retry: " + b"9" * 5000 + b"\n\n", [(Fault.BAD_RETRY, 0)]),
        (b"data: \xe4\xb8", [(Fault.LOST_AT_END, 0)]),
    ],
)
def test_faults_of_the_framing(body: bytes, problems: list[tuple[Fault, int]]) -> None:
    stream = parse([body])
    assert [(problem.kind, problem.offset) for problem in stream.problems] == problems
    assert all(problem.message.isprintable() for problem in stream.problems)


def test_fields_terminators_comments_and_bom_are_told() -> None:
    stream = parse([b"\xef\xbb\xbf: one\r\nid: 3\nretry: 250\revent: e\n:two\ndata: a\n\nevent: only\n\ndata: lost"])
    (event,) = stream.events
    assert replace(event, lines=()) == sse.Event(
        number=0, name="e", data="a", id="3", retry=250, start=10, end=50, ms=None, lines=(), complete=True
    )
    assert event.lines == (b"id: 3", b"retry: 250", b"event: e", b"data: a")
    assert stream.comments == ((3, "one"), (36, "two"))
    assert [(block.name, block.data, block.number) for block in stream.undispatched] == [("only", None, 1)]
    assert stream.pending is not None
    assert (stream.pending.data, stream.pending.complete, stream.pending.number) == ("lost", False, 1)
    assert stream.bom
    assert stream.terminators == {"cr", "lf", "crlf"}


def test_an_event_arrives_with_its_last_byte() -> None:
    chunks = [Chunk(ms=1, data=b"data: a\n"), Chunk(ms=5, data=b"\ndata: b\r\n\r"), Chunk(ms=9, data=b"\ndata: c\r\r")]
    chunks.append(Chunk(ms=12, data=b": end\n"))
    assert [event.ms for event in parse(chunks).events] == [5, 9, 9]


def test_an_oversized_event_is_reported_and_the_next_one_read() -> None:
    big = b"data: " + b"x" * sse.MAX_EVENT + b"\n\n"
    stream = parse([big, b"data: next\n\n"])
    assert [event.data for event in stream.events] == ["next"]
    assert [(problem.kind, problem.offset) for problem in stream.problems] == [(Fault.TOO_LARGE, 0)]


def test_many_events_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENTS", 3)
    parser = Parser()
    assert len(parser.feed(b"data: x\n\n" * 5)) == 5
    stream = parser.close()
    assert (len(stream.events), stream.dropped) == (3, 2)
    assert [problem.kind for problem in stream.problems] == [Fault.TOO_MANY]


def test_noise_is_bounded() -> None:
    stream = parse([b"stray\n\n" * 5000 + b": c\n" * 5000])
    assert len(stream.problems) == len(stream.undispatched) == len(stream.comments) == sse.MAX_NOTED


def test_time_is_linear_in_the_size() -> None:
    line = b'data: {"choices":[{"delta":{"content":"word"}}]}\n\n'
    assert len(parse([line] * 600).events) == 600
    takes_linear_time(lambda n: [line] * n, parse, 60_000)
    assert len(parse([b"data: " + b"x" * 1000] * 40).problems) == 1
    takes_linear_time(lambda n: [b"data: " + b"x" * 1000] * n, parse, 8000)
