"""The hunt: every kind of generated request on every surface and model, until the examples or the calls are used up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from conformance import __version__
from conformance.fuzzing.bench import Bench, Case, SpentError, Tally
from conformance.fuzzing.nearest import nearest
from conformance.generators.failure import Failure, Sent, sent
from conformance.generators.machine import machine
from conformance.generators.negatives import broken, hostile
from conformance.generators.shrinking import Aim, EnoughError, FoundError, run_machine, search
from conformance.generators.strategies import Proposal, requests
from conformance.probes.cell import encode
from conformance.protocols import Answer, read
from conformance.rules import RULES
from conformance.values import Basis, Level, Outcome, Protocol, Verdict

VALID, BROKEN, HOSTILE, CONVERSATION = "valid", "broken", "hostile", "conversation"
SHARES = {VALID: 5, BROKEN: 3, HOSTILE: 1, CONVERSATION: 1}  # of the examples
_STRATEGIES: dict[str, Callable[..., SearchStrategy[Proposal]]] = {VALID: requests, BROKEN: broken, HOSTILE: hostile}
MOST_DROPPED = 16  # fields that are tried one by one
_INDEPENDENT = frozenset(  # fields without which the others mean the same, and are as valid
    {
        "cache_control",
        "max_completion_tokens",
        "max_output_tokens",
        "max_tokens",
        "output_config",
        "prompt_cache_options",
        "reasoning",
        "reasoning_effort",
        "response_format",
        "stop_sequences",
        "stream",
        "system",
        "temperature",
        "text",
        "tool_choice",
        "top_p",
    }
)
STEPS = 8  # of one conversation, at most


@dataclass(frozen=True, kw_only=True)
class Order:
    """How much is generated, from which seed, within which bounds.

    ``examples`` are requests of the first three kinds and steps of conversations; ``most_tokens`` bounds the output
    that is asked for, ``shrink_calls`` what one shrinking may send.
    """

    examples: int
    seed: int
    most_tokens: int | None = None
    shrink_calls: int = 400
    most_failures: int = 20  # each costs a shrinking: more say little more
    kinds: Sequence[str] = tuple(SHARES)


@dataclass
class Fuzzed:
    """What a hunt came to."""

    failures: list[Failure] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    examples: int = 0
    requests: int = 0
    partial: str | None = None  # why it ended early

    def known(self, protocol: Protocol) -> set[str]:
        """The rules that are known to fail on a surface."""
        return {rule for one in self.failures if one.protocol is protocol for rule in (one.rule, *one.also)}


def fuzz(benches: Sequence[Bench], order: Order, *, report: Callable[[str], None] = lambda _: None) -> Fuzzed:
    """Fuzz every bench. Each rule that fails is shrunk once a surface; ``report`` is told what is done next."""
    done = Fuzzed()
    try:
        for kind, examples in _shares(order, len(benches)).items():
            for bench in benches:
                report(f"{kind} requests, {bench.cell.protocol.value} {bench.cell.model}")
                _hunt(_Hunting(bench, kind, order), examples, done)
    except SpentError as spent:
        done.partial = str(spent)
    done.requests = benches[0].player.requests if benches else 0
    done.verdicts = [verdict for bench in benches for verdict in _verdicts(bench)]
    return done


def _shares(order: Order, cells: int) -> dict[str, int]:
    """Examples of each kind in each cell, at least one."""
    whole = sum(SHARES[kind] for kind in order.kinds) * max(1, cells)
    return {kind: max(1, -(-order.examples * SHARES[kind] // whole)) for kind in order.kinds}


def _hunt(hunting: _Hunting, examples: int, done: Fuzzed) -> None:
    """Add failures of one kind in one cell, each of another rule, until the examples are used up."""
    left = examples
    while left > 0:
        found = hunting.next_failure(left, skipped=done.known(hunting.bench.cell.protocol))
        done.examples += hunting.drawn
        left -= max(1, hunting.drawn)
        if found is None:
            return
        done.failures.append(found)
        most = hunting.order.most_failures
        if len(done.failures) >= most:
            raise SpentError(f"{most} rule{'s' * (most > 1)} found broken, which is as many as were asked for")


def _seed(*parts: object) -> int:
    return int.from_bytes(hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest(), "big")


@dataclass
class _Hunting:
    """The hunt for failures of one kind in one cell."""

    bench: Bench
    kind: str
    order: Order
    skipped: set[str] = field(default_factory=set)  # rules that are known to fail
    drawn: int = 0  # examples until the last failure, or in vain
    rounds: int = 0
    last: FoundError | None = None  # in a conversation

    @property
    def cures(self) -> bool:
        """Whether a server error is tried again: the requests are valid."""
        return self.kind in (VALID, CONVERSATION)

    def next_failure(self, examples: int, *, skipped: set[str]) -> Failure | None:
        """The next failure of a rule that is not skipped, shrunk."""
        cell = self.bench.cell
        self.skipped, self.bench.shrinking, self.last = skipped, None, None
        seed = _seed(self.order.seed, self.kind, cell.protocol.value, cell.model, self.rounds)
        self.rounds += 1
        found = (self._conversation if self.kind == CONVERSATION else self._request)(examples, seed)
        self.bench.shrinking = None
        return found

    def _request(self, examples: int, seed: int) -> Failure | None:
        """A failure of a single proposal."""
        cell = self.bench.cell
        strategy = _STRATEGIES[self.kind](cell.protocol, cell.model, most_tokens=self.order.most_tokens)
        found, self.drawn = search(strategy, lambda one: self.rules(_case(one)), examples=examples, seed=seed)
        if found is None:
            return None
        return self._failure(self._plainer(_case(found.value), found.rule), found.rule, found.tries, found.value)

    def _conversation(self, examples: int, seed: int) -> Failure | None:
        """A failure of a conversation."""
        aim, cell = Aim(), self.bench.cell
        talk = machine(cell.protocol, cell.model, lambda: _Line(self, aim), most_tokens=self.order.most_tokens)
        runs = max(1, examples * 2 // STEPS)  # about half of the steps send something
        error = run_machine(talk, examples=runs, seed=seed, steps=STEPS)
        self.drawn = aim.examples if error else max(aim.examples, examples)
        if error is None:
            return None
        case = self._plainer(self._fewer(error.evidence, error.rule), error.rule)
        return self._failure(case, error.rule, aim.tries, None)

    def _plainer(self, case: Case, rule: str) -> Case:
        """The case without the top-level fields that the failure does not need, where shrinking ended early."""
        bodies = [_parsed(request.body) for request in case]
        self.bench.shrinking = MOST_DROPPED * len(case)
        for name in [name for name in bodies[-1] if name in _INDEPENDENT]:
            left = tuple(
                replace(request, text=encode({key: value for key, value in body.items() if key != name}).decode())
                if name in body
                else request
                for request, body in zip(case, bodies, strict=True)
            )
            found = self.bench.findings(left, cures=self.cures) or ()
            if any(finding.rule == rule for finding in found):
                case, bodies = left, [_parsed(request.body) for request in left]
        return case

    def _fewer(self, case: Case, rule: str) -> Case:
        """The case without the requests that the failure does not need: each carries the history before it."""
        self.bench.shrinking = len(case) ** 2  # at most: a shorter case sends anew what follows the place
        place = 0
        while place < len(case) - 1:
            left = _without(case, place)
            found = self.bench.findings(left, cures=self.cures) or ()
            if any(finding.rule == rule for finding in found):
                case = left
            else:
                place += 1
        return case

    def rules(self, case: Case) -> list[str]:
        """The rules that a case fails, none of those that are known to fail; from the first on it is shrinking.

        Raises ``EnoughError`` once shrinking has used up its calls.
        """
        found = self.bench.findings(case, cures=self.cures)
        if found is None:
            raise EnoughError
        rules = list(dict.fromkeys(finding.rule for finding in found if finding.rule not in self.skipped))
        if rules and self.bench.shrinking is None:
            self.bench.shrinking = self.order.shrink_calls
        return rules

    def _failure(self, case: Case, rule: str, tries: int, proposal: Proposal | None) -> Failure:
        bench = self.bench
        found = bench.findings(case, cures=self.cures) or ()
        finding = next(finding for finding in found if finding.rule == rule)
        entry, protocol = RULES[rule], bench.cell.protocol
        return Failure(
            tool=__version__,
            rule=rule,
            level=finding.level or Level.MUST,
            basis=finding.basis or Basis.DOCUMENTED,
            statement=entry.statement,
            source=entry.sources[protocol],
            protocol=protocol,
            model=bench.cell.model,
            message=finding.message,
            pointer=finding.pointer,
            expected=finding.expected,
            actual=finding.actual,
            kind=self.kind,
            seed=self.order.seed,
            examples=self.drawn,
            tries=tries,
            also=tuple(dict.fromkeys(other.rule for other in found if other.rule != rule)),
            broken=proposal.broken if proposal else None,
            requests=case,
            nearest=nearest(bench, case[-1].body, proposal.base if proposal else None),
        )


class _Line:
    """The line of one conversation: every step is judged together with those before it."""

    def __init__(self, hunting: _Hunting, aim: Aim) -> None:
        self._hunting = hunting
        self._aim = aim
        self._case: Case = ()
        self._kept: int | None = None  # the place of the last answer that is gone on from

    def send(self, body: dict[str, Any], *, goes_on: bool, keep: bool) -> Answer | None:
        """As ``machine.Line``."""
        hunting = self._hunting
        self._case = (*self._case, sent(encode(body), parent=self._kept if goes_on else None))
        try:
            met = self._aim.meets(hunting.rules(self._case))
        except EnoughError:
            raise EnoughError(hunting.last) from None
        if met:
            hunting.last = FoundError(self._aim.rule or "", self._case)
            raise hunting.last
        if keep:
            self._kept = len(self._case) - 1
        exchanges = hunting.bench.exchanges(self._case, cures=True)
        return None if exchanges is None else read(exchanges[-1])


def _parsed(body: bytes) -> dict[str, Any]:
    """The body as an object; empty where it is none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _without(case: Case, place: int) -> Case:
    """The case without one request; what went on from it stands alone then."""

    def moved(request: Sent) -> Sent:
        parent = request.parent
        if parent is None or parent < place:
            return request
        return replace(request, parent=None if parent == place else parent - 1)

    return tuple(moved(request) for number, request in enumerate(case) if number != place)


def _case(proposal: Proposal) -> Case:
    return tuple(sent(body if isinstance(body, bytes) else encode(body), proposal.intents) for body in proposal.bodies)


def _verdicts(bench: Bench) -> Iterator[Verdict]:
    """One verdict for every rule that the cell's traffic exercised, with its first finding where it fails."""
    cell = bench.cell
    for name, entry in RULES.items():
        tally = bench.tallies.get(name)
        if tally is None:
            continue
        level = entry.level_on(cell.protocol, cell.model)
        outcome, reason = _outcome(tally)
        yield Verdict(
            rule=name,
            protocol=cell.protocol,
            model=cell.model,
            outcome=outcome,
            level=level if tally.finding is None else tally.finding.level or level,
            findings=() if tally.finding is None else (tally.finding,),
            exercised=tally.exercised,
            reason=reason,
        )


def _outcome(tally: Tally) -> tuple[Outcome, str | None]:
    if tally.error is not None:
        return Outcome.ERROR, tally.error
    if tally.finding is not None:
        return Outcome.FAIL, None
    return (Outcome.PASS, None) if tally.exercised else (Outcome.INCONCLUSIVE, tally.unsure)
