"""Every minimal pair: the good side exercises its rule and passes, the bad side is found at its level."""

from __future__ import annotations

import pytest

from conformance.evidence.pairs import Pair, pairs
from conformance.judge import judge
from conformance.protocols import Kind, read
from conformance.rules import RULES
from conformance.values import RANK, Exchange, Finding, Level, Outcome, Over

PAIRS = list(pairs())
NAMED = [pytest.param(pair, id=f"{pair.rule}: {pair.name}") for pair in PAIRS]


def shown(findings: list[Finding]) -> list[str]:
    return [f"{f.level} {f.rule} in {f.exchange} at {f.pointer}: {f.message}" for f in findings]


@pytest.mark.parametrize("pair", NAMED)
def test_good_side_exercises_the_rule_and_is_clean(pair: Pair):
    result = judge(pair.good)
    broken = [f"{v.rule}: {v.reason}" for v in result.verdicts if v.outcome is Outcome.ERROR]
    warned = [f for f in result.findings if f.level is not Level.INFO]
    unexpected = [f for f in warned if not (f.rule in pair.may_warn and f.level is Level.SHOULD)]
    exercised = [v.outcome for v in result.verdicts if v.rule == pair.rule and v.exercised]
    assert not broken
    assert not shown(unexpected)
    assert Outcome.PASS in exercised, "the guard of the rule is not met"
    assert Outcome.FAIL not in exercised


@pytest.mark.parametrize("pair", NAMED)
def test_bad_side_is_found_at_its_level(pair: Pair):
    result = judge(pair.bad)
    broken = [f"{v.rule}: {v.reason}" for v in result.verdicts if v.outcome is Outcome.ERROR]
    found = [finding for finding in result.findings if finding.rule == pair.rule]
    assert not broken
    assert found, "the rule finds nothing"
    heaviest = max(found, key=lambda finding: RANK[finding.level or Level.INFO])
    cell = RULES[pair.rule].level_on(heaviest.protocol, heaviest.model)
    assert heaviest.level is (pair.level or cell), shown(found)


def test_every_rule_has_a_pair():
    assert sorted(RULES.keys() - {pair.rule for pair in PAIRS}) == []


def test_every_pair_is_of_a_rule():
    assert sorted({pair.rule for pair in PAIRS} - RULES.keys()) == []


def test_every_surface_of_a_rule_has_a_pair():
    missing = {
        name: sorted(protocol.value for protocol in rule.protocols if protocol not in surfaces(name))
        for name, rule in RULES.items()
    }
    assert {name: surface for name, surface in missing.items() if surface} == {}


def test_stream_rules_have_pairs_as_streams_and_others_say_which_mode_they_lack():
    """``pytest -s`` shows authors the modes in which no pair shows a rule failing."""
    lacking = {
        name: {"json", "stream"} - {mode(exchange) for pair in PAIRS if pair.rule == name for exchange in pair.bad}
        for name in RULES
    }
    for name, modes in sorted(lacking.items()):
        if modes and RULES[name].over is Over.EXCHANGE:
            print(f"{name}: no pair as {', '.join(sorted(modes))}")  # noqa: T201 (for authors)
    assert [name for name, modes in lacking.items() if "stream" in modes and RULES[name].over is Over.STREAM] == []


def surfaces(name: str) -> set[str]:
    """The surfaces on which a finding of the rule's pairs is expected."""
    return {exchange.protocol for pair in PAIRS if pair.rule == name for exchange in pair.bad}


def mode(exchange: Exchange) -> str:
    return "stream" if read(exchange).kind is Kind.STREAM else "json"
