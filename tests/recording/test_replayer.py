from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from cassettes_of import ALL, BODY, SHARED, cassette_of, exchange, request, response
from msgspec.structs import replace

from conformance.client import Limits, Player, Stopped
from conformance.probes.cell import Cell
from conformance.recording import Deviation, Library, record, replaying
from conformance.recording.replayer import KEY, target_of
from conformance.redact import Secrets
from conformance.values import Exchange, Intent, Protocol, Request

TODAY = ("http://127.0.0.1:50000", "http://127.0.0.1:50001")
TARGET = replace(target_of(SHARED), base_urls=TODAY, limited="http://127.0.0.1:50002")
AUTHORIZED = (("Authorization", f"Bearer {KEY}"), ("Content-Type", "application/json"))


@pytest.fixture
def library(tmp_path: Path) -> Library:
    record(tmp_path, ALL, SHARED)
    return Library(tmp_path)


def replayer(library: Library, base: str = TODAY[0]):
    return replaying(library, TARGET, Secrets((KEY,)))(base, KEY, Limits())


def draft(step: int = 1, sent: Request | None = None, **given) -> Exchange:
    asked = sent or request(base=TODAY[0], headers=AUTHORIZED)
    return replace(exchange(step, request=asked, started=None, live=False), response=None, **given)


def test_an_exchange_is_answered_as_it_was_at_another_port(library: Library):
    sender = replayer(library)
    (found,) = sender.send(draft(2))
    assert (found.response, found.started, found.live) == (ALL[1].response, ALL[1].started, True)
    assert found.request.url.startswith(TODAY[0])
    assert sender.requests == 1


def test_every_attempt_is_played_and_only_the_first_is_fresh(library: Library):
    found = replayer(library).send(draft(4, intents=(Intent.FRESH, Intent.VALID)))
    assert [one.id.rpartition("/")[2] for one in found] == ["4", "4.2", "4.3"]
    assert [one.attempt for one in found] == [1, 2, 3]
    assert [one.intents for one in found] == [(Intent.FRESH, Intent.VALID), (Intent.VALID,), (Intent.VALID,)]
    assert found[1].response is None
    assert found[1].failure is not None


def test_a_long_text_is_compared_though_it_is_not_shown(library: Library):
    long = {**BODY, "messages": [{"role": "user", "content": "word " * 5000}]}
    (found,) = replayer(library).send(draft(9, request(long, base=TODAY[0], headers=AUTHORIZED)))
    assert found.response == ALL[-2].response
    long["messages"][0]["content"] += "!"
    with pytest.raises(Deviation, match="body /messages/0/content"):
        replayer(library).send(draft(9, request(long, base=TODAY[0], headers=AUTHORIZED)))


def changed(**fields) -> bytes:
    return json.dumps({**BODY, **fields}, separators=(",", ":")).encode()


DIFFERENCES = {
    "a value": (request(changed(max_completion_tokens=65)), "body /max_completion_tokens: recorded 64, now 65"),
    "a type": (request(changed(max_completion_tokens=True)), "body /max_completion_tokens: recorded 64, now True"),
    "a member more": (request(changed(stream=True)), "body /stream: recorded nothing, now True"),
    "an item less": (request(changed(messages=[])), "body /messages/0: recorded {'role'"),
    "a deep text": (
        request(changed(messages=[{"role": "user", "content": "Reply."}])),
        "body /messages/0/content: recorded 'Reply with OK.', now 'Reply.'",
    ),
    "no JSON": (request(b"{broken"), 'body: recorded \'{"model": "kimi-k3"'),
    "spaces": (request(json.dumps(BODY).encode() + b" "), "body: the same values, written differently"),
    "a method": (replace(request(), method="GET"), "method: recorded 'POST', now 'GET'"),
    "a path": (
        replace(request(), url=f"{TODAY[0]}/v1/messages"),
        "path: recorded '/v1/chat/completions', now '/v1/messages'",
    ),
    "the other base URL": (request(base=TODAY[1]), "base URL: recorded 1, now 2"),
    "no key": (
        request(headers=AUTHORIZED[1:]),
        "header authorization: recorded 'Bearer REDACTED', now nothing",
    ),
    "a media type": (
        request(headers=(AUTHORIZED[0], ("Content-Type", "text/plain"))),
        "header content-type: recorded 'application/json', now 'text/plain'",
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_another_request_than_the_recorded_one_names_the_field(name: str, library: Library):
    sent, words = DIFFERENCES[name]
    if sent.url.startswith("http://127.0.0.1:4000"):
        sent = replace(sent, url=sent.url.replace("http://127.0.0.1:4000", TODAY[0]))
    if sent.headers[:1] == (("Authorization", "Bearer REDACTED"),):
        sent = replace(sent, headers=AUTHORIZED)
    with pytest.raises(Deviation) as told:
        replayer(library).send(draft(1, sent))
    assert f"{cassette_of(library.folder)} holds another request at step 1: {words}" in str(told.value)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 500


LEFT = {
    "a header": (request(headers=(("Authorization", "Bearer canary-word-1"),)), "recorded 'Bearer and a key', now"),
    "a key": (request(changed(user="sk-canary0123456789abcdef")), "body /user: recorded '[hidden]', now nothing"),
}


@pytest.mark.parametrize("name", LEFT)
def test_a_secret_that_was_left_in_a_cassette_is_not_shown(name: str, tmp_path: Path):
    sent, words = LEFT[name]
    record(tmp_path, [exchange(request=sent)], SHARED)
    with pytest.raises(Deviation) as told:
        replayer(Library(tmp_path)).send(draft())
    assert words in str(told.value)
    assert "canary" not in str(told.value)


def test_a_probe_without_a_cassette_and_a_step_that_was_not_recorded_are_told(library: Library):
    with pytest.raises(Deviation, match="there is no cassette of it"):
        replayer(library).send(draft(probe="long-answer"))
    with pytest.raises(Deviation, match="holds no step 77"):
        replayer(library).send(draft(77))


def test_a_damaged_cassette_is_told_and_not_played(library: Library):
    cassette_of(library.folder).write_text("interactions:\n- what\n")
    with pytest.raises(Deviation, match="ends before its first interaction"):
        replayer(library).send(draft())


def test_a_cassette_under_another_name_is_not_played(library: Library):
    record(library.folder, [exchange()], SHARED)
    cassette_of(library.folder).rename(cassette_of(library.folder).with_name("long-answer.kimi-k3.yaml"))
    with pytest.raises(Deviation, match="it says that it is of short-answer/chat/kimi-k3"):
        replayer(library).send(draft(probe="long-answer"))


@pytest.mark.parametrize(("trial", "further"), [(1, False), (2, True)])
def test_asking_again_more_often_than_was_recorded_is_told_apart(trial: int, further: bool, library: Library):
    with pytest.raises(Deviation) as told:
        replayer(library).send(draft(77, trial=trial))
    assert told.value.further is further


@pytest.mark.parametrize("watchful", [True, False])
def test_a_replay_is_not_stopped_by_what_made_no_run_stop(watchful: bool, tmp_path: Path):
    broken = [exchange(step, response=response(b"{}", status=500)) for step in range(1, 41)]
    record(tmp_path, broken, SHARED)
    found: list[Exchange] = []
    connect = replaying(Library(tmp_path), TARGET, Secrets((KEY,)))
    player = Player(target=TARGET, record=found.append, connect=connect, watchful=watchful)
    cell = Cell(protocol=Protocol.CHAT, model="kimi-k3", seed=7)
    with pytest.raises(Stopped) if watchful else nullcontext():
        player.play("short-answer", cell, (cell.ask(BODY) for _ in broken))
    assert (len(found) < len(broken)) is watchful
