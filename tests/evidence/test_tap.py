"""A tap's copy of what passes: whole, or cut within its bounds and told so."""

from __future__ import annotations

import json

import pytest

from conformance.evidence import tap as taps
from conformance.evidence.entries import MADE_UP, MARKER
from conformance.evidence.tap import LEFT, Budget, Tap, evidence_of
from conformance.values import Exchange, Failure, Protocol

URL = "https://host.example/v1/messages?beta=true"
BODY = json.dumps({"model": "kimi-k3.1-pro", "max_tokens": 5, "messages": []}).encode()


def tap(budget: Budget | None = None, url: str = URL, **headers: str) -> Tap:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Tap("7", "POST", url, pairs, budget or Budget(10**9))


def test_what_passed_becomes_a_live_exchange():
    one = tap(X_Stainless_Retry_Count="2")
    one.sent(BODY[:10])
    one.sent(BODY[10:])
    one.answered(200, [(b"Content-Type", b"application/json")])
    one.received(b"{")
    one.received(b"")
    one.received(b"}")
    seen = one.ended()
    found = evidence_of(seen)
    assert isinstance(found, Exchange)
    assert not seen.bounded
    assert (found.id, found.protocol, found.model) == ("7", Protocol.MESSAGES, "kimi-k3.1-pro")
    assert (found.live, found.file, found.attempt, found.failure) == (True, None, 3, None)
    assert (found.request.url, found.request.body) == (URL, BODY)
    assert [chunk.data for chunk in found.response.chunks] == [b"{", b"}"]
    assert found.started.endswith("Z")


@pytest.mark.parametrize("count", ["", "x", "-1", "99999", "²"])
def test_odd_retry_count_is_the_first_attempt(count: str):
    assert tap(X_Stainless_Retry_Count=count.encode("utf-8").decode("latin-1")).ended().attempt == 1


def test_failure_without_an_answer_is_kept():
    one = tap()
    one.sent(BODY)
    found = evidence_of(one.ended(Failure(kind="refused", message="no")))
    assert (found.response, found.failure.kind) == (None, "refused")


def test_answer_of_the_proxy_itself_is_a_failure():
    one = tap()
    one.answered(502, [(MARKER.upper().encode(), b"x")])
    one.received(b"{}")
    found = evidence_of(one.ended())
    assert isinstance(found, Exchange)
    assert (found.response, found.failure) == (None, MADE_UP)


def test_response_beyond_its_bound_is_cut(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(taps, "LARGEST_RESPONSE", 10)
    one = tap()
    one.answered(200, [])
    for _ in range(5):
        one.received(b"1234")
    seen = one.ended()
    assert b"".join(chunk.data for chunk in seen.response.chunks) == b"12341234"
    assert (seen.failure.kind, seen.failure.message) == ("cut", "the body is larger than 10 bytes")
    assert seen.bounded


def test_request_beyond_its_bound_is_not_judged_and_costs_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(taps, "LARGEST_REQUEST", 10)
    budget = Budget(10_000)
    one = tap(budget)
    one.sent(b"x" * 11)
    one.answered(200, [])
    one.received(b"{}")
    assert one.ended() is None
    assert budget.take(10_000)


def test_budget_is_shared_and_given_back():
    budget = Budget(1_000)
    first, second = tap(budget), tap(budget)
    first.answered(200, [])
    first.received(b"x" * 500)
    second.answered(200, [])
    second.received(b"x" * 500)
    seen = second.ended()
    assert (seen.failure.kind, seen.response.chunks) == ("cut", ())
    first.dropped()
    budget.give(seen.cost)
    assert budget.take(1_000)
    assert not budget.take(1)


def test_leaving_after_the_last_event_cuts_nothing():
    events = b'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'
    end = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    for body, failure in ((events, LEFT), (events + end, None)):
        one = tap()
        one.sent(json.dumps({"model": "kimi-k3", "stream": True}).encode())
        one.answered(200, [(b"Content-Type", b"text/event-stream")])
        one.received(body)
        assert evidence_of(one.ended(LEFT)).failure == failure


def test_coded_response_that_is_cut_says_so():
    one = tap()
    one.answered(200, [(b"Content-Encoding", b"gzip")])
    one.received(b"\x1f\x8b\x08\x00")
    assert evidence_of(one.ended()).failure.kind == "cut"


@pytest.mark.parametrize("url", ["https://h/v1/models", "https://h/", "\x00", "https://h/v1/messages/batches"])
def test_other_endpoints_are_no_evidence(url: str):
    assert isinstance(evidence_of(tap(url=url).ended()), str)
