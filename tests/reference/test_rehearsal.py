"""A prompt that asks for a failure gets one, in the form of its surface."""

from __future__ import annotations

import json

import pytest

from conformance.protocols import BUILDERS
from conformance.reference import DEFAULT_KEY, Settings
from conformance.reference.application import Server
from conformance.reference.hooks import Hooks
from conformance.values import Protocol

BROKEN = "Count from 1 to 9. Fail in the middle of the stream."
FAILED = "Count from 1 to 9. End with the status failed."


def answered(protocol, prompt, *, stream):
    body = BUILDERS[protocol].body("kimi-k3.1-pro", user=prompt, limit=2000, stream=stream)
    headers = [("Authorization", f"Bearer {DEFAULT_KEY}"), ("Content-Type", "application/json")]
    head, wire = Server(Settings(), Hooks()).respond(
        "POST", BUILDERS[protocol].path, headers, json.dumps(body).encode()
    )
    return head.status, b"".join(wire).decode()


def events(text):
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines())
        if "data" in lines:
            data = lines["data"]
            yield lines.get("event"), data if data == "[DONE]" else json.loads(data)


@pytest.mark.parametrize(
    ("protocol", "name", "place"),
    [
        (Protocol.CHAT, None, -2),
        (Protocol.MESSAGES, "error", -1),
        (Protocol.RESPONSES, "error", -1),
    ],
)
def test_a_stream_breaks_off_with_the_surfaces_own_error(protocol, name, place):
    status, text = answered(protocol, BROKEN, stream=True)
    found = list(events(text))
    event, data = found[place]
    assert (status, event) == (200, name)
    error = data if protocol is Protocol.RESPONSES else data["error"]
    assert "failed in the middle" in error["message"]
    assert (found[-1][1] == "[DONE]") == (protocol is Protocol.CHAT)


def test_events_of_a_broken_stream_keep_their_numbers():
    _, text = answered(Protocol.RESPONSES, BROKEN, stream=True)
    assert [data["sequence_number"] for _, data in events(text)] == list(range(len(list(events(text)))))


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_ends_as_failed_with_an_error_and_without_a_message(stream):
    _, text = answered(Protocol.RESPONSES, FAILED, stream=stream)
    if stream:
        name, data = list(events(text))[-1]
        assert (name, data["type"]) == ("response.failed", "response.failed")
        body = data["response"]
        done = [data["item"] for name, data in events(text) if name == "response.output_item.done"]
        assert body["output"] == done
    else:
        body = json.loads(text)
    assert (body["status"], body["error"]["code"]) == ("failed", "server_error")
    assert {item["type"] for item in body["output"]} == {"reasoning"}


@pytest.mark.parametrize(
    ("protocol", "prompt", "stream"),
    [(Protocol.CHAT, BROKEN, False), (Protocol.CHAT, FAILED, False), (Protocol.MESSAGES, FAILED, True)],
)
def test_where_a_surface_or_mode_has_no_such_end_it_answers_as_usual(protocol, prompt, stream):
    status, text = answered(protocol, prompt, stream=stream)
    assert status == 200
    assert "error" not in text
