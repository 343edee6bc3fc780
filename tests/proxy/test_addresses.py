"""Addresses as words, read and refused."""

from __future__ import annotations

import pytest

from conformance.proxy import BadAddress, listen, upstream
from conformance.proxy.headers import homeward, looped, onward


@pytest.mark.parametrize(
    ("text", "base_url", "authority"),
    [
        ("https://direct.evolink.ai", "https://direct.evolink.ai", "direct.evolink.ai"),
        ("https://direct.evolink.ai/v1/", "https://direct.evolink.ai", "direct.evolink.ai"),
        ("http://127.0.0.1:8788/gateway/v1", "http://127.0.0.1:8788/gateway", "127.0.0.1:8788"),
        ("http://[::1]:8788", "http://[::1]:8788", "[::1]:8788"),
        ("https://host:443", "https://host", "host"),
    ],
)
def test_upstream_is_a_base_url(text: str, base_url: str, authority: str):
    found = upstream(text)
    assert (found.base_url, found.authority) == (base_url, authority)


@pytest.mark.parametrize(
    "text",
    ["", "direct", "ftp://host", "https://", "https://host?a=1", "https://host:99999", "https://[::1", "http://a b"],
)
def test_no_upstream(text: str):
    with pytest.raises(BadAddress):
        upstream(text)


@pytest.mark.parametrize(
    "text", ["https://me:sk-secret-0123@host", "ftp://me:sk-secret-0123@host", "me:sk-secret-0123@[::1"]
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(text: str):
    with pytest.raises(BadAddress) as caught:
        upstream(text)
    assert "sk-secret-0123" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "host", "port", "loopback"),
    [
        ("127.0.0.1:8787", "127.0.0.1", 8787, True),
        ("127.1.2.3:1", "127.1.2.3", 1, True),
        ("localhost:0", "localhost", 0, True),
        ("[::1]:8787", "::1", 8787, True),
        (":8787", "127.0.0.1", 8787, True),
        ("8787", "127.0.0.1", 8787, True),
        ("0.0.0.0:8787", "0.0.0.0", 8787, False),  # noqa: S104 (read, not bound)
        ("[::]:8787", "::", 8787, False),
        ("example.com:80", "example.com", 80, False),
    ],
)
def test_listen_is_a_host_and_a_port(text: str, host: str, port: int, loopback: bool):
    found = listen(text)
    assert (found.host, found.port, found.loopback) == (host, port, loopback)


@pytest.mark.parametrize(
    "text", ["", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "a:b", "::1", "a b:1", "http://x:1", "é:1"]
)
def test_no_listen(text: str):
    with pytest.raises(BadAddress):
        listen(text)


def test_chunked_wins_over_a_length_that_came_with_it():
    headers = [(b"Content-Length", b"5"), (b"Transfer-Encoding", b"gzip, Chunked")]
    assert onward(headers, authority=b"h", via=b"v") == [
        (b"Host", b"h"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Via", b"v"),
    ]


def test_only_a_request_that_passed_this_very_proxy_is_a_loop():
    assert looped([(b"via", b"1.1 other, 1.1 me-1")], b"me-1")
    assert not looped([(b"Via", b"1.1 me-2")], b"me-1")


def test_an_answer_keeps_its_length_and_coding():
    kept = [(b"content-length", b"5"), (b"Content-Encoding", b"br")]
    assert homeward([*kept, (b"connection", b"close, content-length"), (b"Upgrade", b"h2")]) == kept
