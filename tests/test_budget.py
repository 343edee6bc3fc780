"""The budget: a hard limit, shared by every process of a run."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest
from commands import command

from conformance.client.budget import Allowance, Budget, Spent
from conformance.prices import Price
from conformance.probes.cell import Cell, encode
from conformance.values import Chunk, Exchange, Failure, Protocol, Request, Response

PRICES = {"kimi-k3": Price(input=2.0, output=10.0)}


def draft(limit: int = 100) -> Exchange:
    cell = Cell(protocol=Protocol.CHAT, model="kimi-k3", seed=0)
    body = encode(cell.body("Reply with OK.", limit=limit))
    request = Request(method="POST", url="http://127.0.0.1/v1/chat/completions", body=body)
    return Exchange(id="one/chat/kimi-k3/1", protocol=Protocol.CHAT, model="kimi-k3", request=request)


def answered(tokens: int | None, status: int = 200) -> Exchange:
    usage = {} if tokens is None else {"usage": {"prompt_tokens": 5, "completion_tokens": tokens}}
    body = msgspec.json.encode({"object": "chat.completion", "choices": [], **usage})
    headers = (("Content-Type", "application/json"),)
    return msgspec.structs.replace(
        draft(), response=Response(status=status, headers=headers, chunks=(Chunk(ms=1, data=body),))
    )


def budget(folder: Path, patience: float = 0.2, **most: float) -> Budget:
    found = Budget(path=folder / "budget", allowance=Allowance(**most), prices=PRICES, patience=patience)
    found.open()
    return found


def test_requests_are_counted_one_by_one(tmp_path: Path) -> None:
    shared = budget(tmp_path, requests=2)
    for _ in range(2):
        shared.settle(shared.hold(draft()), answered(3))
    with pytest.raises(Spent, match="budget of 2 requests is spent"):
        shared.hold(draft())


@pytest.mark.parametrize(
    ("exchange", "left"),
    [
        (answered(30), 70),
        (answered(None), 0),  # unknown: counted in full
        (answered(None, status=400), 100),  # refused: free
        (msgspec.structs.replace(draft(), failure=Failure(kind="timeout", message="")), 0),
        (msgspec.structs.replace(draft(), failure=Failure(kind="refused", message="")), 100),
    ],
)
def test_what_was_put_aside_is_replaced_by_what_it_did_cost(exchange: Exchange, left: int, tmp_path: Path) -> None:
    shared = budget(tmp_path, tokens=100)
    shared.settle(shared.hold(draft(100)), exchange)
    if left:
        shared.hold(draft(left))
    with pytest.raises(Spent, match="budget of 100 output tokens is spent"):
        shared.hold(draft(left + 1))


def test_no_request_is_sent_that_might_pass_the_limit(tmp_path: Path) -> None:
    with pytest.raises(Spent, match="0 used, the next request may take 101"):
        budget(tmp_path, tokens=100).hold(draft(101))


def test_a_cost_is_counted_with_the_prices(tmp_path: Path) -> None:
    shared = budget(tmp_path, cost=0.0015)
    held = shared.hold(draft(100))
    assert 0.001 < held.cost < 0.0015
    shared.settle(held, answered(100))
    with pytest.raises(Spent, match="in cost is spent"):
        shared.hold(draft(100))


def test_a_request_waits_for_what_others_may_leave(tmp_path: Path) -> None:
    shared = budget(tmp_path, patience=30, tokens=150)
    first = shared.hold(draft(100))
    release = threading.Timer(0.2, shared.settle, (first, answered(10)))
    release.start()
    assert shared.hold(draft(100)).tokens == 100
    release.join()


def test_once_spent_it_is_spent_for_all(tmp_path: Path) -> None:
    shared = budget(tmp_path, tokens=100)
    with pytest.raises(Spent):
        shared.hold(draft(101))
    with pytest.raises(Spent):
        Budget(path=shared.path, allowance=shared.allowance).hold(draft(1))


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_run_ends_at_its_budget_as_partial_with_a_valid_report(workers: tuple[str, ...], tmp_path: Path) -> None:
    ran = command("run", "--profile", "smoke", "--budget", "requests=15", "--out", "out", *workers, cwd=tmp_path)
    assert ran.code == 3, ran.stdout + ran.stderr
    assert ran.report["run"]["partial"] == "the budget of 15 requests is spent"
    assert len(ran.exchanges) == ran.report["run"]["requests"] == 15 - 3  # a look at each surface came before
    assert not [path.name for path in ran.out.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--budget reqests=1", "did you mean requests=…?"),
        ("--budget tokens=many", "'many' is not a number"),
        ("--budget tokens=1,tokens=2", "tokens is given twice"),
        ("--budget cost=1", "a cost needs the price of kimi-k3.1-pro"),
        ("--date tomorrow", "no date such as"),
    ],
)
def test_a_bad_limit_is_refused(options: str, words: str, tmp_path: Path) -> None:
    ran = command("run", *options.split(), "--out", "out", cwd=tmp_path)
    assert ran.code == 2
    assert words in ran.stderr
    assert not ran.out.exists()


def test_prices_give_the_run_a_cost(tmp_path: Path) -> None:
    table = "".join(f'[prices."{m}"]\ninput = 1.0\noutput = 4.0\n' for m in ("kimi-k3.1-pro", "kimi-k3"))
    (tmp_path / "kimi-conformance.toml").write_text(table)
    options = ("--profile", "smoke", "--protocol", "chat", "--model", "kimi-k3", "--budget", "cost=1")
    ran = command("run", *options, "--out", "out", cwd=tmp_path)
    assert ran.code == 0, ran.stdout + ran.stderr
    assert 0 < ran.report["run"]["cost"] < 0.01
