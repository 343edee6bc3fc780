from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from os import mkfifo
from pathlib import Path

import pytest
from cassettes_of import ALL, BODY, PLAIN, SHARED, cassette_of, exchange, journal_of, request, response
from msgspec.structs import replace

from conformance.evidence import Unreadable, read
from conformance.evidence.replayable import SHORTENED
from conformance.recording import load, record
from conformance.recording.cassette import provenance_of
from conformance.values import Request

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import vcr
    from vcr.persisters.filesystem import FilesystemPersister
    from vcr.serializers import yamlserializer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    record(tmp_path, ALL, SHARED)
    return tmp_path


def test_every_exchange_comes_back_byte_for_byte(folder: Path):
    cassette = load(cassette_of(folder))
    assert len(cassette.interactions) == len(ALL)
    for one, sent in zip(cassette.interactions, ALL, strict=True):
        assert (one.response, one.failure) == (sent.response, sent.failure), sent.id
        assert (one.started, one.attempt, one.intents) == (sent.started, sent.attempt, sent.intents)
        assert one.live
        assert (one.request.method, one.request.url) == (sent.request.method, sent.request.url)
        assert one.request.headers == sent.request.headers


def test_requests_come_back_unless_they_are_shortened(folder: Path):
    interactions = load(cassette_of(folder)).interactions
    assert [one.shortened for one in interactions] == [len(sent.request.body) > 20_000 for sent in ALL]
    whole = [sent.request.body for sent in ALL if len(sent.request.body) < 20_000]
    assert [exchange.request.body for exchange in read(cassette_of(folder)).exchanges] == whole


def test_a_cassette_says_where_it_comes_from(folder: Path):
    row = provenance_of(cassette_of(folder))
    documents = {name: value for name, value in SHARED.specs.items() if name.startswith("chat-")}
    assert row == replace(SHARED, probe="short-answer", model="kimi-k3", specs=documents)
    assert row == load(cassette_of(folder)).provenance


def test_attempts_of_a_step_stand_in_their_order(folder: Path):
    cassette = load(cassette_of(folder))
    assert [one.attempt for one in cassette.step(4)] == [1, 2, 3]
    assert cassette.step(99) == ()


def test_vcrpy_reads_the_cassette(folder: Path):
    requests, responses, metadata = FilesystemPersister.load_cassette(cassette_of(folder), yamlserializer)
    assert [one.uri for one in requests] == [sent.request.url for sent in ALL]
    assert [one["status"]["code"] for one in responses] == [e.response.status if e.response else 0 for e in ALL]
    assert json.loads(requests[0].body) == json.loads(ALL[0].request.body)
    assert json.loads(responses[0]["body"]["string"]) == json.loads(PLAIN)
    assert responses[1]["body"]["string"] == b"".join(chunk.data for chunk in ALL[1].response.chunks)
    assert metadata["seed"] == SHARED.seed


def test_vcrpy_plays_the_cassette_to_a_client(tmp_path: Path):
    import httpx

    record(tmp_path, [exchange()], SHARED)
    with vcr.use_cassette(cassette_of(tmp_path), record_mode=vcr.mode.NONE):
        answer = httpx.post(exchange().request.url, content=exchange().request.body)
    assert answer.json() == json.loads(PLAIN)


def test_a_reviewer_reads_json_over_lines_and_streams_as_text(folder: Path):
    text = cassette_of(folder).read_text("utf-8")
    assert re.search(r'^ +"content": "word word', text, re.MULTILINE)
    assert '\n        data: {"id": "chatcmpl-1", "number": 1, "text": "' in text
    assert " events, are in the file beside this one\n" in text
    assert len(max(text.splitlines(), key=len)) < 400


def test_check_reads_the_cassette_with_its_streams_whole(folder: Path):
    recording = read(cassette_of(folder))
    assert recording.format == "vcrpy"
    assert recording.skipped == {SHORTENED: 1}
    whole = [sent for sent in ALL if len(sent.request.body) < 20_000]
    assert [one.response for one in recording.exchanges if one.response] == [e.response for e in whole if e.response]


@pytest.mark.parametrize(
    "sent",
    [replace(request(b""), method="GET"), request(b"{broken"), request({**BODY, "model": "no-such-model"})],
    ids=["no body", "no JSON", "another model"],
)
def test_what_names_no_model_counts_for_the_one_that_its_probe_was_for(sent: Request, tmp_path: Path):
    record(tmp_path, [exchange(1, request=sent)], SHARED)
    (found,) = read(cassette_of(tmp_path)).exchanges
    assert found.model == "kimi-k3"


def test_without_the_file_beside_it_a_short_stream_is_one_part_and_its_times_are_not_real(tmp_path: Path):
    record(tmp_path, [ALL[1]], SHARED)
    journal_of(tmp_path).unlink()
    (one,) = load(cassette_of(tmp_path)).interactions
    assert one.response is not None
    assert [chunk.data for chunk in one.response.chunks] == [b"".join(c.data for c in ALL[1].response.chunks)]
    assert not one.live


def test_an_edited_stream_is_played_in_one_part_as_edited(tmp_path: Path):
    record(tmp_path, [ALL[1]], SHARED)
    path = cassette_of(tmp_path)
    path.write_text(path.read_text().replace('"number": 3', '"number": 33'))
    (one,) = load(path).interactions
    assert b'"number": 33' in one.response.chunks[0].data
    assert len(one.response.chunks) == 1
    assert not one.live


DAMAGE = {
    "not YAML": (lambda text: text.replace("interactions:", "interactions:\n  - ["), "YAML"),
    "of another recorder": (lambda text: text.replace("kimi-conformance-cassette", "other"), "did not record"),
    "of another version": (
        lambda text: text.replace(
            "metadata:\n  format: kimi-conformance-cassette\n  version: 1",
            "metadata:\n  format: kimi-conformance-cassette\n  version: 9",
        ),
        "another version",
    ),
    "without a seed": (lambda text: text.replace("  seed: 7\n", ""), "broken metadata"),
    "without a step": (lambda text: text.replace("- step: 3", "- step: soon"), "interaction 3: no step"),
    "without a status": (
        lambda text: text.replace("code: 503", "code: soon"),
        "interaction 4: no response with a status",
    ),
    "JSON that is none": (
        lambda text: text.replace('"object": "chat.completion"', '"object": "chat'),
        "marked as JSON",
    ),
    "cut off": (lambda text: text[: len(text) // 2].rstrip("\n"), "cut off"),
    "empty": (lambda text: "", "without a list of interactions"),
    "no text": (lambda text: text.replace("kimi-k3", "\udcff"), "it is no text in UTF-8"),
    "a night that is none": (
        lambda text: text.replace('2026-01-02"\n  seed', '2026-13-77"\n  seed'),
        "broken metadata",
    ),
    "no address": (
        lambda text: re.sub(r"base_urls:\n(?:  - .*\n)+", "base_urls: []\n", text),
        "expected an address in base_urls",
    ),
    "an attempt twice": (
        lambda text: text.replace("  attempt: 3", "  attempt: 2"),
        r"step 4 has the attempts 1, 2, 2; expected each once, from 1",
    ),
    "an attempt less": (
        lambda text: text.replace("  attempt: 3", "  attempt: 4"),
        r"step 4 has the attempts 1, 2, 4; expected each once, from 1",
    ),
    "an anchor": (lambda text: text.replace("model: kimi-k3\n", "model: &a kimi-k3\n  b: *a\n"), "alias"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_cassette_says_what_is_wrong(name: str, folder: Path):
    damage, words = DAMAGE[name]
    path = cassette_of(folder)
    path.write_text(damage(path.read_text("utf-8")), "utf-8", errors="surrogateescape")
    with pytest.raises(Unreadable, match=words):
        load(path)


@pytest.mark.parametrize("make", [Path.mkdir, mkfifo], ids=["a folder", "a pipe"])
def test_what_is_no_file_is_not_waited_for(make: Callable[[Path], None], tmp_path: Path):
    make(tmp_path / "pipe.yaml")
    for reads in (load, provenance_of):
        with pytest.raises(Unreadable, match="no regular file"):
            reads(tmp_path / "pipe.yaml")


BESIDE = {
    "missing": (None, "missing"),
    "empty": (b"", "no file of chunks"),
    "foreign": (b'{"format":"other","version":1}\n', "expected kimi-conformance-chunks"),
    "broken": (b'{"format":"kimi-conformance-chunks","version":1}\n{"interaction":\n', "no file of chunks"),
    "bytes that do not unfold": (
        (
            b'{"format":"kimi-conformance-chunks","version":1}\n'
            b'{"interaction":3,"us":[],"sizes":[],"omitted":{"at":0,"deflated":"AAAA"}}\n'
        ),
        "does not fit",
    ),
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_damaged_file_beside_it_says_what_is_wrong(name: str, folder: Path):
    data, words = BESIDE[name]
    if data is None:
        journal_of(folder).unlink()
    else:
        journal_of(folder).write_bytes(data)
    with pytest.raises(Unreadable, match=words):
        load(cassette_of(folder))


def test_recording_again_leaves_no_file_of_former_streams(tmp_path: Path):
    record(tmp_path, [ALL[1]], SHARED)
    assert journal_of(tmp_path).exists()
    record(tmp_path, [exchange(response=response(PLAIN), request=request())], SHARED)
    assert not journal_of(tmp_path).exists()
