"""One probe on one cell: its script played, and asked again where a failure may have been the model's choice."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from conformance.client import Played, Player
from conformance.confirming import ENOUGH, TRIALS
from conformance.judge import judge
from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.rules import Rule
from conformance.rules.choices import BY_CHOICE
from conformance.values import Level, Verdict


def ask(
    player: Player,
    probe: str,
    cell: Cell,
    script: Callable[[Cell], Script],
    *,
    rules: Sequence[Rule],
    strands: Container[int] | None = None,
    again: bool = True,
) -> int:
    """Play a script, or some strands of it; how many steps were sent.

    A must failure of one of the rules that the model's choice can break is asked again, at most twice, with the strands
    that it was seen in. Raises ``Stopped``.
    """
    judged = [rule for rule in rules if rule.id in BY_CHOICE and rule.level_on(cell.protocol, cell.model) is Level.MUST]
    played = player.play(probe, cell, script(cell), strands=strands)
    sent = len(played)
    failures = _failures(played, judged, cell) if again and judged else {}
    counted = dict.fromkeys(failures, 1)
    for trial in range(2, TRIALS + 1):
        open_ones = {rule: found for rule, found in failures.items() if counted[rule] < ENOUGH}
        if not open_ones:
            break
        needed = frozenset().union(*open_ones.values())
        played = player.play(probe, cell, script(cell), strands=needed, trial=trial, after=sent)
        sent += len(played)
        for rule in _failures(played, [rule for rule in judged if rule.id in open_ones], cell):
            counted[rule] += 1
    return sent


def _failures(played: Sequence[Played], rules: Sequence[Rule], cell: Cell) -> dict[str, frozenset[int]]:
    """The rules with a must finding, and the strands that the exchanges behind it belong to."""
    strands = {each.exchange.id: each.step.strand for each in played}
    exchanges = (each.exchange for each in played)
    verdicts = judge(exchanges, rules=rules, protocols=(cell.protocol,), models=(cell.model,)).verdicts
    found = {verdict.rule: _strands(verdict, strands) for verdict in verdicts if verdict.findings}
    return {rule: numbers for rule, numbers in found.items() if numbers}


def _strands(verdict: Verdict, strands: dict[str, int]) -> frozenset[int]:
    behind = [name for finding in verdict.findings if finding.level is Level.MUST for name in finding.exchanges]
    return frozenset(strands[name] for name in behind if name in strands)
