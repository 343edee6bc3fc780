"""The kill matrix: what became of every fault, and which rules no fault can fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from statistics import median

import msgspec

from conformance.values import Protocol


class Fate(StrEnum):
    """What became of a fault on one surface, mode and model."""

    KILLED = "killed"  # a rule that must catch it did
    CAUGHT = "caught"  # only other rules did
    SURVIVED = "survived"


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One fault on one surface, mode and model."""

    fault: str
    protocol: Protocol
    mode: str
    model: str
    fate: Fate
    socket: bool  # over a real connection
    requests: int
    expected: tuple[str, ...]
    by: tuple[str, ...]  # every rule that found something, the expected ones first
    errors: tuple[str, ...] = ()  # rules that raised


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """All trials of a selftest, and the counts."""

    seed: int
    seconds: float
    counts: dict[str, int]
    trials: tuple[Trial, ...]
    faults_per_rule: dict[str, int]
    rules_without_fault: tuple[str, ...]
    cells_without_fault: tuple[str, ...]  # "rule/surface/mode" that a rule judges and no killed fault shows
    false_alarms: tuple[str, ...]  # findings above info on the clean server

    @property
    def sound(self) -> bool:
        """Whether every fault was killed and the clean server is clean."""
        survivors = self.counts["survived"] + self.counts["caught"]
        return not survivors and not self.false_alarms and not self.rules_without_fault


def matrix(
    trials: Iterable[Trial],
    *,
    rules: Iterable[str],
    judged: Iterable[str],
    false_alarms: Iterable[str],
    seed: int,
    seconds: float,
) -> Matrix:
    """Put trials together.

    ``rules`` are the ids that must have a fault (all but those that only record), ``judged`` the "rule/surface/mode"
    that the clean server's traffic exercised.
    """
    trials = tuple(trials)
    killed: dict[str, set[str]] = {rule: set() for rule in rules}
    shown = set()
    for trial in trials:
        for rule in trial.by:
            if rule in trial.expected and rule in killed:
                killed[rule].add(trial.fault)
            shown.add(f"{rule}/{trial.protocol.value}/{trial.mode}")
    fates = Counter(trial.fate for trial in trials)
    per_rule = {rule: len(faults) for rule, faults in killed.items()}
    return Matrix(
        seed=seed,
        seconds=round(seconds, 1),
        counts={
            "faults": len({trial.fault for trial in trials}),
            "combinations": len({(trial.fault, trial.protocol, trial.mode) for trial in trials}),
            "trials": len(trials),
            "socket": sum(trial.socket for trial in trials),
            **{fate.value: fates[fate] for fate in Fate},
            "rules": len(per_rule),
            "rules_without_fault": sum(not count for count in per_rule.values()),
            "requests": sum(trial.requests for trial in trials),
            "faults_per_rule_minimum": min(per_rule.values(), default=0),
            "faults_per_rule_median": int(median(per_rule.values())) if per_rule else 0,
        },
        trials=trials,
        faults_per_rule=per_rule,
        rules_without_fault=tuple(rule for rule, count in per_rule.items() if not count),
        cells_without_fault=tuple(sorted(set(judged) - shown)),
        false_alarms=tuple(false_alarms),
    )
