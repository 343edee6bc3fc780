"""Requests that came to nothing: what counts as such, and what a run says of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import hostile_servers as servers
import pytest
from commands import command

from conformance.client.losses import Losses, told
from conformance.probes.script import Credentials, Place, Step
from conformance.values import Exchange, Failure, Intent, Protocol, Request, Response

STEP = Step(body=b"{}")


def exchange(came: int | str, model: str = "kimi-k3") -> Exchange:
    """An exchange with an answer of this status, or a failure of this kind."""
    return Exchange(
        id="1",
        protocol=Protocol.CHAT,
        model=model,
        request=Request(method="POST", url="http://127.0.0.1/v1/chat/completions"),
        response=Response(status=came) if isinstance(came, int) else None,
        failure=Failure(kind=came, message="") if isinstance(came, str) else None,
    )


def counted(*steps: tuple[Step, Exchange]) -> Losses:
    losses = Losses()
    for step, came in steps:
        losses.count(step, came)
    return losses


@pytest.mark.parametrize(
    ("came", "words"),
    [
        (429, "1 rate limited (HTTP 429); send more slowly with --rpm, or run again later"),
        (401, "1 HTTP 401; look at the key and what it may still spend"),
        (402, "1 HTTP 402; look at the key and what it may still spend"),
        (502, "1 HTTP 502; run again when the target is well"),
        (503, "1 HTTP 503; run again when the target is well"),
        (504, "1 HTTP 504; run again when the target is well"),
        (529, "1 HTTP 529; run again when the target is well"),
        ("timeout", "1 no answer in time; run again when the target is well"),
        ("reset", "1 closed without an answer; run again when the target is well"),
        ("refused", "1 no connection; run again when the target is well"),
        ("protocol", "1 no answer in HTTP; run again when the target is well"),
    ],
)
def test_an_answer_that_shows_nothing_of_the_service_is_a_loss(came: int | str, words: str) -> None:
    assert told([counted((STEP, exchange(200)), (STEP, exchange(came)))]) == f"1 of 2 requests came to nothing: {words}"


@pytest.mark.parametrize("came", [200, 302, 400, 403, 404, 413, 500, 501])
def test_an_answer_that_is_judged_is_none(came: int) -> None:
    assert told([counted((STEP, exchange(200)), (STEP, exchange(came)))]) is None


@pytest.mark.parametrize(
    ("step", "came"),
    [
        (Step(body=b"", place=Place.LIMITED, patient=False), 429),  # the limit is what is tested
        (Step(body=b"", intents=(Intent.OVERSIZED,), patient=False), 429),
        (Step(body=b"", intents=(Intent.HOSTILE,)), 503),
        (Step(body=b"", intents=(Intent.HOSTILE,)), "reset"),
        (Step(body=b"", intents=(Intent.HOSTILE,)), "timeout"),
        (Step(body=b"", credentials=Credentials.INVALID), 401),
        (Step(body=b"", cures=False), 401),
    ],
)
def test_an_answer_that_the_probe_asks_for_is_none(step: Step, came: int | str) -> None:
    assert told([counted((STEP, exchange(200)), (step, exchange(came)))]) is None


def test_a_hostile_request_without_a_connection_or_beyond_the_rate_is_one() -> None:
    hostile = Step(body=b"", intents=(Intent.HOSTILE,))
    assert told([counted((hostile, exchange("refused")))])
    assert told([counted((hostile, exchange(429)))])


def test_losses_of_several_processes_are_added_and_the_most_frequent_comes_first() -> None:
    one = counted((STEP, exchange(503)), (STEP, exchange(200)))
    two = counted(*[(STEP, exchange(429))] * 2)
    assert told([one, two]) == (
        "3 of 4 requests came to nothing: 2 rate limited (HTTP 429), 1 HTTP 503; "
        "send more slowly with --rpm, or run again later"
    )


def test_a_surface_and_model_on_which_nothing_was_accepted_is_told() -> None:
    well = counted((STEP, exchange(200, "kimi-k3.1-pro")), (STEP, exchange(500, "kimi-k3.1-pro")))
    assert told([well]) is None
    assert told([well, counted((STEP, exchange(500)), (STEP, exchange(404)), (STEP, exchange(404)))]) == (
        "no valid request was accepted on chat/kimi-k3 (HTTP 404)"
    )
    invalid = Step(body=b"{}", cures=False)
    assert told([well, counted((invalid, exchange(404)))]) is None
    assert told([well, counted((STEP, exchange(400)))]) is None


# ------------------------------------------------------------------ whole runs


def envelope(kind: str, words: str) -> Callable[[bytes], bytes]:
    """The error envelope of the surface that a request goes to."""
    error = {"message": words, "type": kind}
    openai = json.dumps({"error": {**error, "code": None}}).encode()
    anthropic = json.dumps({"type": "error", "request_id": "req_1", "error": error}).encode()
    return lambda request: anthropic if b"/v1/messages" in request else openai


def always(status: int, kind: str, *headers: str, after: int = 0) -> servers.Handler:
    """An error to every request beyond the first ones, to which {} is an answer."""
    body = envelope(kind, "Not now.")

    def answer(connection: servers.Connection, request: bytes) -> None:
        if connection.number <= after:
            connection.answer(200, b"{}")
        else:
            connection.answer(status, body(request), *headers)

    return servers.always(answer)


FOR_EVER = {
    "429": (always(429, "rate_limit_error", "Retry-After: 0"), "rate limited (HTTP 429); send more slowly with --rpm"),
    "429 for an hour": (always(429, "rate_limit_error", "Retry-After: 3600"), "rate limited (HTTP 429); send more"),
    "503": (always(503, "overloaded_error", "Retry-After: 0"), "HTTP 503; run again when the target is well"),
    "401 after the look": (always(401, "authentication_error", after=3), "HTTP 401; look at the key"),
}


@pytest.mark.parametrize("name", FOR_EVER)
def test_a_target_that_answers_for_ever_with(name: str, tmp_path: Path) -> None:
    handler, words = FOR_EVER[name]
    with servers.serving(handler) as server:
        options = ("--profile", "smoke", "--model", "kimi-k3", "--target", server.url, "--out", "out")
        ran = command("run", *options, cwd=tmp_path)
    assert ran.code == 3, ran.stdout + ran.stderr
    [line] = [line for line in ran.stdout.splitlines() if "not verified" in line]
    assert "not verified: partial run: 6 of 6 requests came to nothing: 6 " in line
    assert words in line
    assert [finding for finding in ran.report["findings"] if finding["level"] == "must"] == []
    assert ran.report["run"]["partial"] in line


def test_a_target_that_fails_for_ever_conforms_nowhere(tmp_path: Path) -> None:
    with servers.serving(always(500, "api_error")) as server:
        options = ("--profile", "smoke", "--model", "kimi-k3", "--target", server.url, "--out", "out")
        ran = command("run", *options, cwd=tmp_path)
    assert ran.code == 3, ran.stdout + ran.stderr
    assert "no valid request was accepted on chat/kimi-k3 (HTTP 500), nor on 2 more" in ran.stdout


def test_a_rate_limit_that_breaks_the_documents_is_a_failure(tmp_path: Path) -> None:
    with servers.serving(servers.fixed(429, b"<html>", media_type="text/html")) as server:
        options = ("--profile", "smoke", "--model", "kimi-k3", "--target", server.url, "--out", "out")
        ran = command("run", *options, cwd=tmp_path)
    assert ran.code == 1, ran.stdout + ran.stderr
    assert "http.content-type.error" in ran.stdout
    assert "the run is partial: 6 of 6 requests came to nothing" in ran.stdout
