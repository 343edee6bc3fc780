"""Events are found, moved, taken out and numbered anew as the faults in streams need it."""

from __future__ import annotations

import pytest

from conformance.reference.encoding.frame import Event
from conformance.reference.faults import edits


def events(*kinds):
    return [
        Event(name=kind, data={"type": kind, "sequence_number": number} if kind.islower() else kind)
        for number, kind in enumerate(kinds)
    ]


def kinds(found):
    return "".join(edits.kind(event) or str(event.data) for event in found)


def numbers(found):
    return [edits.data(event).get("sequence_number") for event in found]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda found: edits.without(found, lambda event: edits.kind(event) == "b"), "ac"),
        (lambda found: edits.without_first(found, "b", "c"), "acb"),
        (lambda found: edits.without_first(found, "x"), "abcb"),
        (lambda found: edits.moved(found, 0, 2), "bacb"),
        (lambda found: edits.moved(found, 0, 4), "bcba"),
        (lambda found: edits.moved(found, 2, 0), "cabb"),
        (lambda found: edits.moved(found, None, 0), "abcb"),
        (lambda found: edits.moved(found, 0, None), "abcb"),
        (lambda found: edits.doubled(found, 2), "abccb"),
        (lambda found: edits.doubled(found, None), "abcb"),
        (lambda found: edits.inserted(found, 1, *events("x")), "axbcb"),
    ],
)
def test_a_change_leaves_the_numbers_in_order(change, expected):
    found = change(events("a", "b", "c", "b"))
    assert kinds(found) == expected
    assert numbers(found) == list(range(len(expected)))


def test_events_without_numbers_get_none():
    found = edits.numbered([Event(data={"choices": []}), Event(data="[DONE]"), *events("a")])
    assert numbers(found) == [None, None, 0]


def test_the_first_and_the_last_of_several_types():
    found = events("a", "b", "c", "b")
    assert (edits.first(found, "b", "c"), edits.last(found, "b")) == (1, 3)
    assert (edits.first(found, "x"), edits.last(found, "x")) == (None, None)


def test_chunks_are_found_by_what_their_deltas_hold():
    def chunk(finish=None, **delta):
        return Event(data={"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    found = [
        chunk(role="assistant", content=""),
        chunk(content="a"),
        chunk(content="b"),
        chunk("stop"),
        Event(data="x"),
    ]
    assert edits.holding(found, "content") == [1, 2]
    assert edits.last_holding(found, "content") == 2
    assert edits.last_holding(found, "tool_calls") is None
    assert (edits.finishing(found), edits.after_finish(found)) == (3, 4)
    assert edits.after_finish(found[:3]) is None
