"""The bench: sends cases (one request, or several in their order) and judges them, each only once.

What was sent and judged is remembered, so that shrinking, which comes back to the same requests, costs a target nothing
twice and is told the same every time.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TypeVar

from conformance.client import Player, Stopped
from conformance.generators.failure import Sent
from conformance.judge import judge
from conformance.probes.cell import Cell
from conformance.probes.script import Script, Step
from conformance.protocols import read
from conformance.rules import RULES
from conformance.values import Exchange, Finding, Level, Outcome, Verdict

Case = tuple[Sent, ...]
K = TypeVar("K")
V = TypeVar("V")
REMEMBERED = 4096  # cases of one cell
ACCEPTED = 2048  # bodies of accepted requests of one cell


class SpentError(BaseException):
    """Nothing more may be sent. No ``Exception``: hypothesis would take one for a failure and shrink it."""


@dataclass
class Tally:
    """What is known of one rule in one cell."""

    exercised: int = 0
    unsure: str | None = None
    error: str | None = None
    finding: Finding | None = None  # the first above info


@dataclass
class Bench:
    """One cell of a target under fuzzing. ``most_calls`` bounds what the player sends in all, for all its benches."""

    player: Player
    taken: list[Exchange]  # where the player records to
    cell: Cell
    most_calls: int | None = None
    shrinking: int | None = None  # calls that the present shrinking may still make; None: nothing is shrunk
    tallies: dict[str, Tally] = field(default_factory=dict)
    accepted: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    _exchanges: OrderedDict[Case, tuple[Exchange, ...]] = field(default_factory=OrderedDict)
    _findings: OrderedDict[Case, tuple[Finding, ...]] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        protocol, model = self.cell.protocol, self.cell.model
        self._rules = tuple(rule for rule in RULES.values() if rule.covers(protocol, model))

    def exchanges(self, case: Case, *, cures: bool = True) -> tuple[Exchange, ...] | None:
        """Every attempt of every request of a case; None where shrinking has used up its calls.

        Raises ``SpentError`` where nothing is shrunk and no call is left, or where the target is gone.
        """
        known = self._exchanges.get(case)
        if known is not None:
            return known
        before = self.exchanges(case[:-1], cures=cures) if len(case) > 1 else ()
        if before is None or not self._may_send():
            return None
        return _kept(self._exchanges, case, (*before, *self._sent(case, before, cures=cures)), REMEMBERED)

    def findings(self, case: Case, *, cures: bool = True) -> tuple[Finding, ...] | None:
        """What the rules find in a case above info, the heaviest first; None as ``exchanges``."""
        known = self._findings.get(case)
        if known is not None:
            return known
        exchanges = self.exchanges(case, cures=cures)
        if exchanges is None:
            return None
        protocol, model = self.cell.protocol, self.cell.model
        verdicts = judge(exchanges, rules=self._rules, protocols=(protocol,), models=(model,)).verdicts
        self._count(verdicts)
        found = [finding for verdict in verdicts for finding in verdict.findings if finding.level is not Level.INFO]
        found.sort(key=lambda finding: finding.level is not Level.MUST)
        if not found and read(exchanges[-1]).ok:
            _kept(self.accepted, case[-1].body, None, ACCEPTED)
        return _kept(self._findings, case, tuple(found), REMEMBERED)

    def _may_send(self) -> bool:
        spent = self.most_calls is not None and self.player.requests >= self.most_calls
        if self.shrinking is None:
            if spent:
                raise SpentError(f"the limit of {self.most_calls} calls is reached")
            return True
        self.shrinking -= 1
        return not spent and self.shrinking >= 0

    def _sent(self, case: Case, before: tuple[Exchange, ...], *, cures: bool) -> list[Exchange]:
        """Send the last request of a case."""
        request = case[-1]
        parent = None if request.parent is None else _last_attempt(before, request.parent).id
        step = Step(body=request.body, intents=request.intents, parent=parent, cures=cures)
        self.taken.clear()
        number = self.player.requests + 1
        try:
            self.player.play(f"fuzz-{number}", self.cell, _one(step))
        except Stopped as error:
            raise SpentError(str(error)) from None
        return list(self.taken)

    def _count(self, verdicts: tuple[Verdict, ...]) -> None:
        for verdict in verdicts:
            if verdict.outcome in (Outcome.NOT_EXERCISED, Outcome.NOT_APPLICABLE):
                continue
            tally = self.tallies.setdefault(verdict.rule, Tally())
            tally.exercised += verdict.exercised
            if verdict.outcome is Outcome.FAIL and tally.finding is None:
                tally.finding = next(one for one in verdict.findings if one.level is not Level.INFO)
            if verdict.outcome is Outcome.ERROR:
                tally.error = tally.error or verdict.reason
            elif verdict.outcome is Outcome.INCONCLUSIVE:
                tally.unsure = verdict.reason


def _one(step: Step) -> Script:
    yield step


def _last_attempt(exchanges: tuple[Exchange, ...], place: int) -> Exchange:
    """The last attempt of the request at a place."""
    firsts = [number for number, exchange in enumerate(exchanges) if exchange.attempt == 1]
    end = firsts[place + 1] if place + 1 < len(firsts) else len(exchanges)
    return exchanges[end - 1]


def _kept(memory: OrderedDict[K, V], key: K, value: V, most: int) -> V:
    """Remember a value, and forget the oldest beyond so many."""
    memory[key] = value
    if len(memory) > most:
        memory.popitem(last=False)
    return value
