"""Set cover: few strands that still exercise every rule on every surface and model, in each mode."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping

from conformance.planning.rehearsal import Strand

Option = frozenset[Strand]  # strands that exercise something together
MOST_OPTIONS = 12  # of one thing to exercise, the cheapest: more make the search slow and hardly better


def cover(options: Mapping[Hashable, Iterable[Option]], cost: Mapping[Strand, float]) -> frozenset[Strand]:
    """A cheap set of strands that holds at least one option of each thing to exercise; the same for the same input.

    Greedy, pairs and conversations first, since they leave the least choice; what has become needless is dropped.
    """
    cheapest = {thing: _cheapest(found, cost) for thing, found in options.items()}
    chosen: set[Strand] = set()
    together = [found for found in cheapest.values() if all(len(option) > 1 for option in found)]
    for found in sorted(together, key=len):
        if not any(option <= chosen for option in found):
            chosen |= min(found, key=lambda option: (sum(cost[strand] for strand in option - chosen), sorted(option)))
    _add_greedily(options, cost, chosen)
    return frozenset(_without_needless(cheapest, options, cost, chosen))


def _cheapest(found: Iterable[Option], cost: Mapping[Strand, float]) -> list[Option]:
    distinct = sorted(set(found), key=lambda option: (sum(cost[strand] for strand in option), sorted(option)))
    return distinct[:MOST_OPTIONS]


def _add_greedily(
    options: Mapping[Hashable, Iterable[Option]], cost: Mapping[Strand, float], chosen: set[Strand]
) -> None:
    """Add single strands, each time the one that exercises most for its cost."""
    gives: dict[Strand, set[Hashable]] = defaultdict(set)
    left: set[Hashable] = set()
    for thing, found in options.items():
        singles = [strand for option in set(found) if len(option) == 1 for strand in option]
        if singles and not any(option <= chosen for option in found):
            left.add(thing)
            for strand in singles:
                gives[strand].add(thing)
    while left:
        best = max(gives, key=lambda strand: (len(gives[strand] & left) / cost[strand], strand))
        chosen.add(best)
        left -= gives[best]


def _without_needless(
    cheapest: Mapping[Hashable, list[Option]],
    options: Mapping[Hashable, Iterable[Option]],
    cost: Mapping[Strand, float],
    chosen: set[Strand],
) -> set[Strand]:
    """The chosen strands without those that the others make needless, the dearest first."""
    met = {
        thing: [option for option in {*cheapest[thing], *found} if option <= chosen] for thing, found in options.items()
    }
    users: dict[Strand, set[Hashable]] = defaultdict(set)
    for thing, found in met.items():
        for option in found:
            for strand in option:
                users[strand].add(thing)
    kept = set(chosen)
    for strand in sorted(chosen, key=lambda strand: (-cost[strand], strand)):
        rest = kept - {strand}
        if all(any(option <= rest for option in met[thing]) for thing in users[strand]):
            kept = rest
    return kept
