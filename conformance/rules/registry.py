"""What a rule is, and the one list of them.

A rule is a pure function in a topic file, declared with ``@rule``. It yields a ``Finding`` for each breach, yields
nothing where all is well, and raises ``Inconclusive`` where it cannot be told. The judge fills in the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.models import ALL
from conformance.protocols.view import Answer
from conformance.values import Basis, Finding, Level, Over, Protocol, Source

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES
EVERY = (CHAT, MESSAGES, RESPONSES)

Findings = Iterator[Finding]
Group = tuple[Answer, ...]
Guard = Callable[[Answer], bool]
Finder = Callable[[Sequence[Answer]], Iterable[Group]]


class Inconclusive(Exception):
    """Raised by a rule that cannot tell; the argument says why."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One entry of the ledger, as it is implemented."""

    id: str
    level: Level
    basis: Basis
    over: Over
    protocols: tuple[Protocol, ...]
    models: tuple[str, ...]
    sources: Mapping[Protocol, Source]
    statement: str
    applies: str  # when it applies, in words
    guard: Guard | None
    find: Finder | None
    judge: Callable[[Answer], Iterable[Finding]] | Callable[[Group], Iterable[Finding]]
    by_analogy: frozenset[Protocol] = frozenset()
    should_on: frozenset[tuple[Protocol, str]] = frozenset()
    must_on: frozenset[Protocol] = frozenset()  # surfaces on which the ledger lets a should rule's finding be must
    not_on: frozenset[tuple[Protocol, str]] = frozenset()  # cells that the ledger's own words take out

    @property
    def family(self) -> str:
        """The first part of the id, e.g. usage."""
        return self.id.split(".", 1)[0]

    def level_on(self, protocol: Protocol, model: str) -> Level:
        """The rule's level in one cell: the most that a finding of it weighs there."""
        if protocol in self.must_on:
            return Level.MUST
        return Level.SHOULD if (protocol, model) in self.should_on and self.level is Level.MUST else self.level

    def basis_on(self, protocol: Protocol) -> Basis:
        """The rule's basis on one surface."""
        return Basis.PROTOCOL if protocol in self.by_analogy else self.basis

    def covers(self, protocol: Protocol, model: str) -> bool:
        """Whether the ledger applies the rule to a cell."""
        return protocol in self.protocols and model in self.models and (protocol, model) not in self.not_on


class DuplicateRule(Exception):
    """Two functions claim one id."""


RULES: dict[str, Rule] = {}


def cite(document: str, anchor: str) -> Source:
    """A place in a vendored document; see ``values.Source``."""
    return Source(document=document, anchor=anchor)


def rule(
    name: str,
    level: Level,
    basis: Basis,
    *,
    source: Source | Mapping[Protocol, Source],
    when: Guard | None = None,
    find: Finder | None = None,
    protocols: tuple[Protocol, ...] = EVERY,
    models: tuple[str, ...] = ALL,
    over: Over = Over.EXCHANGE,
    applies: str = "",
    by_analogy: tuple[Protocol, ...] = (),
    should_on: tuple[tuple[Protocol, str], ...] = (),
    must_on: tuple[Protocol, ...] = (),
    not_on: tuple[tuple[Protocol, str], ...] = (),
) -> Callable[[Callable[..., Iterable[Finding]]], Callable[..., Iterable[Finding]]]:
    """Register a rule function under a ledger id.

    Without ``find`` the function takes an ``Answer`` and needs ``when``; with it the function takes the ``Group`` (a
    tuple of answers, in the order of the evidence) that the finder yields, and ``when`` narrows the groups by every
    member. The function's docstring is the rule's statement; ``applies`` says when it applies, and is
    taken from the docstring of the guard or finder where it is left out.
    """

    def register(function: Callable[..., Iterable[Finding]]) -> Callable[..., Iterable[Finding]]:
        if name in RULES:
            raise DuplicateRule(name)
        sources = dict.fromkeys(protocols, source) if isinstance(source, Source) else dict(source)
        guard_words = applies or (find or when).__doc__ or ""
        RULES[name] = Rule(
            id=name,
            level=level,
            basis=basis,
            over=over,
            protocols=protocols,
            models=models,
            sources=sources,
            statement=" ".join((function.__doc__ or "").split()),
            applies=" ".join(guard_words.split()),
            guard=when,
            find=find,
            judge=function,
            by_analogy=frozenset(by_analogy),
            should_on=frozenset(should_on),
            must_on=frozenset(must_on),
            not_on=frozenset(not_on),
        )
        return function

    return register
