"""The kill matrix counts what it is given."""

from __future__ import annotations

import pytest

from conformance.selftest.matrix import Fate, Trial, matrix
from conformance.values import Protocol


def trial(fate, *by, fault="one", expected=("a.rule",), protocol=Protocol.CHAT, mode="json"):
    return Trial(
        fault=fault,
        protocol=protocol,
        mode=mode,
        model="kimi-k3",
        fate=fate,
        socket=False,
        requests=2,
        expected=expected,
        by=by,
    )


def made(*trials, rules=("a.rule",), judged=(), false_alarms=()):
    return matrix(trials, rules=rules, judged=judged, false_alarms=false_alarms, seed=0, seconds=1.0)


KILLED = trial(Fate.KILLED, "a.rule")


@pytest.mark.parametrize(
    ("found", "sound"),
    [
        (made(KILLED), True),
        (made(KILLED, trial(Fate.CAUGHT, "b.rule")), False),
        (made(KILLED, trial(Fate.SURVIVED)), False),
        (made(KILLED, rules=("a.rule", "b.rule")), False),
        (made(KILLED, false_alarms=("x",)), False),
    ],
)
def test_one_survivor_or_one_rule_without_fault_or_one_false_alarm_is_unsound(found, sound):
    assert found.sound is sound


def test_only_expected_rules_are_credited_with_a_kill():
    found = made(trial(Fate.KILLED, "a.rule", "b.rule"), rules=("a.rule", "b.rule"))
    assert found.faults_per_rule == {"a.rule": 1, "b.rule": 0}
    assert found.rules_without_fault == ("b.rule",)


def test_counts_are_by_fault_combination_and_trial():
    found = made(KILLED, trial(Fate.SURVIVED, mode="stream"), trial(Fate.KILLED, "a.rule", fault="two"))
    assert {key: found.counts[key] for key in ("faults", "combinations", "trials", "killed", "survived", "caught")} == {
        "faults": 2,
        "combinations": 3,
        "trials": 3,
        "killed": 2,
        "survived": 1,
        "caught": 0,
    }


def test_judged_cells_that_no_trial_showed_are_listed():
    found = made(KILLED, judged=("a.rule/chat/json", "a.rule/chat/stream"))
    assert found.cells_without_fault == ("a.rule/chat/stream",)
