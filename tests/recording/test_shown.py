from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.evidence import shown
from conformance.evidence.shown import compact, middle, omission, pretty, request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=50)
@given(JSON, st.sampled_from(sorted(shown.STYLES)))
def test_pretty_json_leads_back_to_the_bytes(value, style):
    try:
        data = json.dumps({"value": value}, **shown.STYLES[style]).encode()
    except UnicodeEncodeError:
        return
    found = pretty(data)
    assert found is not None
    assert compact(*found) == data


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":2}',
        b'{ "a":1}',
        b'{"a": 1.0e2}',
        b'{"a":1}\n',
        b'"text"',
        b"",
        b"\xff",
        b"[" * 5000 + b"]" * 5000,
        b'{"a":' + b"1" * 5000 + b"}",
    ],
    ids=lambda data: repr(data[:12]),
)
def test_what_would_not_lead_back_is_left_as_it_is(data):
    assert pretty(data) is None


def test_a_long_text_in_a_request_is_shown_by_its_beginning_and_digest():
    one, two = ({"messages": [{"role": "user", "content": f"{'word ' * 2000}{end}"}]} for end in "ab")
    body, shortened = request(json.dumps(one).encode())
    assert shortened
    assert len(body) < 500
    assert body != request(json.dumps(two).encode())[0]
    assert request(b'{"short":"text"}') == ('{"short": "text"}', False)


@pytest.mark.parametrize("data", [b"\xff" * 5000, b"{" * 5000], ids=["bytes", "text"])
def test_a_long_body_that_is_no_json_is_shortened_too(data):
    body, shortened = request(data)
    assert shortened
    assert isinstance(body, str)
    assert len(body) < 500


def test_deep_json_is_not_indented_for_ever():
    data = b'{"a":' * 200 + b"1" + b"}" * 200
    found = pretty(data)
    assert found is not None
    assert len(found[0]) < 3 * len(data)
    assert compact(*found) == data


def test_a_long_stream_is_cut_between_events():
    data = b"".join(b"data: %d %s\n\n" % (number, b"x" * 50) for number in range(200))
    start, end = middle(data)
    assert data[:start].endswith(b"\n\n")
    assert data[start:].startswith(b"data: ")
    assert data[end:].startswith(b"data: ")
    mark = omission(data[start:end])
    assert mark.startswith(b": ")
    assert mark.endswith(b"\n\n")


@pytest.mark.parametrize("data", [b"data: short\n\n", b"x" * 10_000, b""])
def test_a_short_stream_and_what_is_no_stream_are_shown_whole(data):
    assert middle(data) is None
