"""Runs faults: the clean server first, then each fault on each surface and mode, in parallel processes.

Most trials run in this process's memory, since what they break is in what the server says. Faults in the transport, and
a fixed share of the others, go over a real connection.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING

from conformance.client import Limits, Player, Stopped, Target
from conformance.judge import judge
from conformance.models import ALL
from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.protocols import read
from conformance.reference import Settings, running
from conformance.reference.application import Server
from conformance.reference.faults import FAULTS, Fault
from conformance.reference.hooks import Hooks
from conformance.reference.settings import DEFAULT_KEY
from conformance.rules import RULES
from conformance.selftest.local import BASE_URLS, LIMITED, connecting
from conformance.selftest.matrix import Fate, Matrix, Trial, matrix
from conformance.selftest.probes import Probe, probes
from conformance.values import Exchange, Level, Outcome, Protocol, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

ABOUT_TIME = frozenset({"model.highspeed.faster", "stream.not-buffered"})
SOCKET_EVERY = 12  # each twelfth trial that could run in memory goes over a connection all the same
LIMITS = Limits(timeout=60.0, total_timeout=120.0)


@dataclass(frozen=True, kw_only=True)
class Order:
    """One trial to run."""

    fault: str
    protocol: Protocol
    mode: str
    model: str
    socket: bool
    seed: int


@dataclass
class _Played:
    exchanges: list[Exchange] = field(default_factory=list)
    requests: int = 0


def selftest(
    faults: Sequence[Fault] | None = None,
    *,
    seed: int = 0,
    workers: int = 2,
    report: Callable[[Trial], None] = lambda _: None,
) -> Matrix:
    """Run every given fault (default: all) and the clean server; bounded in time by its probes."""
    begun = time.monotonic()
    chosen = list(FAULTS.values()) if faults is None else list(faults)
    orders = list(_orders(chosen, seed))
    cells = [(protocol, seed) for protocol in Protocol] if faults is None else []
    with ProcessPoolExecutor(max_workers=workers, mp_context=get_context("spawn")) as pool:
        clean = pool.map(_clean, cells)
        trials = []
        for trial in pool.map(trial_of, orders, chunksize=4):
            report(trial)
            trials.append(trial)
        judged, alarms = set[str](), list[str]()
        for exercised, found in clean:
            judged |= exercised
            alarms += found
    expected = dict.fromkeys(rule for fault in chosen for rule in fault.caught_by)
    return matrix(
        trials,
        rules=[name for name in RULES if faults is None or name in expected],
        judged=judged,
        false_alarms=alarms,
        seed=seed,
        seconds=time.monotonic() - begun,
    )


def trial_of(order: Order) -> Trial:
    """Run one trial: the probes that declare an expected rule, against a server with the fault."""
    fault = FAULTS[order.fault]
    hooks = fault.hooks(protocols=(order.protocol,), modes=(order.mode,))
    played = _probed(fault, order, hooks, until_found=not _only_records(fault))
    verdicts = judge(played.exchanges, models=ALL).verdicts
    found = _found(verdicts)
    if _only_records(fault):
        usual = judge(_probed(fault, order, Hooks()).exchanges, models=ALL).verdicts
        found |= _recorded_otherwise(fault, verdicts, usual)
    right = [rule for rule in fault.caught_by if rule in found]
    return Trial(
        fault=fault.id,
        protocol=order.protocol,
        mode=order.mode,
        model=order.model,
        fate=Fate.KILLED if right else Fate.CAUGHT if found else Fate.SURVIVED,
        socket=order.socket,
        requests=played.requests,
        expected=fault.caught_by,
        by=(*right, *sorted(found - set(right))),
        errors=tuple(verdict.rule for verdict in verdicts if verdict.outcome is Outcome.ERROR),
    )


def _probed(fault: Fault, order: Order, hooks: Hooks, *, until_found: bool = False) -> _Played:
    """What the probes for the expected rules see of a server with these hooks; all of it, or enough to bite."""
    played = _Played()
    wanted = frozenset(fault.caught_by)
    with _player(hooks, played, order.seed, socket=order.socket) as player:
        for protocol, model in _cells(fault, order):
            cell = Cell(protocol=protocol, model=model, seed=order.seed)
            for probe in _needed(fault, protocol, model):
                _play(player, [probe], cell)
                if until_found and _bites(wanted, played):
                    break
        played.requests = player.requests
    return played


def _bites(wanted: frozenset[str], played: _Played) -> bool:
    """Whether an expected rule has found something already, so that no further probe is needed."""
    return bool(_found(judge(played.exchanges, rules=[RULES[name] for name in sorted(wanted)]).verdicts))


def _orders(faults: Iterable[Fault], seed: int) -> Iterator[Order]:
    number = 0
    for fault in faults:
        for protocol, mode in fault.combinations:
            model = _model(fault, protocol)
            number += 1
            socket = fault.needs_socket or number % SOCKET_EVERY == 0
            yield Order(fault=fault.id, protocol=protocol, mode=mode, model=model, socket=socket, seed=seed)


def _model(fault: Fault, protocol: Protocol) -> str:
    """A model that the fault shows on and an expected rule covers."""
    rules = [RULES[name] for name in fault.caught_by if name in RULES]
    fitting = [m for m in fault.models if any(rule.covers(protocol, m) for rule in rules)]
    return (fitting or list(fault.models))[0]


def _cells(fault: Fault, order: Order) -> list[tuple[Protocol, str]]:
    """Where to probe: the trial's cell, and those that an expected rule compares it with."""
    pair = any(name.startswith("model.highspeed.") for name in fault.caught_by)
    across = "usage.same-across-protocols" in fault.caught_by
    surfaces = list(Protocol) if across else [order.protocol]
    return [(protocol, model) for protocol in surfaces for model in (ALL[:2] if pair else (order.model,))]


def _needed(fault: Fault, protocol: Protocol, model: str) -> list[Probe]:
    """The probes that declare an expected rule: those for the first of them first, those of many requests last."""
    wanted = frozenset(fault.caught_by)
    fitting = [probe for probe in probes() if probe.rules & wanted and probe.covers(protocol, model)]
    return sorted(fitting, key=lambda probe: (probe.topic == "constraints", fault.caught_by[0] not in probe.rules))


def _play(player: Player, needed: Iterable[Probe], cell: Cell) -> None:
    for probe in needed:

        def play(script: Callable[[Cell], Script], name: str = probe.name) -> None:
            player.play(name, cell, script(cell))

        try:
            probe.run(play)
        except Stopped:
            return


@contextmanager
def _player(hooks: Hooks, played: _Played, seed: int, *, socket: bool) -> Iterator[Player]:
    settings, limited = Settings(seed=seed), Settings(seed=seed, rpm=1)
    with ExitStack() as stack:
        if socket:
            server = stack.enter_context(running(settings, hooks=hooks, addresses=2))
            slow = stack.enter_context(running(limited, hooks=hooks, addresses=1))
            urls, limited_url = server.base_urls, slow.base_url
            player = Player(target=_target(urls, limited_url), record=played.exchanges.append, limits=LIMITS)
        else:
            main, slow_server = Server(settings, hooks), Server(limited, hooks)
            servers = {**dict.fromkeys(BASE_URLS, main), LIMITED: slow_server}
            player = Player(
                target=_target(BASE_URLS, LIMITED),
                record=played.exchanges.append,
                limits=LIMITS,
                connect=connecting(servers),
            )
        yield player
        player.close()


def _target(urls: tuple[str, ...], limited: str) -> Target:
    return Target(name="selftest", base_urls=urls, limited=limited, key_env=None, fixed_key=DEFAULT_KEY)


def _found(verdicts: Iterable[Verdict]) -> set[str]:
    """The rules with a finding above info."""
    return {v.rule for v in verdicts if any(finding.level is not Level.INFO for finding in v.findings)}


def _only_records(fault: Fault) -> bool:
    """Whether every expected rule is of level info: it fails nothing, but writes down something else."""
    return all(RULES[name].level is Level.INFO for name in fault.caught_by)


def _recorded_otherwise(fault: Fault, verdicts: Iterable[Verdict], usual: Iterable[Verdict]) -> set[str]:
    """The expected rules that record something which the clean server does not make them record; numbers aside.

    What a rule about time records of the clean server is chance, so that there any record counts.
    """
    before = _records(usual)
    after = _records(verdicts)
    return {rule for rule in fault.caught_by if after[rule] - (set() if rule in ABOUT_TIME else before[rule])}


def _records(verdicts: Iterable[Verdict]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for verdict in verdicts:
        found[verdict.rule] |= {re.sub(r"\d+", "#", finding.message) for finding in verdict.findings}
    return found


def _clean(order: tuple[Protocol, int]) -> tuple[set[str], list[str]]:
    """Every probe of a surface on the clean server: what was judged in which mode, and findings above info."""
    protocol, seed = order
    played = _Played()
    with _player(Hooks(), played, seed, socket=False) as player:
        for model in ALL:
            cell = Cell(protocol=protocol, model=model, seed=seed)
            _play(player, (probe for probe in probes() if probe.covers(protocol, model)), cell)
    verdicts = judge(played.exchanges, protocols=(protocol,)).verdicts
    alarms = [
        f"{finding.rule}/{finding.protocol}/{finding.model}: {finding.message}"
        for verdict in verdicts
        for finding in verdict.findings
        if finding.level is not Level.INFO
    ]
    return _judged(played.exchanges), alarms


def _judged(exchanges: list[Exchange]) -> set[str]:
    """Which rule judged which mode of a surface, as "rule/surface/mode", for rules over one exchange or stream."""
    found = set()
    for exchange in exchanges:
        answer = read(exchange)
        mode = "stream" if answer.asked.stream else "json"
        for rule in RULES.values():
            if rule.find is None and rule.covers(answer.protocol, answer.model) and rule.guard and rule.guard(answer):
                found.add(f"{rule.id}/{answer.protocol.value}/{mode}")
    return found
