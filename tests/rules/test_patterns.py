"""Patterns: one star stays in its segment, two cross, and a mistyped one is answered with what is near."""

from __future__ import annotations

import pytest

from conformance.rules.patterns import NoMatch, matches, nearest, select

IDS = ("usage.total-is-sum", "usage.present", "usage.k3.cache-write-not-split", "stream.chat.done", "stream.complete")


@pytest.mark.parametrize(
    ("pattern", "name", "match"),
    [
        ("usage.total-is-sum", "usage.total-is-sum", True),
        ("usage.total-is-sum", "usage.total-is-sum-too", False),
        ("usage.*", "usage.present", True),
        ("usage.*", "usage.k3.cache-write-not-split", False),
        ("usage.**", "usage.k3.cache-write-not-split", True),
        ("usage.*.*", "usage.k3.cache-write-not-split", True),
        ("*.complete", "stream.complete", True),
        ("**.done", "stream.chat.done", True),
        ("*", "stream.complete", False),
        ("**", "stream.complete", True),
        ("usage", "usage.present", False),
        ("usage.total*", "usage.total-is-sum", True),
        ("usage.total.is.sum", "usage.total-is-sum", False),
        ("usage.present", "usage.present/chat/kimi-k3.1-pro", True),
        ("usage.*", "usage.present/chat/kimi-k3.1-pro", True),
        ("usage.*/chat/*", "usage.present/chat/kimi-k3.1-pro", True),
        ("usage.*/chat/kimi-k3", "usage.present/chat/kimi-k3.1-pro", False),
        ("usage.*/messages/*", "usage.present/chat/kimi-k3.1-pro", False),
        ("**/kimi-k3", "stream.chat.done/chat/kimi-k3", True),
        ("usage.*/chat", "usage.present/chat/kimi-k3", False),
        ("stream.(chat|x).done", "stream.chat.done", False),
        ("usage.***", "usage.k3.cache-write-not-split", True),
    ],
)
def test_matching(pattern, name, match):
    assert matches(pattern, name) is match


def test_selection_keeps_the_order_of_the_ids():
    assert select(("stream.*", "usage.present"), IDS) == ("usage.present", "stream.complete")


@pytest.mark.parametrize(
    ("pattern", "near"),
    [
        ("usage", ("usage.**",)),
        ("usage.", ("usage.**",)),
        ("stream.chat", ("stream.chat.**",)),
        ("usage.presnt", ("usage.present",)),
        ("strm.complete", ("stream.complete",)),
        ("usge.*", ("usage.**",)),
        ("xyzzy", ()),
        ("", ()),
        ("***", ()),
    ],
)
def test_a_pattern_without_a_match_is_answered_with_what_is_near(pattern, near):
    assert nearest(pattern, IDS)[: len(near)] == near
    assert bool(nearest(pattern, IDS)) is bool(near)


def test_a_pattern_that_matches_nothing_is_refused():
    with pytest.raises(NoMatch, match="'usge' matches no rule") as raised:
        select(("usage.*", "usge"), IDS)
    assert raised.value.pattern == "usge"
    assert raised.value.nearest
