"""What is judged beside the path: by the judge itself, and by way of its process."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from scripted_upstream import SECONDS

from conformance.evidence import Journal, read
from conformance.evidence.tap import TOO_LARGE, UNREADABLE, Budget, Tap
from conformance.proxy import Desk, Orders, Told, frames, worker
from conformance.proxy.desk import DEAD
from conformance.reference.application import Server
from conformance.reference.faults import FAULTS
from conformance.reference.hooks import Hooks
from conformance.reference.settings import DEFAULT_KEY, Settings
from conformance.rules import RULES
from conformance.values import Level

URL = "http://upstream.local/v1/chat/completions"
CANARY = "sk-canary-0123456789abcdef"
FAULT = "usage-total-off-by-one"
RAISES = "http.status.documented"


def tapped(
    name: str,
    *,
    fault: str | None = None,
    budget: Budget | None = None,
    key: str = DEFAULT_KEY,
    body: dict[str, object] | None = None,
) -> Tap:
    """A tap that saw the reference server answer."""
    hooks = FAULTS[fault].hooks() if fault else Hooks()
    request = {"model": "kimi-k3", "messages": [{"role": "user", "content": "Reply with OK."}], **(body or {})}
    raw = json.dumps(request).encode()
    headers = [(b"Authorization", f"Bearer {key}".encode()), (b"Content-Type", b"application/json")]
    server = Server(Settings(keys=frozenset({key})), hooks)
    head, wire = server.respond(
        "POST", "/v1/chat/completions", [(name.decode(), value.decode()) for name, value in headers], raw
    )
    tap = Tap(name, "POST", URL, headers, budget or Budget(2**30))
    tap.sent(raw)
    tap.answered(head.status, [(name.encode(), value.encode()) for name, value in head.headers])
    for chunk in wire:
        tap.received(chunk)
    return tap


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[worker.Judge]:
    with Journal(tmp_path / "journal.jsonl") as journal:
        yield worker.Judge(Orders(journal=str(journal.path), curl=True), journal)


def test_a_good_exchange_is_recorded_without_a_finding(judge: worker.Judge, tmp_path: Path):
    told = judge.take(tapped("1").ended())
    assert (told.findings, told.curl, told.unjudged, told.trouble) == ((), None, None, None)
    (exchange,) = read(str(tmp_path / "journal.jsonl")).exchanges
    assert (exchange.id, exchange.live, exchange.model, exchange.file) == ("1", True, "kimi-k3", exchange.file)
    assert exchange.request.headers[0] == ("Authorization", "Bearer REDACTED")


def test_a_violation_is_told_with_its_rule_and_curl_line(judge: worker.Judge):
    told = judge.take(tapped("7", fault=FAULT).ended())
    assert {finding.rule for finding in told.findings} & set(FAULTS[FAULT].caught_by)
    assert {finding.exchange for finding in told.findings} == {"7"}
    assert "$KIMI_API_KEY" in told.curl
    assert DEFAULT_KEY not in told.curl


def test_a_finding_over_several_exchanges_is_told_once(judge: worker.Judge):
    told = [
        judge.take(tapped(str(number), fault="body-id-constant", body={"seed": number}).ended()) for number in range(4)
    ]
    found = [(one.id, finding.exchange) for one in told for finding in one.findings if len(finding.exchanges) > 1]
    assert found == [("1", "1"), ("2", "2"), ("3", "3")]


def test_a_rule_that_raises_is_told_and_hides_no_other(judge: worker.Judge, monkeypatch: pytest.MonkeyPatch):
    def broken(_: object) -> Iterator[object]:
        raise ZeroDivisionError("bug")
        yield

    rule = dataclasses.replace(RULES[RAISES], judge=broken)
    watch = judge._watch
    monkeypatch.setattr(watch, "_single", [rule if one.id == RAISES else one for one in watch._single])
    told = judge.take(tapped("1", fault=FAULT).ended())
    assert told.trouble.startswith(f"{RAISES}: ")
    assert "ZeroDivisionError" in told.trouble
    assert {finding.rule for finding in told.findings} & set(FAULTS[FAULT].caught_by)


def test_an_error_of_ours_ends_nothing(judge: worker.Judge, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr(worker, "evidence_of", lambda _: 1 / 0)
        told = judge.take(tapped("1").ended())
    assert told.unjudged == "an error of kimi-conformance"
    assert told.trouble == "ZeroDivisionError: division by zero"
    assert judge.take(tapped("2").ended()).unjudged is None


def test_a_request_that_cannot_be_decoded_is_not_judged(judge: worker.Judge):
    seen = tapped("1").ended()
    headers = (*seen.request.headers, ("Content-Encoding", "gzip"))
    seen = replace(seen, request=replace(seen.request, headers=headers, body=b"\x1f\x8bxx"))
    assert judge.take(seen).unjudged == UNREADABLE


def test_a_key_is_hidden_in_later_exchanges_too(judge: worker.Judge, tmp_path: Path):
    judge.take(tapped("1", key=CANARY).ended())
    judge.take(tapped("2", body={"user": f"leaked {CANARY}"}).ended())
    assert CANARY not in (tmp_path / "journal.jsonl").read_text("utf-8")


def test_frames_that_are_cut_or_foreign_are_the_end():
    seen = tapped("1").ended()
    whole = io.BytesIO()
    frames.write(whole, seen)
    data = whole.getvalue()
    assert frames.read(io.BytesIO(data), type(seen)) == seen
    for hostile in (
        b"",
        b"\x00",
        data[:-1],
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x01\xc1",
        data[:4] + bytes(len(data) - 4),
    ):
        assert frames.read(io.BytesIO(hostile), type(seen)) is None


@contextmanager
def desk(tmp_path: Path, **options: object) -> Iterator[tuple[Desk, list[Told]]]:
    told: list[Told] = []
    found = Desk(Orders(journal=str(tmp_path / "journal.jsonl")), told.append, **options)
    try:
        yield found, told
    finally:
        found.close(SECONDS)


def test_the_process_judges_in_order_and_finishes_at_the_end(tmp_path: Path):
    with desk(tmp_path) as (found, told):
        for number in range(1, 6):
            found.take(tapped(str(number), fault=FAULT if number == 3 else None).ended())
    assert [one.id for one in told] == ["1", "2", "3", "4", "5"]
    assert [one.id for one in told if one.findings] == ["3"]
    assert (found.judged, found.unjudged, found.waiting) == (5, {}, 0)
    assert len(read(str(tmp_path / "journal.jsonl")).exchanges) == 5


def test_handing_over_never_waits_and_memory_is_bounded(tmp_path: Path):
    budget = Budget(100_000)
    first = tapped("1", budget=budget)
    for _ in range(200):
        first.received(b"x" * 1_000)
    seen = first.ended()
    assert seen.failure.kind == "cut"
    assert seen.cost <= 100_000
    second = Tap("2", "POST", URL, [(b"a", b"b" * 2_000)], budget)
    assert second.ended() is None, "no room for the request: nothing is judged"
    budget.give(seen.cost)
    assert tapped("3", budget=budget).ended().failure is None


def test_a_judge_that_dies_is_counted_and_stops_nothing(tmp_path: Path):
    with desk(tmp_path) as (found, _):
        found._process.kill()
        found._process.wait()
        found.take(replace(tapped("1").ended(), bounded=True))
        found.take(None)
    assert (dict(found.unjudged), found.bounded) == ({DEAD: 1, TOO_LARGE: 1}, 1)


def test_other_endpoints_are_counted_and_not_tapped(tmp_path: Path):
    with desk(tmp_path) as (found, _):
        assert found.tap("GET", "http://upstream.local/v1/models", []) is None
        assert found.tap("POST", URL, []) is not None
    assert found.other == 1


def test_levels_come_heaviest_first(judge: worker.Judge):
    told = judge.take(tapped("1", fault=FAULT).ended())
    ranks = [(Level.MUST, Level.SHOULD, Level.INFO).index(finding.level) for finding in told.findings]
    assert ranks == sorted(ranks)
