"""The plan: requests, tokens, cost, rules and constraints of a run, by surface and model and in all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import msgspec

import conformance
from conformance.generators import constraints
from conformance.judge import exercising
from conformance.models import ALL
from conformance.planning.nightly import ROTATED
from conformance.planning.rehearsal import Rehearsed, rehearse
from conformance.planning.selection import Selection, select
from conformance.prices import Price
from conformance.protocols.json_text import read_bytes
from conformance.rules import RULES
from conformance.values import Level, Protocol

SCHEMA_ID = "urn:kimi-conformance:plan:1"
LOOK_TOKENS = 16  # the limit of each request that is sent before a run, one for each surface


class Amount(msgspec.Struct, frozen=True, kw_only=True):
    """How much is sent, and what it costs; ``cost`` is the worst case, None where a model has no price."""

    requests: int
    able_to_cost: int  # requests that are not sure to be refused
    output_tokens_worst_case: int
    output_tokens_expected: int  # as the reference server answers
    input_tokens_expected: int
    cost: float | None
    cost_expected: float | None


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """How much of something is exercised."""

    exercised: int
    total: int


class PlannedCell(msgspec.Struct, frozen=True, kw_only=True):
    """One surface and model."""

    protocol: Protocol
    model: str
    amount: Amount
    rules: tuple[str, ...]  # exercised
    must_rules: Share
    constraints: Share  # constraints to break and edges to meet, by the probes that are for them
    probes: dict[str, int]  # the requests of each


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would send."""

    schema: str = SCHEMA_ID
    version: str
    profile: str
    date: str
    seed: int
    totals: dict[str, int | float | None]
    look: int  # requests sent before the run, which the totals hold
    cells: tuple[PlannedCell, ...]
    not_exercised: tuple[str, ...]  # rule/surface/model of must rules


def plan(
    profile: str,
    *,
    protocols: Sequence[Protocol] = tuple(Protocol),
    models: Sequence[str] = ALL,
    rules: Sequence[str] = (),
    night: date,
    prices: Mapping[str, Price] | None = None,
    addresses: int = 2,
    limited: bool = True,
    seed: int = 0,
) -> Plan:
    """What a run with these settings would send; nothing is sent. ``rules`` are ids, none for all."""
    chosen = select(
        profile,
        protocols=protocols,
        models=models,
        rules=rules,
        night=night,
        addresses=addresses,
        limited=limited,
        seed=seed,
    )
    rehearsed = played(chosen, addresses=addresses, limited=limited, seed=seed)
    shown = _rules(rehearsed, rules)
    by_cell: dict[tuple[Protocol, str], list[Rehearsed]] = {(p, model): [] for p in protocols for model in models}
    for each in rehearsed:
        by_cell[each.cell.protocol, each.cell.model].append(each)
    table = prices or {}
    cells = tuple(
        _cell(found, shown[protocol, model], protocol=protocol, model=model, rules=rules, prices=table)
        for (protocol, model), found in by_cell.items()
    )
    missing = [
        f"{name}/{protocol}/{model}"
        for protocol, model in by_cell
        for name in _musts(protocol, model, rules)
        if name not in shown[protocol, model]
    ]
    return Plan(
        version=conformance.__version__,
        profile=profile,
        date=night.isoformat(),
        seed=seed,
        totals=_totals(cells, len(protocols), models[0], table),
        look=len(protocols),
        cells=cells,
        not_exercised=tuple(missing),
    )


def played(chosen: Selection, *, addresses: int = 2, limited: bool = True, seed: int = 0) -> tuple[Rehearsed, ...]:
    """Every request of a selection."""
    return rehearse(chosen.probes, strands=chosen.strands, addresses=addresses, limited=limited, seed=seed)


def _rules(rehearsed: Iterable[Rehearsed], rules: Sequence[str]) -> dict[tuple[Protocol, str], set[str]]:
    """The rules that are exercised, by surface and model."""
    found: dict[tuple[Protocol, str], set[str]] = defaultdict(set)
    judged = [RULES[name] for name in rules or RULES]
    for rule, group in exercising((each.exchange for each in rehearsed), judged):
        for answer in group:
            if rule.covers(answer.protocol, answer.model):
                found[answer.protocol, answer.model].add(rule.id)
    return found


def _musts(protocol: Protocol, model: str, rules: Sequence[str]) -> list[str]:
    return [
        name
        for name in rules or RULES
        if RULES[name].covers(protocol, model) and RULES[name].level_on(protocol, model) is Level.MUST
    ]


def _cell(
    found: Sequence[Rehearsed],
    shown: set[str],
    *,
    protocol: Protocol,
    model: str,
    rules: Sequence[str],
    prices: Mapping[str, Price],
) -> PlannedCell:
    musts = _musts(protocol, model, rules)
    price = prices.get(model)
    expected = [each.expected for each in found]
    amount = Amount(
        requests=len(found),
        able_to_cost=sum(each.paid for each in found),
        output_tokens_worst_case=sum(each.worst for each in found),
        output_tokens_expected=sum(output for _, _, output in expected),
        input_tokens_expected=sum(taken for taken, _, _ in expected),
        cost=None if price is None else sum(_worst_cost(each, price) for each in found),
        cost_expected=None if price is None else sum(price.of(i, o, cached) for i, cached, o in expected),
    )
    return PlannedCell(
        protocol=protocol,
        model=model,
        amount=amount,
        rules=tuple(name for name in RULES if name in shown),
        must_rules=Share(exercised=sum(name in shown for name in musts), total=len(musts)),
        constraints=_constraints(protocol, model, found),
        probes=dict(Counter(each.probe for each in found)),
    )


def _worst_cost(each: Rehearsed, price: Price) -> float:
    return price.worst(len(each.step.body), each.worst) if each.paid else 0.0


def _constraints(protocol: Protocol, model: str, found: Iterable[Rehearsed]) -> Share:
    demanded = set(constraints.demanded(protocol, model))
    shown = {
        mark
        for each in found
        if each.probe in ROTATED
        for mark in constraints.marks(protocol, model, read_bytes(each.step.body).value)
    }
    return Share(exercised=len(shown & demanded), total=len(demanded))


def _totals(
    cells: Sequence[PlannedCell], looks: int, first: str, prices: Mapping[str, Price]
) -> dict[str, int | float | None]:
    amounts = [cell.amount for cell in cells]
    price = prices.get(first)
    costs = [amount.cost for amount in amounts]
    expected = [amount.cost_expected for amount in amounts]
    look = price.of(LOOK_TOKENS, LOOK_TOKENS) * looks if price else 0.0
    return {
        "requests": sum(amount.requests for amount in amounts) + looks,
        "able_to_cost": sum(amount.able_to_cost for amount in amounts) + looks,
        "output_tokens_worst_case": sum(amount.output_tokens_worst_case for amount in amounts) + LOOK_TOKENS * looks,
        "output_tokens_expected": sum(amount.output_tokens_expected for amount in amounts) + LOOK_TOKENS * looks,
        "input_tokens_expected": sum(amount.input_tokens_expected for amount in amounts) + LOOK_TOKENS * looks,
        "cost": None if None in costs else sum(cost or 0 for cost in costs) + look,
        "cost_expected": None if None in expected else sum(cost or 0 for cost in expected) + look,
        "rules": len({name for cell in cells for name in cell.rules}),
        "must_rules_exercised": sum(cell.must_rules.exercised for cell in cells),
        "must_rules": sum(cell.must_rules.total for cell in cells),
        "constraints_exercised": sum(cell.constraints.exercised for cell in cells),
        "constraints": sum(cell.constraints.total for cell in cells),
    }
