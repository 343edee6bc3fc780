"""The documents as they stand, each clause marked: tested and not failed, failed, left out, or not mapped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance import specs
from conformance.reports.matrix import SURFACES
from conformance.specs import Clause
from conformance.specs import documents as sources
from conformance.values import Outcome, Protocol, Verdict

_FOLD = (Outcome.ERROR, Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS, Outcome.NOT_EXERCISED, Outcome.NOT_APPLICABLE)


@dataclass(frozen=True, kw_only=True)
class Span:
    """A stretch of one line; ``state`` is empty for what is no part of a clause."""

    text: str
    state: str = ""  # covered, failed, excluded or none
    title: str = ""  # the rules that test it, each with its outcome, or the reason why none does


@dataclass(frozen=True, kw_only=True)
class Page:
    """One document: its lines, and how many of its clauses are in each state."""

    name: str
    title: str
    surface: str
    lines: tuple[tuple[Span, ...], ...]
    counts: Mapping[str, int]


def documents(verdicts: Iterable[Verdict]) -> list[Page]:
    """The vendored documents, marked with what the verdicts say of each document's surface and models."""
    outcomes: dict[tuple[str, Protocol, str], Outcome] = {(v.rule, v.protocol, v.model): v.outcome for v in verdicts}
    found = []
    for source in specs.sources():
        clauses = specs.clauses(source.name)
        cells = [(source.protocol, model) for model in source.models]
        told = {
            rule: folded(outcomes.get((rule, protocol, model)) for protocol, model in cells)
            for clause in clauses
            for rule in clause.rules
        }
        found.append(
            Page(
                name=source.name,
                title=source.title,
                surface=SURFACES[source.protocol],
                lines=tuple(lines(sources.text(source.name), clauses, told)),
                counts=Counter(state_of(clause, told) for clause in clauses),
            )
        )
    return found


def folded(outcomes: Iterable[Outcome | None]) -> Outcome | None:
    """The gravest outcome; None where there is no verdict."""
    occur = set(outcomes)
    return next((outcome for outcome in _FOLD if outcome in occur), None)


def state_of(clause: Clause, told: Mapping[str, Outcome | None]) -> str:
    """The state of a clause, given the outcome of each rule.

    covered: rules test it and none failed; failed: one did; excluded: a reason leaves it out; none: it is not mapped.
    """
    if clause.rules:
        return "failed" if any(told.get(rule) is Outcome.FAIL for rule in clause.rules) else "covered"
    return "none" if clause.excluded is None else "excluded"


def lines(text: str, clauses: Sequence[Clause], told: Mapping[str, Outcome | None]) -> Iterator[tuple[Span, ...]]:
    """The lines of a text in spans; a clause over several lines has one in each. Clauses are in order, apart."""
    spans: list[Span] = []
    for piece in _pieces(text, clauses, told):
        first, *others = piece.text.split("\n")
        for number, part in enumerate((first, *others)):
            if number:
                yield tuple(spans)
                spans = []
            margin = len(part) - len(part.lstrip()) if number else 0  # the indentation of a further line is not marked
            if margin:
                spans.append(Span(text=part[:margin]))
            if part[margin:]:
                spans.append(Span(text=part[margin:], state=piece.state, title=piece.title))
    yield tuple(spans)


def _pieces(text: str, clauses: Sequence[Clause], told: Mapping[str, Outcome | None]) -> Iterator[Span]:
    done = 0
    for clause in clauses:
        yield Span(text=text[done : clause.start])
        title = clause.excluded or ", ".join(_named(rule, told.get(rule)) for rule in clause.rules) or "not mapped"
        yield Span(text=text[clause.start : clause.end], state=state_of(clause, told), title=title)
        done = clause.end
    yield Span(text=text[done:])


def _named(rule: str, outcome: Outcome | None) -> str:
    return rule if outcome is None else f"{rule}: {outcome.value}"
