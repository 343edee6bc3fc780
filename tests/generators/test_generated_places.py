"""A body walked beside its schema, and changed in one place."""

from __future__ import annotations

import pytest

from conformance.generators.places import places, replaced, without
from conformance.values import Protocol

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
BODY = {
    "model": "kimi-k3",
    "messages": [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
    ],
    "x-unknown": {"deep": [1, 2, 3]},
}


@pytest.mark.parametrize(
    ("pointer", "path"),
    [
        ("", ()),
        ("/properties/model", ("model",)),
        ("/$defs/ChatMessage", ("messages", 1)),
        ("/$defs/ContentPart", ("messages", 0, "content", 0)),
        ("/$defs/ContentPart/oneOf/1/properties/image_url", ("messages", 0, "content", 0, "image_url")),
        (
            "/$defs/ContentPart/oneOf/1/properties/image_url/oneOf/1/properties/url",
            ("messages", 0, "content", 0, "image_url", "url"),
        ),
        ("/$defs/ToolCall/properties/type", ("messages", 1, "tool_calls", 0, "type")),
        ("/$defs/ChatMessage/properties/content/oneOf/2", ("messages", 1, "content")),
    ],
)
def test_places_are_named_as_constraints_are(pointer, path):
    found = {(place.pointer, place.path) for place in places(Protocol.CHAT, "kimi-k3", BODY)}
    assert (pointer, path) in found


def test_what_the_schema_does_not_know_has_no_place():
    assert not [place for place in places(Protocol.CHAT, "kimi-k3", BODY) if "x-unknown" in place.path]


@pytest.mark.parametrize("body", [None, 5, "text", [], [[]], {"messages": 5}, {"messages": [None, 5, []]}])
def test_any_json_value_is_walked(body):
    assert next(iter(places(Protocol.CHAT, "kimi-k3", body))).value == body


def test_a_replacement_changes_one_place_of_a_copy():
    changed = replaced(BODY, ("messages", 1, "tool_calls", 0, "id"), 5)
    assert changed["messages"][1]["tool_calls"][0]["id"] == 5
    assert BODY["messages"][1]["tool_calls"][0]["id"] == "c"
    assert replaced(BODY, (), [BODY]) == [BODY]


def test_a_removal_leaves_the_rest():
    assert without(BODY, ("x-unknown",)) == {key: value for key, value in BODY.items() if key != "x-unknown"}
    assert "x-unknown" in BODY
