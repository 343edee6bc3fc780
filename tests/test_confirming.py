"""A must failure that the model's choice may have brought about is asked again before it counts; no other is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from conformance.client import Limits, Player, Target
from conformance.confirming import confirmed
from conformance.judge import judge
from conformance.plugin.asking import ask
from conformance.probes import answers
from conformance.probes.cell import Cell
from conformance.reference import Settings
from conformance.reference.application import Server
from conformance.reference.hooks import Hooks
from conformance.reference.settings import DEFAULT_KEY
from conformance.rules import RULES
from conformance.rules.choices import BY_CHOICE
from conformance.selftest.local import BASE_URLS, LocalSender
from conformance.values import Chunk, Exchange, Level, Outcome, Protocol, Verdict

CELL = Cell(protocol=Protocol.CHAT, model="kimi-k3", seed=0)
Change = Callable[[dict[str, Any]], None]


class Fickle(LocalSender):
    """A server whose JSON answers are changed on some of the askings, by their number from 1."""

    def __init__(self, change: Change, askings: tuple[int, ...]) -> None:
        super().__init__(BASE_URLS[0], Server(Settings(), Hooks()))
        self._change, self._askings, self._asked = change, askings, 0

    def send(self, draft: Exchange, **how: Any) -> tuple[Exchange, ...]:
        *before, last = super().send(draft, **how)
        if b'"stream":true' in draft.request.body:
            return (*before, last)
        self._asked += 1
        if self._asked in self._askings:
            body = msgspec.json.decode(b"".join(chunk.data for chunk in last.response.chunks))
            self._change(body)
            response = msgspec.structs.replace(last.response, chunks=(Chunk(ms=1, data=msgspec.json.encode(body)),))
            last = msgspec.structs.replace(last, response=response)
        return (*before, last)


def undeclared_call(body: dict[str, Any]) -> None:
    function = {"name": "unheard_of", "arguments": "{}"}
    body["choices"][0]["message"]["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]


def wrong_total(body: dict[str, Any]) -> None:
    body["usage"]["total_tokens"] += 1


def asked(change: Change, askings: tuple[int, ...], rule: str) -> tuple[Verdict, list[Exchange]]:
    recorded: list[Exchange] = []
    sender = Fickle(change, askings)
    player = Player(
        target=Target(name="fickle", base_urls=BASE_URLS[:1], key_env=None, fixed_key=DEFAULT_KEY),
        record=recorded.append,
        limits=Limits(),
        connect=lambda *_: sender,
    )
    sent = ask(player, "short-answer", CELL, answers.short, rules=list(RULES.values()))
    assert sent == len(recorded)
    judged = judge(recorded, rules=[RULES[rule]], protocols=[CELL.protocol], models=[CELL.model]).verdicts
    return confirmed(judged, recorded)[0], recorded


@pytest.mark.parametrize(
    ("askings", "outcome", "tries"),
    [((), Outcome.PASS, 1), ((1,), Outcome.PASS, 3), ((1, 2), Outcome.FAIL, 2), ((1, 3), Outcome.FAIL, 3)],
)
def test_two_of_three_askings_must_fail(askings: tuple[int, ...], outcome: Outcome, tries: int) -> None:
    verdict, recorded = asked(undeclared_call, askings, "tool.none-declared")
    assert (verdict.outcome, verdict.tries) == (outcome, tries)
    assert [exchange.trial for exchange in recorded] == [1, 1, *range(2, tries + 1)]
    assert len({exchange.id for exchange in recorded}) == len(recorded)


def test_what_was_not_confirmed_stays_visible_as_info() -> None:
    verdict, _ = asked(undeclared_call, (1,), "tool.none-declared")
    assert [finding.level for finding in verdict.findings] == [Level.INFO]
    assert verdict.findings[0].message.endswith("(in 1 of 3 tries)")


def test_only_the_strand_that_failed_is_asked_again() -> None:
    _, recorded = asked(undeclared_call, (1,), "tool.none-declared")
    again = [exchange for exchange in recorded if exchange.trial > 1]
    assert {exchange.request.body for exchange in again} == {recorded[0].request.body}


def test_a_failure_that_the_server_decides_is_never_asked_again() -> None:
    verdict, recorded = asked(wrong_total, (1,), "usage.total-is-sum")
    assert (verdict.outcome, verdict.tries) == (Outcome.FAIL, 1)
    assert len(recorded) == 2


def test_a_failure_that_could_not_be_asked_again_often_enough_is_inconclusive() -> None:
    verdict, recorded = asked(undeclared_call, (1,), "tool.none-declared")
    kept = [exchange for exchange in recorded if exchange.trial < 3]
    judged = judge(kept, rules=[RULES[verdict.rule]], protocols=[CELL.protocol], models=[CELL.model]).verdicts
    assert confirmed(judged, kept)[0].outcome is Outcome.INCONCLUSIVE


def test_recorded_traffic_counts_as_it_is() -> None:
    _, recorded = asked(undeclared_call, (1,), "tool.none-declared")
    judged = judge(recorded[:1], rules=[RULES["tool.none-declared"]]).verdicts
    assert confirmed(judged, recorded[:1]) == judged


def test_every_rule_by_choice_is_a_must_rule() -> None:
    assert all(RULES[name].level is Level.MUST for name in BY_CHOICE)


def test_a_forced_call_is_not_the_models_choice() -> None:
    assert not {"tool.choice-required", "tool.choice-named", "tool.choice-none"} & BY_CHOICE
