"""JSON that is read piece by piece is what it is when read at once, and long streams within it are made short."""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
from collections import Counter

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from conformance.evidence import bodies, condensing, pulling, streams_within
from conformance.evidence.pulling import TOO_LARGE, Broken, Reader

TEXTS = st.text(st.sampled_from('ab\\"/\n\té北😀\ud83d\ude00\x7f'), max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(TEXTS.map(lambda text: text[:8]), inner, max_size=6),
    max_leaves=30,
)
PIECES = st.sampled_from([110, 151, 1000])


@pytest.fixture(autouse=True)
def bounds():
    """Bounds that small documents reach; not monkeypatch, which hypothesis refuses."""
    kept = (pulling.PIECE, streams_within.WHOLE, bodies.WHOLE, condensing.JOINED, streams_within.MOST)
    streams_within.WHOLE = bodies.WHOLE = 2_000
    condensing.JOINED = 200
    pulling.PIECE = 150
    yield
    pulling.PIECE, streams_within.WHOLE, bodies.WHOLE, condensing.JOINED, streams_within.MOST = kept


def reader(data: bytes, **more) -> Reader:
    return Reader(io.BytesIO(data), **more)


@given(value=VALUES, piece=PIECES, ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
def test_a_value_is_the_one_that_json_reads(value, piece, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    try:
        data = text.encode()
    except UnicodeEncodeError:  # lone surrogates, which files hold as escapes only
        text = json.dumps(value, indent=indent)
        data = text.encode()
    pulling.PIECE = piece
    for form in (data, b"\xef\xbb\xbf" + data, b"\xff\xfe" + text.encode("utf-16-le")):
        found = reader(form)
        assert found.value() == json.loads(text)
        found.end()
        assert found.offset == found.read == len(form)


@given(value=st.lists(VALUES, min_size=1) | st.dictionaries(TEXTS, VALUES, min_size=1), piece=PIECES, draw=st.randoms())
def test_a_value_that_breaks_off_is_told_as_cut(value, piece, draw):
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    pulling.PIECE = piece
    with pytest.raises(Broken) as caught:
        reader(data[: draw.randrange(1, len(data))]).value()
    assert caught.value.cut


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b'{"a": 1 "b": 2}' + b" " * 400, 8),
        (b'{"a": [1, 2}, "b": 3, "c": "' + b"x" * 400 + b'"}', 11),
        (b'["' + "é".encode() * 200 + b'", nope, 1]' + b" " * 400, 405),
        (b'["' + b"x" * 400 + b'\\q", 1]' + b" " * 400, 402),
        (b"[" * 400 + b"]" * 400, None),
        (b'["\xff' + b"x" * 400, 2),
    ],
)
def test_what_is_broken_is_told_with_its_place(data, offset):
    with pytest.raises(Broken) as caught:
        reader(data).value()
    assert not caught.value.cut
    assert offset in (None, caught.value.offset)


def test_members_and_items_stand_at_each_value():
    data = json.dumps({"a": [1, {"b": "x" * 500}, []], "é": {"c": None}, "d": {}}).encode()
    found = reader(data)
    seen = []
    for name in found.members():
        if name == "a":
            for _ in found.items():
                start = found.offset
                value = found.value()
                assert json.loads(data[start : found.offset]) == value
                seen.append(value)
        else:
            seen.append((name, found.value()))
    found.end()
    assert seen == [1, {"b": "x" * 500}, [], ("é", {"c": None}), ("d", {})]


def test_a_value_that_is_too_large_is_read_over():
    streams_within.MOST = 3_000
    data = json.dumps([{"a": "x" * 2_500, "b": ["y" * 400] * 3}, ["z" * 100] * 60, 7]).encode()
    found = reader(data)
    assert [found.value() for _ in found.items()] == [TOO_LARGE, TOO_LARGE, 7]


EVENT = 'data: {"id":"é","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}\n\n'
STREAM = "".join(EVENT % f"{number} words " for number in range(400))
SAID = "".join(f"{number} words " for number in range(400))


def said(stream: str) -> str:
    blocks = [json.loads(block.removeprefix("data: ")) for block in stream.split("\n\n") if block.startswith("data")]
    return "".join(block["choices"][0]["delta"]["content"] for block in blocks)


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


FORMS = {
    "text": (STREAM, lambda found: found),
    "base64": (coded(STREAM.encode()), lambda found: base64.b64decode(found).decode()),
    "wrapped": (base64.encodebytes(STREAM.encode()).decode(), lambda found: base64.b64decode(found).decode()),
    "lines": ([f"{line}\n" for line in STREAM.split("\n")], lambda found: found),
    "named": (STREAM.split("\n\n")[:-1], lambda found: found),
    "objects": ([json.loads(one[6:]) | {"type": "x"} for one in STREAM.split("\n\n")[:-1]], lambda found: None),
    "chunks": (
        [[float(number), coded(f"{one}\n\n".encode())] for number, one in enumerate(STREAM.split("\n\n")[:-1])],
        lambda found: b"".join(base64.b64decode(data) for _, data in found).decode(),
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_long_stream_within_a_value_is_made_short(form):
    value, back = FORMS[form]
    data = json.dumps({"request": {"messages": []}, "response": {"status": 200, "body": value}}, ensure_ascii=False)
    found = reader(data.encode())
    short = found.value()["response"]["body"]
    assert found.unread is None
    if form == "objects":
        assert short.count("event: x\ndata: ") == 400  # events with a name of their own are left alone
        return
    text = back(short)
    assert said(text) == SAID
    assert len(text) < len(STREAM) / 2


def zstd(data: bytes) -> bytes:
    """In blocks, as a server sends a stream."""
    writer = zstandard.ZstdCompressor().compressobj()
    parts = [data[place : place + 1_000] for place in range(0, len(data), 1_000)]
    flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
    return b"".join(writer.compress(part) + writer.flush(flush) for part in parts) + writer.flush()


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_a_long_stream_that_is_coded_within_base64_is_made_short(compress):
    draw = random.Random(3)  # noqa: S311 (words that hardly compress)
    words = [f"{draw.randrange(10**30)} " for _ in range(400)]
    value = coded(compress("".join(EVENT % word for word in words).encode()))
    assert len(value) > streams_within.WHOLE
    short = reader(json.dumps({"text": value}).encode()).value()["text"]
    assert said(base64.b64decode(short).decode()) == "".join(words)


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [{"content": STREAM}]},
        {"content": "data:image/png;base64," + "A" * 3_000},
        {"content": coded(b"\x89PNG" * 900)},
        {"content": ["a", "b"] * 900},
        {"content": [[1, "b"]] * 900},
        {"content": "x" * 3_000},
    ],
)
def test_what_is_no_stream_of_an_answer_stays(value):
    assert reader(json.dumps(value).encode()).value() == value


@pytest.mark.parametrize(
    "value", [coded(STREAM.encode())[:-3] + "!!!", [*FORMS["chunks"][0], 7], [*FORMS["named"][0], {}]]
)
def test_a_stream_that_is_broken_as_such_is_left_out(value):
    found = reader(json.dumps([{"body": value}, 7]).encode())
    assert [found.value() for _ in found.items()] == [TOO_LARGE, 7]


def test_a_stream_that_is_too_long_when_made_short_says_so(monkeypatch):
    monkeypatch.setattr(bodies, "DEAREST", 18_000)
    found = reader(json.dumps([STREAM, 7]).encode())
    values = []
    notes = Counter()
    for _ in found.items():
        values.append(found.value())
        notes[found.unread is not None] += 1
    assert len(values[0]) < 6_000
    assert notes == {True: 1, False: 1}
