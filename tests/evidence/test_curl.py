"""The output of curl -i, and the request that belongs to it."""

from __future__ import annotations

import pytest

from conformance.evidence import Reading, Unreadable, parse
from conformance.values import Exchange, Protocol

BODY = '{"object":"chat.completion"}'
OUTPUT = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX: a:b\r\n\r\n{BODY}"
URL = "https://h/v1/chat/completions"


def only(text: str, request: str | None = None) -> Exchange:
    (exchange,) = parse(text.encode(), "out.txt", Reading(request=request)).exchanges
    return exchange


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A file with a body beside the command."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "body.json").write_text('{"a":\n1}\n', "utf-8")


@pytest.mark.parametrize(
    ("command", "method", "headers", "body"),
    [
        (f"curl -i {URL} -d '{{}}'", "POST", (), b"{}"),
        (f"$ curl -isSN '{URL}' -H 'A: b' -H \"C: d\" --data-raw '@x'", "POST", (("A", "b"), ("C", "d")), b"@x"),
        (f"curl -i \\\n  -X PUT \\\n  --url {URL} --data=a -d b", "PUT", (), b"a&b"),
        (f"curl -XDELETE -i {URL}", "DELETE", (), b""),
        (f"curl --json '{{}}' {URL} -i -m 30 -o /dev/stdout", "POST", (("Content-Type", "application/json"),), b"{}"),
        (
            f"curl -u me:secret-word -i {URL} --max-time 3 --compressed",
            "GET",
            (("Authorization", "Basic REDACTED"),),
            b"",
        ),
        (f"curl -i {URL} -d @body.json", "POST", (), b'{"a":1}'),
        (f"curl -i {URL} --data-binary @body.json", "POST", (), b'{"a":\n1}\n'),
    ],
)
@pytest.mark.usefixtures("beside")
def test_a_command_is_read(command, method, headers, body):
    exchange = only(f"{command}\n{OUTPUT}")
    assert (exchange.request.method, exchange.request.url, exchange.request.headers) == (method, URL, headers)
    assert exchange.request.body == body
    assert exchange.response.headers == (("Content-Type", "application/json"), ("X", "a:b"))
    assert exchange.response.chunks[0].data == BODY.encode()


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("HTTP/2 429 \r\na: b\r\n\r\n", 429),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\na: b\r\n\r\n", 201),
        ("HTTP/1.1 200 Connection established\n\nHTTP/2 500\na: b\n\n", 500),
        ("HTTP/3 200 \n\n", 200),
    ],
)
def test_heads_of_every_version_are_read(head, status):
    exchange = only(f"curl {URL}\n{head}{BODY}")
    assert (exchange.response.status, exchange.response.chunks[0].data) == (status, BODY.encode())


def test_a_request_lies_in_a_file_of_its_own(tmp_path):
    path = tmp_path / "request.json"
    path.write_text('{"model":"kimi-k3"}\n', "utf-8")
    exchange = only(OUTPUT, str(path))
    assert (exchange.protocol, exchange.model) == (Protocol.CHAT, "kimi-k3")
    assert exchange.request.body == b'{"model":"kimi-k3"}'
    path.write_text(f"curl {URL} -d 'x'", "utf-8")
    assert only(OUTPUT, str(path)).request.url == URL


def test_a_body_that_is_shorter_than_its_length_is_cut():
    text = f"curl {URL}\n" + OUTPUT.replace("X: a:b", "Content-Length: 999")
    recording = parse(text.encode(), "o")
    assert recording.cut == f"cut off: {len(BODY)} of 999 bytes of the body"
    assert recording.exchanges[0].failure.kind == "cut"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (OUTPUT, "without its request; --request FILE names"),
        (f"curl {URL}", "without the output of curl -i"),
        (f"curl 'unclosed\n{OUTPUT}", "cannot be read"),
        (f"curl -i -d x\n{OUTPUT}", "without a URL"),
        (f"curl {URL} -d @-\n{OUTPUT}", "standard input"),
        (f"curl {URL} -d @absent\n{OUTPUT}", "No such file"),
        (f"curl {URL}\nHTTP/1.1 200 OK\r\nContent", "the head of the answer has no end"),
    ],
)
def test_what_is_missing_is_named(text, reason):
    with pytest.raises(Unreadable, match=reason):
        parse(text.encode(), "out.txt")


def test_a_request_that_cannot_be_placed_is_refused(tmp_path):
    path = tmp_path / "r"
    path.write_text("{}", "utf-8")
    for text, request, reason in (
        (OUTPUT.replace("chat.completion", "x"), str(path), "does not say which endpoint"),
        (OUTPUT, str(tmp_path / "absent"), "No such file"),
        (OUTPUT, "a\0b", "no such file"),
    ):
        with pytest.raises(Unreadable, match=reason):
            parse(text.encode(), "o", Reading(request=request))
