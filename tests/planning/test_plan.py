"""What the profiles send, counted in process: nothing is sent."""

from __future__ import annotations

import functools
from datetime import date, timedelta

import pytest

from conformance.models import ALL
from conformance.planning import Plan, plan
from conformance.planning.nightly import NIGHTS, ROTATED, rotated
from conformance.prices import Price
from conformance.probes.cell import Cell
from conformance.values import Protocol

NIGHT = date(2026, 3, 1)
PRICES = {model: Price(input=1.0, cached=0.1, output=4.0) for model in ALL}


@functools.cache
def nightly() -> Plan:
    return plan("nightly", night=NIGHT, prices=PRICES)


def test_the_nightly_profile_exercises_every_must_rule_everywhere_within_its_bounds() -> None:
    found = nightly()
    assert [(cell.protocol, cell.model) for cell in found.cells] == [(p, model) for p in Protocol for model in ALL]
    assert found.not_exercised == ()
    assert found.totals["must_rules_exercised"] == found.totals["must_rules"]
    assert found.totals["requests"] <= 900
    assert found.totals["able_to_cost"] <= 0.6 * found.totals["requests"]
    assert found.totals["output_tokens_worst_case"] <= 250_000


def test_the_costs_follow_the_price_table() -> None:
    totals = nightly().totals
    assert totals["output_tokens_worst_case"] * 4.0 / 1e6 < totals["cost"]
    assert totals["output_tokens_expected"] * 4.0 / 1e6 < totals["cost_expected"] < totals["cost"]


def test_a_model_without_a_price_leaves_the_cost_open() -> None:
    prices = {model: price for model, price in PRICES.items() if model != "kimi-k3"}
    found = plan("smoke", night=NIGHT, prices=prices, protocols=[Protocol.CHAT])
    assert found.totals["cost"] is None
    assert [cell.amount.cost is None for cell in found.cells] == [model == "kimi-k3" for model in ALL]


def test_a_smoke_run_sends_at_most_sixty_requests() -> None:
    assert plan("smoke", night=NIGHT).totals["requests"] <= 60


@pytest.mark.parametrize("protocol", list(Protocol))
def test_seven_nights_exercise_every_constraint(protocol: Protocol) -> None:
    nights = [NIGHT + timedelta(days=number) for number in range(NIGHTS)]
    for model in ALL:
        cell = Cell(protocol=protocol, model=model, seed=0)
        for cases in ROTATED.values():
            number = len(cases(cell))
            parts = [set(rotated(number, night)) for night in nights]
            assert set().union(*parts) == set(range(1, number + 1))
            assert sum(map(len, parts)) == number


def test_the_rules_that_are_asked_for_narrow_the_plan() -> None:
    found = plan("nightly", night=NIGHT, rules=["tool.choice-none"], protocols=[Protocol.CHAT], models=["kimi-k3"])
    assert set(found.cells[0].probes) == {"calls-forbidden"}
    assert found.cells[0].rules == ("tool.choice-none",)
    assert found.not_exercised == ()


def test_a_target_with_one_address_is_not_sent_to_another() -> None:
    rules = ["http.base-urls.agree", "http.rate-limit.retry-after"]
    both = plan("full", night=NIGHT, rules=rules, models=["kimi-k3"])
    one = plan("full", night=NIGHT, rules=rules, models=["kimi-k3"], addresses=1, limited=False)
    assert "rate-limit" in both.cells[0].probes
    assert "rate-limit" not in one.cells[0].probes
    assert one.cells[0].probes["base-urls"] == 1


def test_the_same_settings_give_the_same_plan() -> None:
    first, second = (
        plan("nightly", night=NIGHT, rules=["stream.complete", "tool.ids"], models=["kimi-k3"]) for _ in range(2)
    )
    assert first == second
