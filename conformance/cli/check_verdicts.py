"""The verdicts of ``check``: each file by itself, all of them together, or what is too large in windows.

One file is held at a time, or, together, as much as is judged at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from conformance.cli.check_files import Source
from conformance.cli.folding import fold
from conformance.evidence import Large, Recording, Together, Unreadable, bodies
from conformance.evidence.large import fits, renamed, spooled, weight
from conformance.evidence.spool import Spool
from conformance.judge import MOST_FINDINGS, judge
from conformance.redact import Secrets
from conformance.rules import Rule
from conformance.values import Basis, Exchange, Protocol, Verdict

Clean = Callable[[Iterable[Exchange]], list[Exchange]]


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


@dataclass(frozen=True, kw_only=True)
class File:
    """What became of a file, once it is held no longer."""

    path: str
    format: str
    count: int  # exchanges
    skipped: Mapping[str, int]
    cut: str | None
    windows: bool


class Judged:
    """Judges sources and keeps what only a pass over them tells.

    ``keep`` is given each source once it is judged, before it is let go.
    """

    def __init__(
        self, wanted: Wanted, clean: Clean, secrets: Secrets, keep: Callable[[Source], None] = lambda _: None
    ) -> None:
        self.counted = 0
        """Exchanges that count for a cell that was asked for."""
        self.files: list[File] = []
        self.unreadable: list[Unreadable] = []
        """Files that could not be read to their end."""
        self.condensed = 0
        """Streams that were made short before they were judged."""
        self.places: dict[tuple[str, str], int] = {}
        """File and exchange of each finding to its place in the file."""
        self._wanted, self._clean, self._secrets, self._keep = wanted, clean, secrets, keep

    def verdicts(self, sources: Iterable[Source], *, together: bool) -> tuple[Verdict, ...]:
        """One verdict a case over all sources, which are taken one after another."""
        folded = fold(self._together(iter(sources)) if together else self._each(iter(sources))) or self._judge([])
        return tuple(map(self._secrets.value, folded))  # a key that a stream gave back in pieces is whole in a finding

    def _each(self, sources: Iterator[Source]) -> Iterator[tuple[Verdict, ...]]:
        while (source := next(sources, None)) is not None:
            yield from self._one(source)
            del source  # lest two are held while the next is opened

    def _one(self, source: Source) -> Iterator[tuple[Verdict, ...]]:
        try:
            if isinstance(source, Large):
                yield self._windows(source)
            else:
                yield self._judge(list(enumerate(source.exchanges)))
            self._close(source)
        except Unreadable as error:
            self.unreadable.append(error.with_traceback(None))

    def _together(self, sources: Iterator[Source]) -> Iterator[tuple[Verdict, ...]]:
        try:
            held, spool = self._gathered(sources)
            if len(held) == 1:
                yield from self._one(held[0])
                return
            if spool is not None:
                yield self._windows(Together([each for each in held if isinstance(each, Large)]))
            else:
                parts = ((place, part) for place, part in enumerate(held, 1) if isinstance(part, Recording))
                yield self._judge(
                    [(n, renamed(each, place)) for place, part in parts for n, each in enumerate(part.exchanges)]
                )
            for source in held:
                self._close(source, windows=spool is not None)
        except Unreadable as error:
            self.unreadable.append(error.with_traceback(None))

    def _gathered(self, sources: Iterator[Source]) -> tuple[list[Source], Spool | None]:
        """All sources: held where they can be judged at once, else in a spool. Raises ``Unreadable``."""
        held: list[Source] = []
        spool: Spool | None = None
        size, count, whole, journals = 0, 0, True, True
        while (source := next(sources, None)) is not None:
            whole = whole and isinstance(source, Recording)
            journals = journals and source.format == "journal"
            if isinstance(source, Recording):
                size += sum(map(weight, source.exchanges))
                count += source.count
            if spool is None and held and not (whole and fits(size, count, journal=journals)):
                spool = Spool(self._secrets.exchange)
                for place, each in enumerate(held):
                    held[place] = spooled(each, spool) if isinstance(each, Recording) else each
            if spool is not None and isinstance(source, Recording):
                source = spooled(source, spool)
            held.append(source)
            del source
        return held, spool

    def _close(self, source: Source, *, windows: bool | None = None) -> None:
        self._keep(source)
        large = isinstance(source, Large)
        self.files.append(
            File(
                path=source.path,
                format=source.format,
                count=source.count,
                skipped=dict(source.skipped),
                cut=source.cut,
                windows=large if windows is None else windows,
            )
        )

    def _windows(self, large: Large | Together) -> tuple[Verdict, ...]:
        return fold(map(self._judge, large.windows()), most=MOST_FINDINGS) or self._judge([])

    def _judge(self, numbered: list[tuple[int, Exchange]]) -> tuple[Verdict, ...]:
        """Judge exchanges that come with their places in their files."""
        numbers = {(exchange.file, exchange.id): number for number, exchange in numbered}
        clean = self._clean(exchange for _, exchange in numbered)
        self.counted += sum(map(self._wanted.covers, clean))
        self.condensed += sum(map(bodies.is_condensed, clean))
        wanted = self._wanted
        verdicts = judge(clean, rules=wanted.rules, protocols=wanted.protocols, models=wanted.models).verdicts
        verdicts = tuple(v for v in verdicts if wanted.basis is None or _basis(v, wanted.rules) is wanted.basis)
        for finding in (finding for verdict in verdicts for finding in verdict.findings):
            place = (finding.file or "", finding.exchange or "")
            self.places[place] = numbers.get(place, 0)
        return verdicts


def _basis(verdict: Verdict, rules: Iterable[Rule]) -> Basis:
    return next(rule for rule in rules if rule.id == verdict.rule).basis_on(verdict.protocol)
