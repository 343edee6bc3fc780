import pytest

from conformance.specs import overlay
from conformance.specs.overlay import OverlayError

DOCUMENT = {
    "paths": {"/v1/chat": {"post": {"tags": ["a"], "x.y": {"n": 1}}}, "/v1/other": {"post": {"tags": []}}},
    "list": [{"k": 1}, {"k": 2}, {"k": 3}],
}


def applied(*actions, document=DOCUMENT):
    return overlay.apply(
        document, {"overlay": "1.0.0", "actions": [{"description": "a reason", **action} for action in actions]}
    )


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("$", ()),
        ("$.a.b", ("a", "b")),
        ("$.paths['/v1/chat'].post", ("paths", "/v1/chat", "post")),
        ('$["a b"][0][-1]', ("a b", 0, -1)),
        ("$.a.*[*]", ("a", None, None)),
        (r"$['it\'s']", ("it's",)),
        ("$['']", ("",)),
        ("$.名前", ("名前",)),
    ],
)
def test_a_target_is_names_indexes_and_wildcards(path, segments):
    assert overlay.segments(path) == segments


@pytest.mark.parametrize(
    "path", ["", "a.b", "$..a", "$.a[?(@.b)]", "$.a[1:2]", "$.a[", "$.a['b]", "$.1a", "$.a['b','c']"]
)
def test_any_other_jsonpath_is_refused(path):
    with pytest.raises(OverlayError):
        overlay.segments(path)


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ({"target": "$.paths['/v1/chat'].post['x.y']", "update": {"m": {"o": 2}}}, {"n": 1, "m": {"o": 2}}),
        ({"target": "$.paths['/v1/chat'].post", "update": {"x.y": {"n": 5}}}, {"n": 5}),
        ({"target": "$.paths['/v1/chat'].post['x.y'].n", "remove": True}, {}),
    ],
)
def test_an_update_merges_and_a_removal_removes(action, expected):
    assert applied(action)["paths"]["/v1/chat"]["post"]["x.y"] == expected


def test_an_array_gets_the_update_as_one_more_entry():
    assert applied({"target": "$.paths['/v1/chat'].post.tags", "update": "b"})["paths"]["/v1/chat"]["post"]["tags"] == [
        "a",
        "b",
    ]


def test_every_selected_node_is_updated():
    changed = applied({"target": "$.paths.*.post", "update": {"deprecated": True}})
    assert [row["post"]["deprecated"] for row in changed["paths"].values()] == [True, True]


def test_every_selected_entry_is_removed():
    assert applied({"target": "$.list[*]", "remove": True})["list"] == []
    assert applied({"target": "$.list[-1]", "remove": True})["list"] == [{"k": 1}, {"k": 2}]


def test_actions_apply_in_order_and_leave_the_original_alone():
    changed = applied(
        {"target": "$.list", "remove": True},
        {"target": "$", "update": {"list": {"new": 1}}},
        {"target": "$.list", "update": {"newer": 2}},
    )
    assert changed["list"] == {"new": 1, "newer": 2}
    assert DOCUMENT["list"] == [{"k": 1}, {"k": 2}, {"k": 3}]


def test_updated_nodes_share_nothing_with_each_other():
    changed = applied({"target": "$.list[*]", "update": {"deep": {"a": 1}}})
    changed["list"][0]["deep"]["a"] = 2
    assert changed["list"][1]["deep"] == {"a": 1}


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ({"target": "$.paths['/v2']", "update": {}}, "selects nothing"),
        ({"target": "$.list[9]", "remove": True}, "selects nothing"),
        ({"target": "$.list.k", "remove": True}, "selects nothing"),
        ({"target": "$.list[0]", "description": "", "update": {}}, "no reason"),
        ({"target": "$.list[0]"}, "neither update nor remove"),
        ({"target": "$.list[0]", "update": 5}, "cannot update"),
        ({"target": "$.list[0].k", "update": 5}, "cannot update"),
        ({"target": "$.paths['/v1/chat'].post", "update": {"tags": ["z"]}}, "there already"),
        ({"target": "$.paths['/v1/chat'].post", "update": {"x.y": 1}}, "there already"),
        ({"update": {}}, "no target"),
    ],
)
def test_an_action_that_cannot_be_carried_out_says_why(action, message):
    with pytest.raises(OverlayError, match=message):
        applied(action)


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"overlay": "2.0.0", "actions": [1]}, {"overlay": "1.0.0"}, {"overlay": "1.0.0", "actions": []}],
)
def test_what_is_no_overlay_is_refused(document):
    with pytest.raises(OverlayError):
        overlay.apply({}, document)
