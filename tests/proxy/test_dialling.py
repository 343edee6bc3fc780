"""Upstreams behind TLS and behind the HTTP proxies that the environment names."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from scripted_upstream import SECONDS, Peer, Upstream

from conformance import proxy

GET = b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@contextmanager
def upstream(script: Callable[[Peer], None]) -> Iterator[Upstream]:
    found = Upstream(script)
    try:
        yield found
    finally:
        found.close()


def ask(target: str) -> bytes:
    """What a client gets by way of the proxy."""
    with (
        proxy.running(proxy.upstream(target), proxy.listen(":0"), tap=lambda *_: None, take=lambda _: None) as running,
        socket.create_connection(("127.0.0.1", int(running.base_url.rpartition(":")[2])), SECONDS) as connection,
    ):
        peer = Peer(connection)
        peer.send(GET)
        return peer.until(b"}")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of localhost and upstream.invalid with its key, in one file."""
    command = shutil.which("openssl")
    if command is None:
        pytest.skip("openssl is not here")
    folder = tmp_path_factory.mktemp("certificate")
    names = "subjectAltName=DNS:localhost,DNS:upstream.invalid"
    subprocess.run(  # noqa: S603 (ours)
        [
            *(command, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=localhost", "-addext", names),
            *("-keyout", folder / "key.pem", "-out", folder / "cert.pem"),
        ],
        check=True,
        capture_output=True,
        timeout=SECONDS,
    )
    whole = folder / "whole.pem"
    whole.write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return whole


def encrypted(peer: Peer, certificate: Path) -> Peer:
    """The server's end of TLS on a connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["h2", "http/1.1"])
    found = context.wrap_socket(peer.socket, server_side=True)
    assert found.selected_alpn_protocol() == "http/1.1"
    return Peer(found)


def test_upstream_behind_tls(certificate: Path, monkeypatch: pytest.MonkeyPatch):
    def script(peer: Peer) -> None:
        inner = encrypted(peer, certificate)
        head, _ = inner.request()
        assert head.startswith(b"GET /v1/models HTTP/1.1\r\nHost: localhost:")
        inner.send(OK)
        with inner.socket:
            inner.to_the_end()

    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with upstream(script) as found:
        assert ask(found.base_url.replace("http://127.0.0.1", "https://localhost")).endswith(b"\r\n\r\n{}")


def test_upstream_whose_certificate_nobody_trusts_is_a_502(certificate: Path):
    def script(peer: Peer) -> None:
        with pytest.raises(ssl.SSLError):
            encrypted(peer, certificate)

    with upstream(script) as found:
        came = ask(found.base_url.replace("http://127.0.0.1", "https://localhost"))
    assert came.startswith(b"HTTP/1.1 502")
    assert b"CERTIFICATE_VERIFY_FAILED" in came


def test_plain_upstream_behind_an_http_proxy_gets_absolute_targets(monkeypatch: pytest.MonkeyPatch):
    def script(peer: Peer) -> None:
        head, _ = peer.request()
        assert head.startswith(b"GET http://upstream.invalid/base/v1/models HTTP/1.1\r\nHost: upstream.invalid\r\n")
        peer.send(OK)

    with upstream(script) as found:
        monkeypatch.setenv("http_proxy", found.base_url)
        assert ask("http://upstream.invalid/base").endswith(b"\r\n\r\n{}")
        assert not found.errors


def test_upstream_behind_tls_and_an_http_proxy_gets_a_tunnel(certificate: Path, monkeypatch: pytest.MonkeyPatch):
    def script(peer: Peer) -> None:
        head = peer.until(b"\r\n\r\n")
        assert head.startswith(b"CONNECT upstream.invalid:443 HTTP/1.1\r\nHost: upstream.invalid:443\r\n")
        assert b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n" in head
        peer.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        inner = encrypted(peer, certificate)
        head, _ = inner.request()
        assert head.startswith(b"GET /v1/models HTTP/1.1\r\nHost: upstream.invalid\r\n")
        assert b"Proxy-Authorization" not in head
        inner.send(OK)
        with inner.socket:
            inner.to_the_end()

    with upstream(script) as found:
        monkeypatch.setenv("https_proxy", found.base_url.replace("://", "://me:secret@"))
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert ask("https://upstream.invalid").endswith(b"\r\n\r\n{}")
        assert not found.errors


def test_http_proxy_that_refuses_the_tunnel_is_a_502(monkeypatch: pytest.MonkeyPatch):
    def script(peer: Peer) -> None:
        peer.until(b"\r\n\r\n")
        peer.send(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")

    with upstream(script) as found:
        monkeypatch.setenv("https_proxy", found.base_url)
        came = ask("https://upstream.invalid")
    assert came.startswith(b"HTTP/1.1 502")
    assert b"answered 407 to CONNECT" in came


def test_upstream_on_this_machine_is_reached_without_an_http_proxy(monkeypatch: pytest.MonkeyPatch):
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(OK)

    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with upstream(script) as found:
        assert ask(found.base_url).endswith(b"\r\n\r\n{}")
