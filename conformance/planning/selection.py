"""Which probes a profile plays on which cells, and which of their strands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from conformance.models import ALL
from conformance.planning.nightly import nightly
from conformance.probes.cell import AMPLE, THRIFTY, Cell
from conformance.rules import RULES
from conformance.selftest.probes import Probe, probes
from conformance.values import Protocol

PROFILES = ("smoke", "full", "nightly")


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Probes with their cells, in the suite's order."""

    probes: tuple[tuple[Probe, Cell], ...]
    strands: Mapping[str, tuple[int, ...]] | None = None  # by probe and cell; None: all


def select(
    profile: str,
    *,
    protocols: Sequence[Protocol] = tuple(Protocol),
    models: Sequence[str] = ALL,
    rules: Sequence[str] = (),
    night: date,
    addresses: int = 2,
    limited: bool = True,
    seed: int = 0,
) -> Selection:
    """What a run with this profile plays; ``rules`` are ids, none for all."""
    wanted = frozenset(rules or RULES)
    ample = ample_of(profile)
    chosen = tuple(
        (probe, Cell(protocol=protocol, model=model, seed=seed, ample=ample))
        for probe in probes()
        for protocol in protocols
        for model in models
        if probe.covers(protocol, model)
        and (not rules or probe.rules & wanted)
        and (profile != "smoke" or model in probe.smoke)
    )
    if profile != "nightly":
        return Selection(probes=chosen)
    strands = nightly(chosen, wanted, night=night, whole=bool(rules), addresses=addresses, limited=limited, seed=seed)
    kept = tuple((probe, cell) for probe, cell in chosen if f"{probe.name}/{cell.protocol}/{cell.model}" in strands)
    return Selection(probes=kept, strands=strands)


def ample_of(profile: str) -> int:
    """The output limit, in tokens, where a probe needs a whole short answer."""
    return AMPLE if profile == "full" else THRIFTY
