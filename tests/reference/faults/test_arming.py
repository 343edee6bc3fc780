"""A fault breaks its surfaces and modes and nothing else, also where a request is refused before its body is read."""

from __future__ import annotations

import json

import pytest

from conformance.reference.application import Server
from conformance.reference.faults import FAULTS
from conformance.reference.hooks import Context, Head, Hooks, Wire
from conformance.reference.settings import DEFAULT_KEY, Settings
from conformance.values import Protocol

PATHS = {
    Protocol.CHAT: "/v1/chat/completions",
    Protocol.MESSAGES: "/v1/messages",
    Protocol.RESPONSES: "/v1/responses",
}
BODIES: dict[Protocol, dict[str, object]] = {
    Protocol.CHAT: {"messages": [{"role": "user", "content": "Reply with OK."}], "max_completion_tokens": 512},
    Protocol.MESSAGES: {"messages": [{"role": "user", "content": "Reply with OK."}], "max_tokens": 512},
    Protocol.RESPONSES: {"input": "Reply with OK.", "max_output_tokens": 512},
}


def status(hooks: Hooks, protocol: Protocol, *, stream: bool, key: str | None) -> int:
    body = {"model": "kimi-k3.1-pro", **BODIES[protocol], **({"stream": True} if stream else {})}
    headers = [("Content-Type", "application/json"), *([("Authorization", f"Bearer {key}")] if key else [])]
    head, _ = Server(Settings(), hooks).respond("POST", PATHS[protocol], headers, json.dumps(body).encode())
    return head.status


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("mode", ["json", "stream"])
def test_fault_before_the_body_is_read_keeps_to_its_mode(protocol: Protocol, mode: str) -> None:
    hooks = FAULTS["auth-missing-key-accepted"].hooks(protocols=(protocol,), modes=(mode,))
    for surface in Protocol:
        for stream in (False, True):
            broken = surface is protocol and stream == (mode == "stream")
            assert status(hooks, surface, stream=stream, key=None) == (200 if broken else 401)


def test_fault_without_a_readable_body_counts_as_json() -> None:
    hooks = FAULTS["malformed-as-500"].hooks()
    head, _ = Server(Settings(), hooks).respond(
        "POST", PATHS[Protocol.CHAT], [("Authorization", f"Bearer {DEFAULT_KEY}")], b'{"stream": true'
    )
    assert head.status == 500


def test_state_of_a_fault_is_not_shared_between_servers() -> None:
    fault = FAULTS["second-url-refuses"]
    hooks = fault.hooks()
    assert status(hooks, Protocol.CHAT, stream=False, key=DEFAULT_KEY) == 200
    assert status(fault.hooks(), Protocol.CHAT, stream=False, key=DEFAULT_KEY) == 200


def test_sent_sees_the_head_with_the_body() -> None:
    seen: list[tuple[int, bytes]] = []

    def note(_: Context, sent: tuple[Head, Wire]) -> tuple[Head, Wire]:
        head, wire = sent
        seen.append((head.status, b"".join(part for part in wire if isinstance(part, bytes))))
        return Head(status=418, headers=head.headers), [b"short and stout"]

    assert status(Hooks(sent=note), Protocol.CHAT, stream=False, key=None) == 418
    assert seen[0][0] == 401
    assert json.loads(seen[0][1])["error"]["code"] == "invalid_api_key"
