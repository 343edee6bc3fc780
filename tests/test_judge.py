"""The judge applies guards, fills findings in, and folds outcomes."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from conformance.judge import MOST_FINDINGS, judge
from conformance.rules import Inconclusive
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Rule, cite
from conformance.values import (
    Basis,
    Chunk,
    Exchange,
    Failure,
    Finding,
    Level,
    Outcome,
    Over,
    Protocol,
    Request,
    Response,
)

SOURCE = cite("chat-all", "#/components/schemas/ChatUsage")


def exchange(number: int, model: str = "kimi-k3", protocol: Protocol = CHAT, file: str | None = None) -> Exchange:
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "x"}]}).encode()
    return Exchange(
        id=str(number),
        protocol=protocol,
        model=model,
        request=Request(
            method="POST",
            url="http://127.0.0.1/v1/chat/completions",
            headers=(("Authorization", "Bearer REDACTED"), ("Content-Type", "application/json")),
            body=body,
        ),
        response=Response(
            status=200,
            headers=(("Content-Type", "application/json"),),
            chunks=(Chunk(ms=1, data=b"{}"),),
        ),
        file=file,
    )


def make(judge, *, when=lambda answer: True, find=None, **fields) -> Rule:
    return Rule(
        **{
            "id": "test.rule",
            "level": Level.MUST,
            "basis": Basis.DOCUMENTED,
            "over": Over.PAIR if find else Over.EXCHANGE,
            "protocols": (CHAT,),
            "models": ("kimi-k3", "kimi-k3.1-pro"),
            "sources": {CHAT: SOURCE},
            "statement": "",
            "applies": "",
            "guard": when,
            "find": find,
            "judge": judge,
            **fields,
        }
    )


def nothing(_):
    return ()


def always(_):
    yield Finding(message="broken")


def unsure(_):
    raise Inconclusive("rate limited")


def wrong(_):
    raise KeyError("ours")


def partly(answer):
    if answer.exchange.id == "1":
        raise Inconclusive("rate limited")
    return iter(())


def outcome(rule, *exchanges, model="kimi-k3"):
    verdicts = judge(exchanges, rules=[rule]).verdicts
    return next(v for v in verdicts if (v.protocol, v.model) == (CHAT, model))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (nothing, Outcome.PASS),
        (always, Outcome.FAIL),
        (unsure, Outcome.INCONCLUSIVE),
        (wrong, Outcome.ERROR),
        (partly, Outcome.PASS),
    ],
)
def test_outcomes_fold(function, expected):
    assert outcome(make(function), exchange(1), exchange(2)).outcome is expected


def test_a_guard_that_nothing_meets_is_not_exercised_and_never_passes():
    verdict = outcome(make(always, when=lambda answer: False), exchange(1))
    assert (verdict.outcome, verdict.exercised, verdict.findings) == (Outcome.NOT_EXERCISED, 0, ())


def test_a_guard_that_raises_is_our_error():
    assert outcome(make(nothing, when=wrong), exchange(1)).outcome is Outcome.ERROR


def test_an_error_of_one_rule_hides_no_other():
    verdicts = judge([exchange(1)], rules=[make(wrong), make(always, id="test.other")]).verdicts
    found = {v.rule: v.outcome for v in verdicts if v.protocol is CHAT and v.model == "kimi-k3"}
    assert found == {"test.rule": Outcome.ERROR, "test.other": Outcome.FAIL}


def test_cells_outside_the_rule_do_not_apply():
    verdicts = judge([exchange(1)], rules=[make(nothing)]).verdicts
    assert {(v.protocol, v.model): v.outcome for v in verdicts}[CHAT, "kimi-k3.1-pro-highspeed"] is (
        Outcome.NOT_APPLICABLE
    )
    assert all(v.outcome is Outcome.NOT_APPLICABLE for v in verdicts if v.protocol in (MESSAGES, RESPONSES))


def test_a_cell_that_the_ledger_takes_out_does_not_apply():
    rule = make(always, not_on=frozenset({(CHAT, "kimi-k3")}))
    assert outcome(rule, exchange(1)).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("asked", "level"),
    [
        ({}, Level.MUST),
        ({"should_on": frozenset({(CHAT, "kimi-k3")})}, Level.SHOULD),
        ({"level": Level.SHOULD}, Level.SHOULD),
        ({"level": Level.SHOULD, "must_on": frozenset({CHAT})}, Level.MUST),
    ],
)
def test_a_finding_weighs_what_the_cell_says(asked, level):
    assert outcome(make(always, **asked), exchange(1)).findings[0].level is level


def test_a_finding_may_be_milder_than_its_rule_but_never_graver():
    def milder(_):
        yield Finding(message="mild", level=Level.INFO)
        yield Finding(message="grave", level=Level.MUST)

    found = outcome(make(milder, level=Level.SHOULD), exchange(1)).findings
    assert [finding.level for finding in found] == [Level.INFO, Level.SHOULD]


def test_info_findings_fail_nothing():
    verdict = outcome(make(lambda _: iter([Finding(message="m", level=Level.INFO)])), exchange(1))
    assert (verdict.outcome, len(verdict.findings)) == (Outcome.PASS, 1)


def test_by_analogy_makes_the_basis_protocol():
    found = outcome(make(always, by_analogy=frozenset({CHAT})), exchange(1)).findings
    assert found[0].basis is Basis.PROTOCOL


def pair_up(answers):
    yield tuple(answers)


def test_a_finding_over_a_group_names_every_exchange_and_lands_on_the_one_at_fault():
    def first(group):
        yield Finding(message="m", exchange=group[0].exchange.id)

    rule = make(first, find=pair_up)
    pair = (exchange(1, "kimi-k3", file="a.har"), exchange(2, "kimi-k3.1-pro"))
    found = outcome(rule, *pair).findings
    assert [(f.exchange, f.exchanges, f.model, f.file) for f in found] == [("1", ("1", "2"), "kimi-k3", "a.har")]
    assert outcome(rule, *pair, model="kimi-k3.1-pro").outcome is Outcome.PASS


def test_a_guard_narrows_groups_by_every_member():
    rule = make(always, find=pair_up, when=lambda answer: answer.exchange.id == "1")
    assert outcome(rule, exchange(1), exchange(2)).outcome is Outcome.NOT_EXERCISED


def test_findings_come_in_the_order_of_the_evidence_and_are_bounded():
    judgement = judge([exchange(n) for n in range(MOST_FINDINGS + 50)], rules=[make(always)])
    assert [finding.exchange for finding in judgement.findings] == [str(n) for n in range(MOST_FINDINGS)]
    assert judgement.verdicts[0].exercised in (0, MOST_FINDINGS + 50)


def test_nothing_judged_is_nothing_exercised():
    assert {v.outcome for v in judge([]).verdicts} <= {Outcome.NOT_EXERCISED, Outcome.NOT_APPLICABLE}


def test_a_body_that_broke_off_is_no_evidence_against_the_server():
    broken = replace(exchange(1), failure=Failure(kind="reset", message="the connection was reset"))
    assert [finding.rule for finding in judge([broken]).findings] == []
    assert judge([exchange(1)]).findings != ()
