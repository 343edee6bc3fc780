"""The verdicts of ``check``: each file by itself, all of them together, or a large one in windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from conformance.cli.check_files import Source
from conformance.cli.folding import fold
from conformance.evidence import Large, Recording
from conformance.judge import MOST_FINDINGS, judge
from conformance.redact import Secrets
from conformance.rules import Rule
from conformance.values import Basis, Exchange, Protocol, Verdict


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the options leave to be judged."""

    rules: tuple[Rule, ...]
    protocols: tuple[Protocol, ...]
    models: tuple[str, ...]
    basis: Basis | None

    def covers(self, exchange: Exchange) -> bool:
        """Whether an exchange counts for a cell that was asked for."""
        return exchange.protocol in self.protocols and exchange.model in self.models


class Judged:
    """Judges sources and keeps what only a pass over them tells: how many exchanges counted, and where findings are."""

    def __init__(self, wanted: Wanted, clean: Callable[[Iterable[Exchange]], list[Exchange]], secrets: Secrets) -> None:
        self.counted = 0
        self.places: dict[tuple[str, str], int] = {}  # file and exchange to its place in the file, for large files
        self._wanted, self._clean, self._secrets = wanted, clean, secrets

    def verdicts(self, sources: Sequence[Source], *, together: bool) -> tuple[Verdict, ...]:
        """One verdict a case over all sources."""
        folded = fold(self._sets(sources, together=together))
        return tuple(map(self._secrets.value, folded))  # a key that a stream gave back in pieces is whole in a finding

    def _sets(self, sources: Sequence[Source], *, together: bool) -> Iterator[tuple[Verdict, ...]]:
        recordings = [source for source in sources if isinstance(source, Recording)]
        if together and len(recordings) > 1:
            numbered = enumerate(recordings, 1)
            yield self._judge([_renamed(exchange, place) for place, part in numbered for exchange in part.exchanges])
            return
        for source in sources:
            yield self._windows(source) if isinstance(source, Large) else self._judge(source.exchanges)
        if not sources:
            yield self._judge([])

    def _windows(self, large: Large) -> tuple[Verdict, ...]:
        def one(window: list[tuple[int, Exchange]]) -> tuple[Verdict, ...]:
            numbers = {exchange.id: number for number, exchange in window}
            verdicts = self._judge([exchange for _, exchange in window])
            for finding in (finding for verdict in verdicts for finding in verdict.findings):
                name = finding.exchange or ""
                self.places[large.path, name] = numbers.get(name, 0)
            return verdicts

        return fold(map(one, large.windows()), most=MOST_FINDINGS) or self._judge([])

    def _judge(self, exchanges: Iterable[Exchange]) -> tuple[Verdict, ...]:
        clean = self._clean(exchanges)
        self.counted += sum(map(self._wanted.covers, clean))
        wanted = self._wanted
        verdicts = judge(clean, rules=wanted.rules, protocols=wanted.protocols, models=wanted.models).verdicts
        return tuple(v for v in verdicts if wanted.basis is None or _basis(v, wanted.rules) is wanted.basis)


def _basis(verdict: Verdict, rules: Iterable[Rule]) -> Basis:
    return next(rule for rule in rules if rule.id == verdict.rule).basis_on(verdict.protocol)


def _renamed(exchange: Exchange, place: int) -> Exchange:
    """Ids are unique within a file only: ``2:7`` is the seventh of the second file."""
    parent = None if exchange.parent is None else f"{place}:{exchange.parent}"
    return replace(exchange, id=f"{place}:{exchange.id}", parent=parent)
