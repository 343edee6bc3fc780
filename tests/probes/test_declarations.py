"""What probes declare, compared with what their exchanges really exercise."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterable

from full_run import full_run

import conformance.suite
from conformance.judge import judge
from conformance.rules import RULES
from conformance.rules.patterns import select
from conformance.values import Exchange, Outcome, Protocol

Cells = set[tuple[Protocol, str]]
ONLY_OF_FAULTS = {  # rules that a plain answer meets only where the server is at fault, and then must
    "short-answer": {"error.stream-event", "finish.length-only-at-limit", "http.no-internals-leaked"}
}
SEEN = (Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE)


def declared() -> dict[str, frozenset[str]]:
    """The rules that each probe declares."""
    found: dict[str, frozenset[str]] = {}
    for module in pkgutil.iter_modules(conformance.suite.__path__):
        if not module.name.startswith("test_"):
            continue
        for name, function in vars(importlib.import_module(f"conformance.suite.{module.name}")).items():
            if name.startswith("test_"):
                marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "exercises"]
                patterns = [pattern for mark in marks for pattern in mark.args]
                found[name.removeprefix("test_").replace("_", "-")] = frozenset(select(patterns, RULES))
    return found


def exercised(exchanges: Iterable[Exchange]) -> dict[str, Cells]:
    """The cells in which these exchanges alone exercise each rule."""
    found: dict[str, Cells] = defaultdict(set)
    for verdict in judge(exchanges).verdicts:
        if verdict.outcome in SEEN:
            found[verdict.rule].add((verdict.protocol, verdict.model))
    return found


@functools.cache
def by_probe() -> dict[str, dict[str, Cells]]:
    """What each probe of the full run exercises by itself."""
    exchanges: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in full_run().exchanges:
        exchanges[exchange.probe or ""].append(exchange)
    return {probe: exercised(found) for probe, found in exchanges.items()}


def test_every_probe_declares_the_rules_that_it_is_for() -> None:
    assert [probe for probe, rules in declared().items() if not rules] == []


def test_a_probe_exercises_every_rule_that_it_declares() -> None:
    seen = by_probe()
    wrong = {
        probe: sorted(rules - seen[probe].keys() - ONLY_OF_FAULTS.get(probe, set()))
        for probe, rules in declared().items()
    }
    assert {probe: rules for probe, rules in wrong.items() if rules} == {}


def test_the_probes_declared_for_a_rule_exercise_it_wherever_the_full_run_does() -> None:
    seen, claims = by_probe(), declared()
    whole = exercised(full_run().exchanges)
    missing = {}
    for rule, cells in whole.items():
        alone = set().union(*(seen[probe].get(rule, set()) for probe, rules in claims.items() if rule in rules))
        if cells - alone:
            missing[rule] = sorted(cells - alone)
    assert missing == {}
