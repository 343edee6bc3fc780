"""Which constraints of the request schemas a run exercised, and how each was decided: read from its exchanges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec

from conformance.generators import Mark, Side, demanded, marks
from conformance.judge import MOST_FINDINGS, judge
from conformance.protocols import MISSING, read
from conformance.protocols.json_text import read_bytes
from conformance.rules import RULES
from conformance.values import Exchange, Intent, Level, Outcome, Over, Protocol, Verdict

LARGEST = 256 * 1024  # bytes of a body; none that is made for a constraint is larger
_APART = frozenset({Intent.HOSTILE, Intent.OVERSIZED, Intent.INVALID_KEY})
_SILENT = frozenset({401, 402, 403, 405, 407, 408, 413, 415, 429})  # statuses that say nothing of the body
_UNKNOWN_MODEL = "/properties/model/enum"  # refused with 404 too
_ERROR = re.compile(rb'"error"(?!\s*+:\s*+null\b)')  # most answers on Responses say that there is none
_FAMILIES = ("request.", "model.k3")
_OTHERS = ("http.malformed-json-rejected", "http.no-server-error")
_NO_DECISION = frozenset(
    {
        "model.k31.effort-none-still-reasons",
        "request.context-exceeded",
        "request.deep-nesting-survived",
        "request.extra-properties-tolerated",
    }
)


class Status(StrEnum):
    """How the requests that exercise one constraint were decided."""

    REFUSED = "refused"
    ACCEPTED = "accepted"
    UNDECIDED = "undecided"  # sent, and every answer leaves it open: 401, 429, 5xx, a broken connection
    NOT_EXERCISED = "not exercised"


class ConstraintEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One constraint of a surface and model, broken or at one of its edges."""

    surface: Protocol
    model: str
    constraint: str  # JSON pointer into the request schema
    keyword: str
    kind: Side
    edge: str | None  # what the request shows, for an edge: "low", "32 bytes", "array"
    status: Status
    right: bool | None  # whether a rule found nothing wrong with it; None where nothing was decided
    requests: int
    exchange: str | None  # one that shows it: the first at fault, or the first


class CellCount(msgspec.Struct, frozen=True, kw_only=True):
    """The constraints of a surface and model; one counts as exercised when it was broken and met at every edge."""

    surface: Protocol
    model: str
    exercised: int
    total: int
    wrong: int


class Constraints(msgspec.Struct, frozen=True, kw_only=True):
    """The constraints of a run."""

    totals: dict[str, int]  # exercised, total and wrong
    cells: tuple[CellCount, ...]
    constraints: tuple[ConstraintEntry, ...]


def constraints(
    exchanges: Iterable[Exchange],
    verdicts: Iterable[Verdict],
    *,
    protocols: Sequence[Protocol] = tuple(Protocol),
    models: Sequence[str],
) -> Constraints:
    """What the exchanges exercised of the constraints of these cells, and whether the rules found fault.

    The verdicts must be those of the same exchanges. What a rule that was not judged demands counts as right.
    """
    kept = [exchange for exchange in exchanges if _speaks(exchange)]
    shown = _shown(kept)
    wrong = _wrong(kept, verdicts)
    cells, entries = [], list[ConstraintEntry]()
    for protocol in protocols:
        for model in models:
            mine = [
                _entry(protocol, model, mark, shown.get((protocol, model, mark), []), wrong)
                for mark in demanded(protocol, model)
            ]
            cells.append(_counted(protocol, model, mine))
            entries += mine
    totals = {name: sum(getattr(cell, name) for cell in cells) for name in ("exercised", "total", "wrong")}
    return Constraints(totals=totals, cells=tuple(cells), constraints=tuple(entries))


def exercised(found: Constraints) -> Constraints | None:
    """The same where anything was exercised at all; else None."""
    return found if any(entry.requests for entry in found.constraints) else None


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One constraint of a surface, broken or at one of its edges, across the models."""

    surface: Protocol
    name: str  # the pointer, and the edge
    entries: tuple[ConstraintEntry | None, ...]  # in the order of the cells; None where a model has no such constraint


def lines(found: Constraints, kind: Side) -> tuple[Line, ...]:
    """The entries of a kind as one line a constraint, for people; cells are those of ``found``."""
    columns = {(cell.surface, cell.model): place for place, cell in enumerate(found.cells)}
    rows: dict[tuple[Protocol, str], list[ConstraintEntry | None]] = {}
    for entry in found.constraints:
        if entry.kind is kind:
            name = entry.constraint if entry.edge is None else f"{entry.constraint} = {entry.edge}"
            row = rows.setdefault((entry.surface, name), [None] * len(columns))
            row[columns[entry.surface, entry.model]] = entry
    return tuple(Line(surface=surface, name=name, entries=tuple(row)) for (surface, name), row in rows.items())


def exercised_lines(found: Constraints, kind: Side) -> tuple[tuple[Line, ...], int]:
    """The lines in which some model's constraint was exercised, and how many there are besides."""
    every = lines(found, kind)
    shown = tuple(line for line in every if any(entry is not None and entry.requests for entry in line.entries))
    return shown, len(every) - len(shown)


def outcome_of(entry: ConstraintEntry) -> Outcome:
    """The outcome whose mark and colour an entry is shown with."""
    if entry.right is not None:
        return Outcome.PASS if entry.right else Outcome.FAIL
    return Outcome.INCONCLUSIVE if entry.requests else Outcome.NOT_EXERCISED


RULE_OF = {Side.BROKEN: "request.invalid-rejected", Side.EDGE: "request.valid-accepted"}
"""The rule under which reports show the constraints of a kind."""


def decided_as(exchange: Exchange) -> Status:
    """How a service decided on the body of a request, as far as the response tells."""
    status = exchange.response.status if exchange.response else 0
    if status == 200:
        return Status.REFUSED if _carries_error(exchange) else Status.ACCEPTED
    return Status.REFUSED if 400 <= status < 500 and status not in _SILENT else Status.UNDECIDED


def _carries_error(exchange: Exchange) -> bool:
    data = b"".join(chunk.data for chunk in exchange.response.chunks) if exchange.response else b""
    return _ERROR.search(data) is not None and read(exchange).error is not None


def _speaks(exchange: Exchange) -> bool:
    request = exchange.request
    return request.method == "POST" and len(request.body) <= LARGEST and not _APART & set(exchange.intents)


Decided = tuple[Exchange, Status]
Shown = dict[tuple[Protocol, str, Mark], list[Decided]]


def _shown(exchanges: Iterable[Exchange]) -> Shown:
    known: dict[tuple[Protocol, str, bytes], tuple[Mark, ...]] = {}
    found: Shown = {}
    for exchange in exchanges:
        key = (exchange.protocol, exchange.model, exchange.request.body)
        if key not in known:
            value = read_bytes(exchange.request.body).value
            known[key] = () if value is MISSING else marks(exchange.protocol, exchange.model, value)
        decided = decided_as(exchange) if known[key] else Status.UNDECIDED
        for mark in known[key]:
            found.setdefault((exchange.protocol, exchange.model, mark), []).append((exchange, decided))
    return found


def _wrong(exchanges: Sequence[Exchange], verdicts: Iterable[Verdict]) -> frozenset[str]:
    """The ids of the exchanges whose decision a rule found fault with."""
    found: set[str] = set()
    for verdict in verdicts:
        if verdict.outcome is not Outcome.FAIL or not _decides(verdict.rule):
            continue
        many = len(verdict.findings) >= MOST_FINDINGS  # the judge keeps no more: ask again, a few at a time
        for each in _again(verdict, exchanges) if many else (verdict,):
            found |= {f.exchange for f in each.findings if f.exchange is not None and f.level is not Level.INFO}
    return frozenset(found)


def _again(verdict: Verdict, exchanges: Sequence[Exchange]) -> Iterator[Verdict]:
    cell = (verdict.protocol, verdict.model)
    mine = [exchange for exchange in exchanges if (exchange.protocol, exchange.model) == cell]
    for start in range(0, len(mine), MOST_FINDINGS // 2):
        part = mine[start : start + MOST_FINDINGS // 2]
        judged = judge(part, rules=[RULES[verdict.rule]], protocols=[verdict.protocol], models=[verdict.model])
        yield from judged.verdicts


def _decides(name: str) -> bool:
    """Whether a rule judges, from single exchanges, if a request was rightly accepted or refused."""
    rule = RULES.get(name)
    if rule is None or rule.over is not Over.EXCHANGE or name in _NO_DECISION:
        return False
    return name.startswith(_FAMILIES) or name in _OTHERS


def _entry(
    protocol: Protocol, model: str, mark: Mark, shown: Sequence[Decided], wrong: frozenset[str]
) -> ConstraintEntry:
    """One fault decides on a broken constraint; an edge is met where one request that shows it is rightly accepted."""
    sent = [exchange for exchange, _ in shown]
    ways: Mapping[str, Status] = {exchange.id: _status(exchange, decided, mark) for exchange, decided in shown}
    told = [exchange for exchange in sent if ways[exchange.id] is not Status.UNDECIDED]
    wanted = Status.REFUSED if mark.side is Side.BROKEN else Status.ACCEPTED
    faulty = [exchange for exchange in sent if exchange.id in wrong]
    good = [exchange for exchange in told if exchange.id not in wrong and ways[exchange.id] is wanted]
    order = [*faulty, *good] if mark.side is Side.BROKEN else [*good, *faulty]
    first = next(iter([*order, *told]), None)
    status = Status.UNDECIDED if sent else Status.NOT_EXERCISED
    return ConstraintEntry(
        surface=protocol,
        model=model,
        constraint=mark.constraint,
        keyword=mark.keyword,
        kind=mark.side,
        edge=mark.edge if mark.side is Side.EDGE else None,
        status=status if first is None else ways[first.id],
        right=None if first is None else first.id not in wrong,
        requests=len(sent),
        exchange=next(iter([*([first] if first else []), *sent])).id if sent else None,
    )


def _status(exchange: Exchange, decided: Status, mark: Mark) -> Status:
    missing = exchange.response is not None and exchange.response.status == 404
    return Status.UNDECIDED if missing and mark.constraint != _UNKNOWN_MODEL else decided


def _counted(protocol: Protocol, model: str, entries: Sequence[ConstraintEntry]) -> CellCount:
    left = {entry.constraint for entry in entries if entry.right is None}
    wrong = Counter(entry.constraint for entry in entries if entry.right is False)
    total = {entry.constraint for entry in entries}
    return CellCount(surface=protocol, model=model, exercised=len(total - left), total=len(total), wrong=len(wrong))
