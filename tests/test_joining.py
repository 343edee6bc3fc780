from __future__ import annotations

import tracemalloc
from pathlib import Path

import msgspec
import pytest

from conformance.evidence import Journal
from conformance.evidence.journal import header
from conformance.plugin.joining import join, recorded
from conformance.values import Exchange, Protocol, Request

PLACES = {"first/chat/kimi-k3": 0, "second/chat/kimi-k3": 1}
IDS = [
    "first/chat/kimi-k3/1",
    "second/chat/kimi-k3/1",
    "second/chat/kimi-k3/2",
    "second/chat/kimi-k3/2.2",
    "second/chat/kimi-k3/10",
    "unknown/chat/kimi-k3/1",
]


def exchange(name: str, body: bytes = b"{}") -> Exchange:
    attempt = int(name.rpartition("/")[2].partition(".")[2] or 1)
    request = Request(method="POST", url="http://127.0.0.1/v1/chat/completions", body=body)
    return Exchange(id=name, protocol=Protocol.CHAT, model="kimi-k3", request=request, attempt=attempt)


def journal(path: Path, *names: str, body: bytes = b"{}") -> Path:
    with Journal(path) as written:
        written.extend(exchange(name, body) for name in names)
    return path


def ids(path: Path) -> list[str]:
    first, *lines = path.read_bytes().splitlines()
    header(first, str(path))
    return [msgspec.json.decode(line, type=Exchange).id for line in lines]


def test_journals_of_workers_are_joined_in_the_order_of_the_suite(tmp_path: Path) -> None:
    one = journal(tmp_path / ".journal-gw0.jsonl", IDS[5], IDS[2], IDS[3], IDS[4])
    two = journal(tmp_path / ".journal-gw1.jsonl", IDS[0], IDS[1])
    to = journal(tmp_path / "journal.jsonl", "left/chat/kimi-k3/1")
    assert join([one, two], to, PLACES) is None
    assert ids(to) == IDS
    assert [found.id for found in recorded(to)] == IDS
    assert list(tmp_path.iterdir()) == [to]


def test_a_journal_that_is_in_order_is_not_written_again(tmp_path: Path) -> None:
    to = journal(tmp_path / "journal.jsonl", *IDS)
    before = to.stat()
    assert join([to], to, PLACES) is None
    after = to.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_without_anything_sent_there_is_an_empty_journal(tmp_path: Path) -> None:
    to = journal(tmp_path / "journal.jsonl", "left/chat/kimi-k3/1")
    assert join([], to, {}) is None
    assert ids(to) == []


def test_a_line_that_was_cut_off_is_left_out_and_told(tmp_path: Path) -> None:
    one = journal(tmp_path / ".journal-gw0.jsonl", *IDS[:2])
    start = len(one.read_bytes())
    whole = journal(tmp_path / "other", IDS[2]).read_bytes().partition(b"\n")[2]
    one.write_bytes(one.read_bytes() + whole[: len(whole) // 2])
    to = tmp_path / "journal.jsonl"
    assert join([one], to, PLACES) == (
        f"the journal is not whole: .journal-gw0.jsonl holds no exchange at byte {start}"
    )
    assert ids(to) == IDS[:2]


def test_a_line_that_lacks_only_its_end_is_whole(tmp_path: Path) -> None:
    one = journal(tmp_path / ".journal-gw0.jsonl", IDS[1])
    one.write_bytes(one.read_bytes().rstrip(b"\n"))
    two = journal(tmp_path / ".journal-gw1.jsonl", IDS[0], IDS[2])
    to = tmp_path / "journal.jsonl"
    assert join([one, two], to, PLACES) is None
    assert ids(to) == IDS[:3]


def test_a_journal_that_is_gone_is_told(tmp_path: Path) -> None:
    to = tmp_path / "journal.jsonl"
    missing = [tmp_path / f".journal-gw{number}.jsonl" for number in range(3)]
    assert join(missing, to, PLACES) == "the journal is not whole: .journal-gw0.jsonl is gone, and 2 more"
    assert ids(to) == []


@pytest.mark.parametrize("empty", [b"", b'{"format":"kimi-conf'])
def test_a_journal_that_was_killed_before_its_first_line_holds_nothing(empty: bytes, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(empty)
    to = tmp_path / "journal.jsonl"
    assert join([tmp_path / "one"], to, PLACES) is None
    assert ids(to) == []


def test_a_journal_that_cannot_be_written_leaves_all_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = journal(tmp_path / ".journal-gw0.jsonl", *IDS[:2])
    to = journal(tmp_path / "journal.jsonl", "left/chat/kimi-k3/1")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        join([one], to, PLACES)
    assert ids(to) == ["left/chat/kimi-k3/1"]
    assert ids(one) == IDS[:2]
    assert sorted(tmp_path.iterdir()) == sorted([one, to])


def test_joining_keeps_one_line_in_memory_at_a_time(tmp_path: Path) -> None:
    size, lines = 1_000_000, 30
    parts = []
    for worker in range(2):
        names = [f"first/chat/kimi-k3/{2 * number + worker}" for number in range(1, lines // 2 + 1)]
        parts.append(journal(tmp_path / f"{worker}", *names, body=b"x" * size))
    tracemalloc.start()
    try:
        assert join(parts, tmp_path / "journal.jsonl", PLACES) is None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "journal.jsonl").stat().st_size > lines * size
    assert peak < 8 * size
