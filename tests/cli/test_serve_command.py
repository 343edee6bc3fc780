"""``serve``: it says where it listens, answers, and stops on a signal."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from conformance.cli import main

SECONDS = 60  # of patience: a loaded machine is slow, and what never comes is rare


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-u", "-m", "conformance.cli", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603 (ours)
    try:
        line = process.stdout.readline()
        assert line.startswith("serving http://127.0.0.1:"), line
        yield line.split()[1], process
    finally:
        process.kill()
        process.wait(SECONDS)
        process.stdout.close()


def ask(base_url: str, key: str) -> int:
    body = {"model": "kimi-k3", "max_tokens": 64, "messages": [{"role": "user", "content": "Reply with OK."}]}
    request = urllib.request.Request(  # noqa: S310 (loopback)
        f"{base_url}/v1/messages",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as response:  # noqa: S310 (loopback)
            return response.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal(number):
    with serving() as (base_url, process):
        surfaces = [process.stdout.readline().split()[0] for _ in range(3)]
        assert surfaces == ["chat", "messages", "responses"]
        assert ask(base_url, "sk-reference") == 200
        process.send_signal(number)
        assert process.wait(SECONDS) == 0
        assert process.stdout.read() == "stopped\n"


def test_keys_and_rate_are_those_that_were_given():
    with serving("--key", "one", "--key", "two", "--rpm", "1") as (base_url, _):
        assert [ask(base_url, key) for key in ("one", "one", "two", "sk-reference")] == [200, 429, 200, 401]


def test_a_port_that_is_taken_is_a_clear_usage_error():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(main, ["serve", "--port", str(port)])
    assert result.exit_code == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in result.output
    assert "Choose another with --port" in result.output


@pytest.mark.parametrize("host", ["a..b\xe4", "\x1b[31mevil\u202e", "x" * 64 + "\xe4.example"])
def test_a_host_that_no_name_can_be_is_refused(host: str):
    result = CliRunner().invoke(main, ["serve", "--host", host, "--port", "0"], color=True)
    assert result.exit_code == 2
    assert "is no name of a host" in result.stderr
    assert "\x1b" not in result.stderr


def test_an_empty_host_is_refused():
    result = CliRunner().invoke(main, ["serve", "--host", "", "--port", "0"])
    assert result.exit_code == 2
    assert "--host is empty" in result.stderr
