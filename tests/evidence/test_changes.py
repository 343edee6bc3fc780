"""Ops on trees: what each does, and what is refused."""

from __future__ import annotations

import pytest

from conformance.evidence.changes import BadChange, apply


def tree() -> list:
    return [{"a": {"b/c": [1, 2]}, "s": "one two", "n": None, "deep": [{"x": "one"}, "two one"]}]


@pytest.mark.parametrize(
    ("op", "at", "value"),
    [
        ({"at": "/0/a/b~1c/0", "set": 9}, ("a", "b/c"), [9, 2]),
        ({"at": "/0/new", "set": {"k": 1}}, ("new",), {"k": 1}),
        ({"at": "/0/a/b~1c/0", "remove": True}, ("a", "b/c"), [2]),
        ({"at": "/0/a/b~1c/1", "insert": 7}, ("a", "b/c"), [1, 7, 2]),
        ({"at": "/0/a/b~1c/-", "insert": 7}, ("a", "b/c"), [1, 2, 7]),
        ({"at": "/0/a/b~1c/2", "insert": 7}, ("a", "b/c"), [1, 2, 7]),
        ({"at": "/0/s", "replace": ["two", "three"]}, ("s",), "one three"),
        ({"at": "/0/deep", "replace": ["one", "1"]}, ("deep",), [{"x": "1"}, "two 1"]),
        ({"at": "/0/n", "set": 1}, ("n",), 1),
    ],
)
def test_an_op_changes_what_it_points_at(op, at, value):
    result = apply(tree(), op)[0]
    for key in at:
        result = result[key]
    assert result == value


def test_remove_takes_a_member_away():
    assert "s" not in apply(tree(), {"at": "/0/s", "remove": True})[0]


def test_a_value_that_was_set_is_not_shared():
    value = {"k": []}
    first, second = apply(tree(), {"at": "/0/n", "set": value}), apply(tree(), {"at": "/0/n", "set": value})
    first[0]["n"]["k"].append(1)
    assert second[0]["n"] == value == {"k": []}


@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("set", "expected at and one of"),
        ({"at": "/0/s"}, "expected at and one of"),
        ({"at": "/0/s", "set": 1, "remove": True}, "expected at and one of"),
        ({"at": "/0/s", "sett": 1}, "expected at and one of"),
        ({"at": 0, "set": 1}, "expected at and one of"),
        ({"at": "0/s", "set": 1}, "starts with /"),
        ({"at": "", "set": 1}, "got the root"),
        ({"at": "/1/s", "set": 1}, "no such index: /1"),
        ({"at": "/0/x/y", "set": 1}, "nothing is at /0/x"),
        ({"at": "/0/s/y", "set": 1}, "nothing can be set at"),
        ({"at": "/0/a/b~1c/2", "set": 1}, "no such index"),
        ({"at": "/0/a/b~1c/-1", "set": 1}, "no such index"),
        ({"at": "/0/x", "remove": True}, "nothing is at /0/x"),
        ({"at": "/0/s", "remove": False}, "expected remove: true"),
        ({"at": "/0/s", "insert": 1}, "insert needs an array"),
        ({"at": "/0/a/b~1c/3", "insert": 1}, "no such index"),
        ({"at": "/0/s", "replace": "two"}, "expected replace"),
        ({"at": "/0/s", "replace": ["three", "four"]}, "'three' does not occur"),
        ({"at": "/0/n", "replace": ["a", "b"]}, "does not occur"),
    ],
)
def test_an_op_that_cannot_be_applied_says_why(op, words):
    with pytest.raises(BadChange, match=words):
        apply(tree(), op)
