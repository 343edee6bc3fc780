"""Scripts played against a reference server in this process, to know their steps; nothing is sent anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from conformance.client import Limits, Player, Target
from conformance.probes.cell import Cell
from conformance.probes.costs import worst_case
from conformance.probes.script import Script, Step
from conformance.protocols import read
from conformance.reference import Settings
from conformance.reference.application import Server
from conformance.reference.hooks import Hooks
from conformance.reference.settings import DEFAULT_KEY
from conformance.selftest.local import BASE_URLS, LIMITED, connecting
from conformance.selftest.probes import Probe
from conformance.values import Exchange

Strand = tuple[str, int]  # a probe's name with its cell, and the number of one of its strands


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """One request of a run, and what the reference server answers."""

    probe: str
    cell: Cell
    step: Step
    exchange: Exchange

    @property
    def strand(self) -> Strand:
        """The strand that it belongs to."""
        return f"{self.probe}/{self.cell.protocol}/{self.cell.model}", self.step.strand

    @property
    def paid(self) -> bool:
        """Whether it can cost output tokens: a request that must be refused does not."""
        return self.exchange.response is not None and self.exchange.response.status == 200

    @cached_property
    def worst(self) -> int:
        """The most output tokens that it can cost."""
        return worst_case(self.cell.protocol, self.step) if self.paid else 0

    @property
    def expected(self) -> tuple[int, int, int]:
        """The input tokens, those of them read from a cache, and the output tokens of the reference server's answer."""
        usage = read(self.exchange).usage
        if usage is None:
            return 0, 0, 0
        return usage.input or 0, usage.cached or 0, usage.output or 0


@dataclass
class _Stage:
    """A reference server in this process, and a player for it."""

    seed: int
    addresses: int
    limited: bool
    exchanges: list[Exchange] = field(default_factory=list)

    def player(self) -> Player:
        main = Server(Settings(seed=self.seed), Hooks())
        slow = Server(Settings(seed=self.seed, rpm=1), Hooks())
        return Player(
            target=Target(
                name="plan",
                base_urls=BASE_URLS[: self.addresses],
                limited=LIMITED if self.limited else None,
                key_env=None,
                fixed_key=DEFAULT_KEY,
            ),
            record=self.exchanges.append,
            limits=Limits(retries=0),
            connect=connecting({**dict.fromkeys(BASE_URLS, main), LIMITED: slow}),
        )


def rehearse(
    probes: Iterable[tuple[Probe, Cell]],
    *,
    strands: Mapping[str, tuple[int, ...]] | None = None,
    addresses: int = 2,
    limited: bool = True,
    seed: int = 0,
) -> tuple[Rehearsed, ...]:
    """Every request of these probes, or of the strands of them that are given by probe and cell.

    ``addresses`` is how many base URLs the target has, ``limited`` whether it has one with a rate limit.
    """
    found: list[Rehearsed] = []
    player = _Stage(seed=seed, addresses=addresses, limited=limited).player()
    for probe, cell in probes:
        name = f"{probe.name}/{cell.protocol}/{cell.model}"
        if strands is not None and name not in strands:
            continue

        def play(script: Callable[[Cell], Script], probe: Probe = probe, cell: Cell = cell, name: str = name) -> None:
            wanted = None if strands is None else strands[name]
            found.extend(
                Rehearsed(probe=probe.name, cell=cell, step=played.step, exchange=played.exchange)
                for played in player.play(probe.name, cell, script(cell), strands=wanted)
            )

        probe.run(play)
    player.close()
    return tuple(found)
