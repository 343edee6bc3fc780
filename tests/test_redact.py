"""The key reaches nothing that is written."""

from __future__ import annotations

import base64
from urllib.parse import quote

import msgspec
import pytest

from conformance.redact import KEY_MARK, hide, redact
from conformance.values import Chunk, Exchange, Failure, Protocol, Request, Response

KEY = "sk-canary+/key=1234"
FORMS = [KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode()]


def exchange(*chunks: bytes, **request) -> Exchange:
    fields = {
        "method": "POST",
        "url": "http://127.0.0.1/v1/messages",
        "headers": (("Authorization", f"Bearer {KEY}"),),
        **request,
    }
    return Exchange(
        id="1",
        protocol=Protocol.MESSAGES,
        model="kimi-k3",
        request=Request(**fields),
        response=Response(status=200, headers=(), chunks=tuple(Chunk(ms=n, data=d) for n, d in enumerate(chunks))),
    )


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_the_key_survives_anywhere(form):
    dirty = exchange(f"echo {form}".encode(), body=form.encode(), url=f"http://127.0.0.1/v1/messages?key={quote(form)}")
    dirty = msgspec.structs.replace(dirty, failure=Failure(kind="reset", message=f"while sending {form}"))
    written = msgspec.json.encode(redact(dirty, [KEY]))
    plain = written + b"".join(base64.b64decode(chunk) for chunk in (msgspec.json.decode(written)["request"]["body"],))
    for each in FORMS:
        assert each.rstrip("=").encode() not in plain


def test_a_key_that_was_sent_is_hidden_though_nobody_named_it():
    assert KEY.encode() not in redact(exchange(f"your key {KEY}".encode())).response.chunks[0].data


def test_a_key_split_between_chunks_is_found():
    clean = redact(exchange(b"a " + KEY[:7].encode(), KEY[7:].encode() + b" b"), [KEY])
    assert b"".join(chunk.data for chunk in clean.response.chunks) == f"a {KEY_MARK} b".encode()


def test_chunks_keep_their_borders_and_times_when_nothing_spans_them():
    clean = redact(exchange(b"one", KEY.encode(), b"two"), [KEY])
    assert [(chunk.ms, chunk.data) for chunk in clean.response.chunks] == [
        (0, b"one"),
        (1, KEY_MARK.encode()),
        (2, b"two"),
    ]


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("Authorization", "Bearer abcdefghijk", "Bearer REDACTED"),
        ("authorization", "Basic dXNlcjpwYXNz", "Basic REDACTED"),
        ("Authorization", "abcdefghijk", "REDACTED"),
        ("X-Api-Key", "abcdefghijk", "REDACTED"),
        ("Cookie", "session=abc", "REDACTED"),
        ("Content-Type", "application/json", "application/json"),
    ],
)
def test_credential_headers_keep_their_scheme_only(name, value, shown):
    clean = redact(exchange(b"", headers=((name, value),)))
    assert clean.request.headers == ((name, shown),)


def test_redacting_twice_changes_nothing():
    once = redact(exchange(f"echo {KEY}".encode()), [KEY])
    assert redact(once) == once


def test_short_keys_do_not_hide_ordinary_text():
    assert hide("a test", ["test"]) == "a test"
