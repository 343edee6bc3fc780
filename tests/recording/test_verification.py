from __future__ import annotations

from pathlib import Path

import pytest
from cassettes_of import ALL, HERE, SHARED, cassette_of, exchange, journal_of, request, response
from msgspec.structs import replace

from conformance.recording import Library, record
from conformance.recording.library import Mixed
from conformance.recording.verification import problems, unused
from conformance.values import Protocol

USED = {("short-answer", Protocol.CHAT, "kimi-k3")}
TOKEN = "Zm9vYmFyYmF6cXV4cXV1eA"


def reasons(folder: Path, used=USED, keys=()) -> list[str]:
    return [one.reason for one in problems(Library(folder), used, keys)]


def test_a_sound_folder_has_no_problem(tmp_path: Path):
    record(tmp_path, ALL, SHARED)
    assert reasons(tmp_path) == []


def leaky(text: str, **given):
    return exchange(response=response(f'{{"text": "{text}"}}'.encode()), **given)


SECRETS = {
    "a key": leaky("sk-abcdefghijklmnop1234"),
    "a bearer token": leaky(f"Authorization: Bearer {TOKEN}"),
    "basic credentials": leaky("Basic dXNlcjpwYXNzd29yZA=="),
    "a JSON web token": leaky(f"eyJhbGciOiJI.eyJzdWIiOiIx.{TOKEN}"),
    "a private key": leaky("-----BEGIN RSA PRIVATE KEY-----"),
    "the value of Authorization": exchange(request=request(headers=(("Authorization", "Bearer hello"),))),
    "the value of x-api-key": exchange(request=request(headers=(("x-api-key", "hello"),))),
    "a key ": exchange(request=replace(request(), url=f"{HERE}/v1/chat/completions?a=sk-abcdefghijklmnop1234")),
    "the key that is in use now": leaky("here is canary-0123456789 in clear"),
    "the key that is in use now ": leaky("aGVyZSBpcyBjYW5hcnktMDEyMzQ1Njc4OSBpbiBiYXNlNjQ="),
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_found_and_not_shown(kind: str, tmp_path: Path):
    record(tmp_path, [SECRETS[kind]], SHARED)
    assert reasons(tmp_path, keys=("canary-0123456789",)) == [f"step 1 holds a secret: {kind.strip()}"]


def test_a_secret_within_the_events_that_are_not_shown_is_found(tmp_path: Path):
    parts = [b'data: {"number": %d, "text": "%s"}\n\n' % (n, b"x" * 40) for n in range(300)]
    parts[150] = b'data: {"text": "sk-abcdefghijklmnop1234"}\n\n'
    record(tmp_path, [exchange(response=response(*parts, media="text/event-stream"))], SHARED)
    assert "sk-abc" not in cassette_of(tmp_path).read_text()
    assert reasons(tmp_path) == ["step 1 holds a secret: a key"]


def test_what_is_no_longer_used_is_named_and_removed(tmp_path: Path):
    record(tmp_path, [exchange(response=ALL[1].response)], SHARED)
    library = Library(tmp_path)
    assert reasons(tmp_path, used=set()) == ["no probe of the suite plays it any more"]
    assert list(unused(library, set())) == [cassette_of(tmp_path)]
    assert list(unused(library, USED)) == []
    library.remove(cassette_of(tmp_path))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_beside_a_cassette_that_is_gone_is_named(tmp_path: Path):
    record(tmp_path, [ALL[1], exchange(probe="other", id="other/chat/kimi-k3/1")], SHARED)
    cassette_of(tmp_path).unlink()
    assert reasons(tmp_path, used={("other", Protocol.CHAT, "kimi-k3")}) == [
        "the cassette that it belongs to is not there"
    ]
    assert list(unused(Library(tmp_path), {("other", Protocol.CHAT, "kimi-k3")})) == [journal_of(tmp_path)]


def test_other_documents_another_name_and_damage_are_told(tmp_path: Path):
    record(tmp_path, [exchange()], replace(SHARED, specs={**SHARED.specs, "chat-all": "0" * 64, "responses": "0" * 64}))
    assert reasons(tmp_path) == ["recorded for another edition of the documents chat-all; record it again"]
    record(tmp_path, [exchange()], SHARED)
    moved = cassette_of(tmp_path).rename(cassette_of(tmp_path).with_name("moved.kimi-k3.yaml"))
    assert reasons(tmp_path) == ["its name does not fit what it says that it is of: short-answer/chat/kimi-k3"]
    moved.write_text("interactions: []\n")
    assert reasons(tmp_path) == ["empty: the cassette has no interaction"]


def test_an_empty_folder_and_cassettes_of_two_runs_are_told(tmp_path: Path):
    assert reasons(tmp_path) == ["there is no cassette here"]
    record(tmp_path, [exchange()], SHARED)
    record(tmp_path, [exchange(probe="other", id="other/chat/kimi-k3/1")], replace(SHARED, seed=8))
    with pytest.raises(Mixed, match=r"seed 8.*seed 7|seed 7.*seed 8"):
        Library(tmp_path).provenance()
    used = USED | {("other", Protocol.CHAT, "kimi-k3")}
    assert [reason.partition(":")[0] for reason in reasons(tmp_path, used)] == ["not of one run"]


def test_secrets_outside_the_exchanges_are_found_and_not_shown(tmp_path: Path):
    record(tmp_path, [exchange()], replace(SHARED, target="https://who:canary-word@kimi.example"))
    path = cassette_of(tmp_path)
    path.write_text(f"# sk-abcdefghijklmnop1234\n{path.read_text()}# canary-0123456789\n")
    found = reasons(tmp_path, keys=("canary-0123456789",))
    assert found == [
        f"holds a secret outside its exchanges: {kind}"
        for kind in ("a key", "the key that is in use now", "credentials in an address")
    ]


def test_what_was_recorded_and_is_gone_is_told(tmp_path: Path):
    record(tmp_path, [ALL[1], ALL[3], ALL[4], ALL[5]], SHARED)
    journal_of(tmp_path).unlink()
    assert reasons(tmp_path) == [
        "without steps 1, 3; record it again",
        "step 2: its parts and when they came are not kept; record it again",
    ]


def test_a_broken_cassette_still_says_what_it_is_of(tmp_path: Path):
    record(tmp_path, [exchange(probe="gone", id="gone/chat/kimi-k3/1")], SHARED)
    path = tmp_path / "chat" / "gone.kimi-k3.yaml"
    path.write_text(path.read_text().replace("- step: 1", "- step: 0"))
    assert reasons(tmp_path) == [
        "no probe of the suite plays it any more",
        "interaction 1: no step that is a number from 1",
    ]


def test_the_folder_of_a_surface_is_not_taken_for_that_of_the_cassettes(tmp_path: Path):
    record(tmp_path, [exchange()], SHARED)
    assert reasons(tmp_path / "chat") == [
        "there is no cassette here; cassettes lie in its folders chat, messages, responses"
    ]


def test_files_of_others_are_no_strays(tmp_path: Path):
    record(tmp_path, [exchange()], SHARED)
    log = tmp_path / "chat" / "my-log.jsonl"
    log.write_text('{"mine": 1}\n')
    (tmp_path / "chat" / "folder.jsonl").mkdir()
    assert reasons(tmp_path) == []
    assert list(unused(Library(tmp_path), USED)) == []
