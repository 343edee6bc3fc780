from __future__ import annotations

from conformance.planning.cover import cover

COST = {(name, 1): cost for name, cost in {"a": 1.0, "b": 1.0, "c": 1.0, "all": 2.0, "dear": 50.0}.items()}


def option(*names: str) -> frozenset[tuple[str, int]]:
    return frozenset((name, 1) for name in names)


def test_one_strand_that_shows_everything_beats_several() -> None:
    options = {thing: [option(thing), option("all")] for thing in "abc"}
    assert cover(options, COST) == option("all")


def test_a_dear_strand_is_left_out_where_cheap_ones_do() -> None:
    options = {thing: [option(thing), option("dear")] for thing in "ab"}
    assert cover(options, COST) == option("a", "b")


def test_pairs_are_chosen_whole_and_serve_single_things_too() -> None:
    options = {"pair": [option("a", "b"), option("c", "dear")], "single": [option("a"), option("all")]}
    assert cover(options, COST) == option("a", "b")


def test_what_a_later_choice_makes_needless_is_dropped() -> None:
    options = {"one": [option("a"), option("all")], "two": [option("all")], "three": [option("all"), option("b")]}
    assert cover(options, COST) == option("all")
