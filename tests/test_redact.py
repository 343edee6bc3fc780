"""The key reaches nothing that is written."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

import msgspec
import pytest

from conformance.redact import KEY_MARK, PATTERN_MARK, Secrets, hide, redact
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


@pytest.mark.parametrize("key", ["anything", "not-needed", "YOUR_API_KEY", "sk-xxxxxxxx"])
def test_a_word_in_the_place_of_a_key_is_hidden_and_proves_no_echo(key):
    one = exchange(f"It says {key} there".encode(), headers=(("Authorization", f"Bearer {key}"),))
    assert redact(one).response.chunks[0].data == f"It says {PATTERN_MARK} there".encode()
    assert redact(one, [key]).response.chunks[0].data == f"It says {KEY_MARK} there".encode()


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
        ("Authorization", "  Bearer   abcdefghijk", "Bearer REDACTED"),
        ("Authorization", "***", "[redacted]"),
        ("Authorization", "[authorization redacted]", "[redacted]"),
        ("Authorization", "REDACTED", "REDACTED"),
        ("Authorization", "Token redacted", "Token REDACTED"),
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


ODD = 'sk-"quoted"\\/<&>é 9f8e7d'
WRITTEN = [
    KEY.replace("/", "\\/"),
    quote(KEY),
    quote_plus(KEY).replace("%2B", "%2b").replace("%2F", "%2f").replace("%3D", "%3d"),
    base64.urlsafe_b64encode(KEY.encode()).decode(),
    base64.b64encode(f"user:{KEY}".encode()).decode(),
    base64.b64encode(json.dumps({"a": KEY}).encode()).decode(),
    base64.b64encode(f"xy{KEY}z".encode()).decode(),
]


@pytest.mark.parametrize("text", WRITTEN)
def test_escaped_and_embedded_forms_are_hidden(text):
    shown = hide(f"before {text} after", [KEY])
    assert KEY_MARK in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    inner = KEY.encode()[3:12]
    coded = [base64.b64encode(b"\0" * before + inner).decode()[4:-4] for before in range(3)]
    assert all(part not in shown for part in ("canary", *coded))


@pytest.mark.parametrize(
    "text", [ODD, json.dumps(ODD), json.dumps(ODD, ensure_ascii=False), html.escape(ODD), quote(ODD, safe="")]
)
def test_a_key_of_odd_characters_is_hidden_in_every_escape(text):
    shown = hide(text, [ODD])
    assert "9f8e7d" not in shown
    assert KEY_MARK in shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://h/v1/messages?key=abc&a=b", "https://h/v1/messages?key=REDACTED&a=b"),
        ("https://h/v1/messages?a=b&api_key=abc#f", "https://h/v1/messages?a=b&api_key=REDACTED#f"),
        (
            "https://h/v1/messages?access_token=abc;token=d",
            "https://h/v1/messages?access_token=REDACTED;token=REDACTED",
        ),
        ("https://h/v1/messages?X-Api-Key=abc", "https://h/v1/messages?X-Api-Key=REDACTED"),
        ("https://me:secret@h/v1/messages", "https://REDACTED@h/v1/messages"),
        ("https://h/v1/messages?monkey=abc&tokens=4", "https://h/v1/messages?monkey=abc&tokens=4"),
    ],
)
def test_a_url_gives_no_credentials(url, shown):
    assert redact(exchange(b"", url=url, headers=())).request.url == shown


@pytest.mark.parametrize(
    ("fields", "secret"),
    [
        ({"url": "https://h/v1/messages?key=query-secret-1", "headers": ()}, "query-secret-1"),
        ({"url": "https://h/v1/messages?key=query%2Dsecret-1", "headers": ()}, "query-secret-1"),
        ({"url": "https://me:user-secret-1@h/v1/messages", "headers": ()}, "user-secret-1"),
        (
            {"headers": (("Authorization", "Basic " + base64.b64encode(b"me:basic-secret-1").decode()),)},
            "basic-secret-1",
        ),
        ({"headers": (("Cookie", "a=b; session=cookie-secret-0001"),)}, "cookie-secret-0001"),
    ],
)
def test_what_was_sent_is_hidden_in_the_answer_too(fields, secret):
    clean = redact(exchange(f"you sent {secret}".encode(), **fields))
    assert secret.encode() not in msgspec.json.encode(clean)
    assert secret.encode() not in clean.response.chunks[0].data


def test_cookies_that_are_set_are_hidden_wherever_they_stand():
    dirty = exchange(b"id cookie-secret-0001")
    dirty = msgspec.structs.replace(
        dirty,
        response=msgspec.structs.replace(dirty.response, headers=(("Set-Cookie", "s=cookie-secret-0001; Path=/"),)),
    )
    clean = redact(dirty)
    assert clean.response.headers == (("Set-Cookie", "REDACTED"),)
    assert clean.response.chunks[0].data == b"id REDACTED"


def test_patterns_hide_what_they_match_everywhere():
    pattern = re.compile(r"cust-\d+|北.")
    dirty = exchange("for cust-42, 北京".encode(), body=b"\xff cust-7", url="http://h/v1/messages?who=cust-9")
    clean = redact(dirty, (), [pattern])
    assert clean.response.chunks[0].data == f"for {PATTERN_MARK}, {PATTERN_MARK}".encode()
    assert clean.request.body == b"\xff " + PATTERN_MARK.encode()
    assert clean.request.url == f"http://h/v1/messages?who={PATTERN_MARK}"
    assert redact(clean, (), [pattern]) == clean


def test_values_keep_their_types():
    secrets = Secrets([KEY])
    value = {"a": [KEY, 1, None, ("x", KEY)], KEY: True}
    assert secrets.value(value) == {"a": [KEY_MARK, 1, None, ("x", KEY_MARK)], KEY_MARK: True}
    dirty = exchange(b"")
    assert secrets.value(dirty.protocol) is Protocol.MESSAGES
    assert secrets.value(dirty).request.headers == (("Authorization", f"Bearer {KEY_MARK}"),)
