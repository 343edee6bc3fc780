"""The command against servers whose bytes are no proper HTTP, or would fill any memory."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import hostile_servers as servers
import pytest

from conformance.reports.runfile import read_run

KEY = "sk-hostile-0123456789abcdef"
LONGEST = 600.0  # seconds: the machine may be busy, and what never ends takes longer still
MEMORY = 1024**3  # bytes of addresses that the command may take
BOMB = 1_200_000_000  # bytes that one unfolds to

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
COOKIES = b"".join(b"Set-Cookie: name%d=%s\r\n" % (number, b"x" * 40) for number in range(1400))
NUMBERS = b'{"usage": {"prompt_tokens": ' + b"9" * 100_000 + b', "total_tokens": 1e999999}}'
LINES = b"X-A: b\r\n" * 1000
NO_HTTP = "does not answer in HTTP"
STOPPED = "the run is partial: the target stopped answering"
ENDLESS = "not verified: partial run: the target does not end its answers"
LIMITED = "requests came to nothing: 12 rate limited (HTTP 429); send more slowly with --rpm"


def always(data: bytes) -> servers.Handler:
    return servers.always(lambda connection, _: connection.send(data))


CASES = {
    "speaks HTTP/0.9": (servers.raw(b"{}"), 3, "closes the connection without an answer"),
    "speaks TLS on a plain port": (servers.raw(b"\x15\x03\x01\x00\x02\x02\x28"), 3, NO_HTTP),
    "speaks HTTP/2": (servers.raw(b"\x00\x00\x12\x04" + bytes(23)), 3, NO_HTTP),
    "switches protocols": (servers.raw(b"HTTP/1.1 101 X\r\nUpgrade: x\r\n\r\n"), 3, NO_HTTP),
    "answers with the status 999": (servers.raw(b"HTTP/1.1 999 X\r\nContent-Length: 2\r\n\r\n{}"), 1, "(HTTP 999)"),
    "says two lengths": (servers.raw(OK + b"Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}"), 3, NO_HTTP),
    "says more than it announced": (always(OK + b"Content-Length: 2\r\n\r\n{}" + b"x" * 5000), 1, "required-fields"),
    "chunks garbage": (servers.raw(CHUNKED + b"ZZ\r\n{}\r\n"), 1, STOPPED),
    "announces a chunk of 16 EiB": (servers.without_end(CHUNKED + b"F" * 16 + b"\r\n", b"x" * 65536), 3, ENDLESS),
    "never ends a chunk's extension": (servers.without_end(CHUNKED + b"5;", b"x" * 65536), 1, STOPPED),
    "never ends its trailers": (servers.without_end(CHUNKED + b"2\r\n{}\r\n0\r\n", LINES), 1, STOPPED),
    "never ends its headers": (servers.without_end(OK, LINES), 3, NO_HTTP),
    "floods with cookies": (always(OK + COOKIES + b"Content-Length: 2\r\n\r\n{}"), 1, "required-fields"),
    "calls thrice coded what is not": (servers.fixed(200, b"{}", "Content-Encoding: gzip, br, zstd"), 1, STOPPED),
    "counts beyond measure": (servers.fixed(200, NUMBERS), 1, "not conforming"),
    "wants to be left alone for ever": (servers.fixed(429, b"{}", f"Retry-After: {'9' * 400}"), 1, LIMITED),
    "wants to be left alone until no day": (
        servers.fixed(429, b"{}", "Retry-After: 99 Foo 99999999 99:99"),
        1,
        LIMITED,
    ),
}


def run(url: str, folder: Path, *, memory: int | None = None) -> subprocess.CompletedProcess[str]:
    """A small run; ``memory`` bounds the addresses that it may take, in bytes."""
    options = ("--target", url, "--out", "out", "--profile", "smoke", "--model", "kimi-k3.1-pro", "--protocol", "chat")
    bounded = None if memory is None else partial(resource.setrlimit, resource.RLIMIT_AS, (memory, memory))
    return subprocess.run(  # noqa: S603 (our own command; nothing runs in threads between fork and exec)
        [sys.executable, "-m", "conformance.cli", "run", *options],
        cwd=folder,
        env={**os.environ, "KIMI_API_KEY": KEY},
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
        preexec_fn=bounded,
    )


@pytest.mark.parametrize("name", CASES)
def test_a_server_that(name: str, tmp_path: Path) -> None:
    handler, code, words = CASES[name]
    with servers.serving(handler) as server:
        ended = run(server.url, tmp_path)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert words in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
    read_run(tmp_path / "out" / "run.jsonl")


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_bomb_unfolds_within_bounds(coding: str, tmp_path: Path) -> None:
    with servers.serving(servers.bomb(coding, BOMB)) as server:
        ended = run(server.url, tmp_path, memory=MEMORY)
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert ENDLESS in ended.stdout
    assert sum(path.stat().st_size for path in (tmp_path / "out").iterdir()) < 20_000_000


def test_a_redirect_takes_the_key_nowhere(tmp_path: Path) -> None:
    came: list[bytes] = []

    def elsewhere(connection: servers.Connection) -> None:
        with contextlib.suppress(OSError):
            came.append(connection.socket.recv(65536))

    with servers.serving(elsewhere) as other:
        back = f"Location: {other.url}/v1/chat/completions"
        with servers.serving(servers.fixed(307, b"", back)) as server:
            ended = run(server.url, tmp_path)
    assert server.seen > 3
    assert came == []
    assert ended.returncode == 1, ended.stdout + ended.stderr
