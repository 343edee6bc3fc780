"""The nightly profile: the cheapest strands that exercise every must rule, and a seventh of the constraints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from datetime import date

from conformance.judge import exercising
from conformance.planning.cover import Option, cover
from conformance.planning.rehearsal import Rehearsed, Strand, rehearse
from conformance.probes.cell import Cell
from conformance.probes.constraints import broken_cases, edge_cases
from conformance.protocols.view import Answer
from conformance.rules import RULES, Rule
from conformance.selftest.probes import Probe
from conformance.values import Exchange, Level

NIGHTS = 7  # in which every constraint is exercised
REQUEST_TOKENS = 256  # output tokens that weigh as much as one request
DEAREST = 8192  # output tokens of one strand: a mode of a rule that only a dearer one shows is left to full runs
MOST_TOGETHER = 8  # exchanges of a group that are worth choosing together; any few of a larger one exercise its rule
ROTATED = {"each-constraint-broken": broken_cases, "each-allowed-edge": edge_cases}
SAME_AS_ROTATED = "broken-constraints"  # what it breaks the rotated ones break too


def nightly(
    chosen: Sequence[tuple[Probe, Cell]],
    wanted: frozenset[str],
    *,
    night: date,
    whole: bool = False,
    addresses: int = 2,
    limited: bool = True,
    seed: int = 0,
) -> dict[str, tuple[int, ...]]:
    """The strands to play, by probe and cell, in order.

    ``wanted`` are rule ids, of which those of another level than must count only where ``whole``.
    """
    rules = [rule for rule in RULES.values() if rule.id in wanted and (whole or _demanded(rule))]
    ids = {rule.id for rule in rules}
    candidates = [
        (probe, cell)
        for probe, cell in chosen
        if probe.rules & ids and probe.name not in ROTATED and probe.name != SAME_AS_ROTATED
    ]
    rehearsed = _affordable(rehearse(candidates, addresses=addresses, limited=limited, seed=seed))
    strands: dict[str, list[int]] = defaultdict(list)
    for name, number in sorted(_covering(rehearsed, rules, whole=whole)):
        strands[name].append(number)
    for probe, cell in chosen:
        if probe.name in ROTATED:
            name = f"{probe.name}/{cell.protocol}/{cell.model}"
            strands[name] = list(rotated(len(ROTATED[probe.name](cell)), night))
    return {name: tuple(numbers) for name, numbers in strands.items() if numbers}


def rotated(number: int, night: date) -> range:
    """The numbers, from 1 to the given one, that a night's seventh holds; seven nights in a row hold all."""
    return range(1 + night.toordinal() % NIGHTS, number + 1, NIGHTS)


def _demanded(rule: Rule) -> bool:
    return any(rule.level_on(protocol, model) is Level.MUST for protocol in rule.protocols for model in rule.models)


def _affordable(rehearsed: Sequence[Rehearsed]) -> list[Rehearsed]:
    worst: dict[Strand, int] = defaultdict(int)
    for each in rehearsed:
        worst[each.strand] += each.worst
    return [each for each in rehearsed if worst[each.strand] <= DEAREST]


def _covering(rehearsed: Sequence[Rehearsed], rules: Sequence[Rule], *, whole: bool) -> frozenset[Strand]:
    """The cover, tried: what it turns out to lack (a rule may need more company than its group) is added."""
    by_id = {each.exchange.id: each.strand for each in rehearsed}
    cost: dict[Strand, float] = defaultdict(float)
    for each in rehearsed:
        cost[each.strand] += 1 + each.worst / REQUEST_TOKENS
    options = _options((each.exchange for each in rehearsed), rules, by_id, whole=whole)
    small = {thing: [o for o in found if len(o) <= MOST_TOGETHER] for thing, found in options.items()}
    picked = cover({thing: found for thing, found in small.items() if found}, cost)
    for _ in range(len(options)):
        shown = _options((e.exchange for e in rehearsed if e.strand in picked), rules, by_id, whole=whole)
        lacking = [thing for thing in options if thing not in shown]
        if not lacking:
            break
        grown = set(picked)
        for thing in lacking:
            found = [option for option in options[thing] if not option <= grown] or [frozenset(cost)]
            grown |= min(found, key=lambda option: (sum(cost[s] for s in option - grown), sorted(option)))
        picked = frozenset(grown)
    return picked


def _options(
    exchanges: Iterable[Exchange], rules: Sequence[Rule], by_id: dict[str, Strand], *, whole: bool
) -> dict[Hashable, set[Option]]:
    """What can be exercised (a rule in a cell; in each mode where it judges single exchanges), and by which strands."""
    found: dict[Hashable, set[Option]] = defaultdict(set)
    for rule, group in exercising(exchanges, rules):
        option = frozenset(by_id[answer.exchange.id] for answer in group)
        for protocol, model in {(answer.protocol, answer.model) for answer in group}:
            if rule.covers(protocol, model) and (whole or rule.level_on(protocol, model) is Level.MUST):
                found[rule.id, protocol, model, _mode(group)].add(option)
    return found


def _mode(group: tuple[Answer, ...]) -> str:
    if len(group) > 1:
        return "several"
    return "stream" if group[0].asked.stream else "json"
