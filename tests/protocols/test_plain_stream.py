"""The fast reader of event streams reads what the parser reads, or leaves the stream to it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import sse
from conformance.protocols import plain_stream
from conformance.values import Chunk

LINES = [
    b"data: {}",
    b"data:{}",
    b"data:  x",
    b"data:",
    b"data",
    b"event: ping",
    b"event:ping",
    b"event:",
    b"event",
    b"id: 1",
    b": kept alive",
    b"retry: 5",
    b"dat",
    b"",
    "data: 世界 🚀 \u2028".encode(),
    b"event: \xff",
    b"data: \xe4\xb8",
    b"data: a\0b",
    b"\xef\xbb\xbfdata: bom",
]
ENDS = [b"\n", b"\n\n", b"\n\n", b"\n\n\n", b"\r\n", b""]
bodies = st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(ENDS)), max_size=8).map(
    lambda pairs: b"".join(line + end for line, end in pairs)
)


def cut(body: bytes, places: list[int]) -> list[Chunk]:
    borders = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [Chunk(ms=float(number), data=body[a:b]) for number, (a, b) in enumerate(pairwise(borders))]


@given(bodies, st.lists(st.integers(0, 10_000), max_size=8))
def test_it_reads_as_the_parser_does_or_not_at_all(body: bytes, places: list[int]) -> None:
    chunks = cut(body, places)
    assert plain_stream.read(chunks) in (None, sse.parse(chunks))


@pytest.mark.parametrize(
    "body",
    [
        b"data: {}\n\ndata: [DONE]\n\n",
        b'event: message_start\ndata: {"a": 1}\n\nevent:ping\ndata:{}\n\n',
        "data: 世界\n\n".encode(),
        b"data:\n\nevent:\ndata: x\n\n",
    ],
)
def test_common_streams_are_read(body: bytes) -> None:
    chunks = cut(body, [3, 3, 11, len(body) - 1])
    assert plain_stream.read(chunks) == sse.parse(chunks)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"data: x\n",
        b"data: x",
        b"data: x\n\n\n",
        b"data: x\r\n\r\n",
        b"data: a\ndata: b\n\n",
        b"event: only\n\n",
        b"data: a\nevent: x\n\n",
        b"data: \xff\n\n",
        b"data: " + b"x" * sse.MAX_RAW + b"\n\n",
        b"data:\n\n" * (sse.MAX_EVENTS + 1),
    ],
)
def test_other_streams_are_left_to_the_parser(body: bytes) -> None:
    assert plain_stream.read([Chunk(ms=0.0, data=body)]) is None
