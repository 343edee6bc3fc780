"""The journal: what is appended is on disk at once, and reads back as it was."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace

from conformance.evidence import Journal, Unreadable, parse, read
from conformance.values import Chunk, Exchange, Failure, Intent, Protocol, Request, Response

EXCHANGE = Exchange(
    id="plain/chat/1",
    protocol=Protocol.CHAT,
    model="kimi-k3",
    request=Request(
        method="POST", url="http://127.0.0.1:1/v1/chat/completions", headers=(("A", "b"),), body=b"\x00\xff"
    ),
    response=Response(status=200, headers=(("c", "d"),), chunks=(Chunk(ms=1.5, data=b"da"), Chunk(ms=2.5, data=b"ta"))),
    failure=Failure(kind="reset", message="gone"),
    probe="plain",
    intents=(Intent.VALID, Intent.FRESH),
    parent="plain/chat/0",
    started="2026-06-14T09:30:00.000Z",
    attempt=2,
    live=True,
)


def test_an_exchange_reads_back_as_it_was(tmp_path):
    path = tmp_path / "new" / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(EXCHANGE)
        journal.extend([replace(EXCHANGE, id="2"), replace(EXCHANGE, id="3", response=None)])
    recording = read(path)
    assert recording.format == "journal"
    assert recording.exchanges[0] == replace(EXCHANGE, file=str(path))
    assert [exchange.id for exchange in recording.exchanges] == ["plain/chat/1", "2", "3"]


def test_an_exchange_is_on_disk_before_the_next_one(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for count in range(1, 4):
            journal.append(EXCHANGE)
            assert len(read(path).exchanges) == count


def test_threads_share_a_journal(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        threads = [threading.Thread(target=journal.extend, args=([EXCHANGE] * 50,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(read(path).exchanges) == 200


def test_a_lone_surrogate_in_a_header_is_written_as_an_escape(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(replace(EXCHANGE, request=replace(EXCHANGE.request, headers=(("a", "\udce4"),))))
    (exchange,) = read(path).exchanges
    assert exchange.request.headers == (("a", "\\udce4"),)
    assert exchange.request.body == EXCHANGE.request.body


def lines(tmp_path) -> list[bytes]:
    path = tmp_path / "whole.jsonl"
    with Journal(path) as journal:
        journal.extend([EXCHANGE, EXCHANGE])
    return path.read_bytes().splitlines(keepends=True)


def test_a_last_line_that_was_cut_off_is_told(tmp_path):
    header, first, second = lines(tmp_path)
    recording = parse(header + first + second[:40], "j")
    assert len(recording.exchanges) == 1
    assert recording.cut == f"cut off at byte {len(header + first) + 40}, in line 3"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda header, first, second: header, "empty: the journal has no exchange"),
        (lambda header, first, second: header + b"{}\n" + second, "line 2 at byte 50 is not an exchange"),
        (lambda header, first, second: header + b"[" * 100_000 + b"\n" + second, "line 2 at byte 50"),
        (lambda header, first, second: header + b"\xff\n" + second, "line 2 at byte 50"),
        (lambda header, first, second: header.replace(b"1}", b"2}") + first, "version 2; this release reads version 1"),
        (lambda header, first, second: header.replace(b"1}", b"null}") + first, "header line is broken"),
        (lambda header, first, second: header[:-5], "header line is broken"),
    ],
)
def test_a_broken_journal_is_refused_with_its_reason(tmp_path, change, reason):
    with pytest.raises(Unreadable, match=reason):
        parse(change(*lines(tmp_path)), "j")
