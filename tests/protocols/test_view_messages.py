from __future__ import annotations

from typing import Any

import pytest
from view_wire import MESSAGES, MESSAGES_USAGE, THINKING, TOOL_USE, answer, messages_body, messages_events, streamed

from conformance.protocols import MISSING, Answer, Finish

START = {"type": "message_start", "message": {**messages_body([]), "stop_reason": None}}
STOP = {"type": "message_stop"}


def opened(index: Any, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: Any, kind: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def ended(stop: Any = "end_turn", usage: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": stop, **more}, "usage": usage}


def folded(*events: Any) -> Answer:
    return streamed(MESSAGES, [START, *events, STOP])


@pytest.mark.parametrize(
    ("stop", "ending"),
    [
        ("end_turn", Finish.STOP),
        ("stop_sequence", Finish.STOP),
        ("max_tokens", Finish.LENGTH),
        ("tool_use", Finish.TOOL),
        ("refusal", Finish.REFUSAL),
        ("pause_turn", Finish.OTHER),
        ("stop", Finish.OTHER),
        ({}, Finish.OTHER),
        (None, None),
    ],
)
def test_stop_reasons_have_an_ending(stop: Any, ending: Finish | None) -> None:
    view = answer(MESSAGES, messages_body([], stop))
    assert (view.finish, view.ending) == (stop, ending)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"content": "a"}, "/content"),
        ({"content": ["a"]}, "/content/0"),
        ({"content": [{"type": "text", "text": 1}]}, "/content/0/text"),
        ({"content": [{"type": "thinking", "thinking": {}}]}, "/content/0/thinking"),
        ({"usage": "a"}, "/usage"),
        ({"usage": {"input_tokens": 1.5}}, "/usage/input_tokens"),
        ({"usage": {"cache_creation": []}}, "/usage/cache_creation"),
        ({"usage": {"server_tool_use": {"web_search_requests": "1"}}}, "/usage/server_tool_use/web_search_requests"),
    ],
)
def test_a_wrong_type_is_none_and_noted(change: dict[str, Any], pointer: str) -> None:
    view = answer(MESSAGES, {**messages_body([]), **change})
    assert [note.pointer for note in view.notes] == [pointer]


@pytest.mark.parametrize(
    ("usage", "total"),
    [
        (MESSAGES_USAGE, 24),
        ({"input_tokens": 5}, 5),
        ({"cache_read_input_tokens": 5, "input_tokens": "x"}, 5),
        ({"output_tokens": 5}, None),
        ({"input_tokens": None}, None),
    ],
)
def test_input_is_the_sum_of_its_three_categories(usage: dict[str, Any], total: int | None) -> None:
    found = answer(MESSAGES, {**messages_body([]), "usage": usage}).usage
    assert found is not None
    assert found.input == total


def test_all_counts_are_read() -> None:
    usage = answer(MESSAGES, messages_body([])).usage
    assert usage is not None
    assert (usage.plain, usage.written, usage.cached, usage.output) == (12, 4, 8, 96)
    assert (usage.written_5m, usage.written_1h, usage.reasoning, usage.searches) == (4, 0, 62, 1)


def test_search_results_are_told_from_errors() -> None:
    error = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    blocks = [
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "web_search_tool_result", "tool_use_id": "s2", "content": error},
        {"type": "web_search_tool_result"},
    ]
    results = answer(MESSAGES, messages_body(blocks)).results
    assert [(result.use_id, result.failed) for result in results] == [("s1", False), ("s2", True), (MISSING, False)]
    assert [result.pointer for result in results] == ["/content/0", "/content/1", "/content/2"]


def test_a_cut_off_call_shows_its_pieces() -> None:
    view = folded(
        opened(0, type="tool_use", id="t", name="f", input={}),
        delta(0, "input_json_delta", partial_json='{"city": "Be'),
        ended("max_tokens"),
    )
    (call,) = view.calls
    assert (call.arguments, call.value) == ('{"city": "Be', MISSING)
    assert view.body is not None
    assert view.body["content"][0]["input"] == {}


@pytest.mark.parametrize(
    ("pieces", "value"),
    [
        ([], {}),
        (["", ""], {}),
        (['{"a"', ": 1}"], {"a": 1}),
        (["[1]"], [1]),
        (['"{}"'], "{}"),
    ],
)
def test_pieces_of_input_are_joined(pieces: list[str], value: object) -> None:
    view = folded(
        opened(0, type="tool_use", id="t", name="f", input={}),
        *(delta(0, "input_json_delta", partial_json=piece) for piece in pieces),
    )
    assert view.calls[0].value == value
    assert view.body is not None
    assert view.body["content"][0]["input"] == value


def test_what_a_block_starts_with_counts() -> None:
    view = folded(
        opened(0, type="text", text="a"),
        delta(0, "text_delta", text="b"),
        opened(1, type="tool_use", id="t", name="f", input={"a": 1}),
        ended(),
    )
    assert view.texts == ("ab",)
    assert view.calls[0].value == {"a": 1}


def test_signatures_and_citations_are_joined() -> None:
    view = folded(
        opened(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Hm"),
        delta(0, "signature_delta", signature="si"),
        delta(0, "signature_delta", signature="g"),
        opened(1, type="text", text=""),
        delta(1, "citations_delta", citation={"url": "u"}),
    )
    assert view.body is not None
    assert view.body["content"] == [
        {"type": "thinking", "thinking": "Hm", "signature": "sig"},
        {"type": "text", "text": "", "citations": [{"url": "u"}]},
    ]


def test_counts_of_message_delta_override_those_of_the_start() -> None:
    usage = {"output_tokens": 40, "input_tokens": None, "cache_read_input_tokens": 2}
    view = folded(ended(usage={"output_tokens": 20}), ended(usage=usage))
    assert view.usage is not None
    assert (view.usage.output, view.usage.plain, view.usage.cached, view.usage.pointer) == (40, 12, 2, "event 2")


def test_usage_without_message_delta_is_that_of_the_start() -> None:
    view = folded()
    assert view.usage is not None
    assert view.usage.pointer == "event 0"


def test_a_null_count_of_output_is_not_hidden() -> None:
    view = folded(ended(usage={"output_tokens": None}))
    assert view.usage is not None
    assert view.usage.output is None
    assert view.notes[0].pointer == "event 1/usage/output_tokens"


def test_a_null_stop_reason_does_not_undo_one_that_came() -> None:
    view = folded(ended("end_turn", stop_sequence=None), ended(None))
    assert (view.finish, view.ending) == ("end_turn", Finish.STOP)


@pytest.mark.parametrize(
    "events",
    [
        [delta(3, "text_delta", text="a")],
        [opened(0, type="thinking", thinking=""), delta(0, "text_delta", text="a")],
        [opened(0, type="text", text=""), delta(0, "new_delta", text="a")],
        [opened(0, type="text", text=""), delta(0, "text_delta", text=1)],
        [opened("0", type="text", text="")],
        [{"type": "content_block_start", "index": 0, "content_block": "text"}],
        [{"type": "content_block_delta", "index": 0, "delta": []}],
        [{"type": "message_delta", "delta": 1}],
    ],
)
def test_faults_of_a_stream_are_noted_and_read_on(events: list[Any]) -> None:
    view = folded(*events, opened(9, type="text", text="end"), ended())
    assert view.notes
    assert view.texts[-1] == "end"
    assert view.finish == "end_turn"


def test_a_stream_without_its_start_still_gives_the_text() -> None:
    view = streamed(MESSAGES, [opened(0, type="text", text=""), delta(0, "text_delta", text="a"), ended(), STOP])
    assert (view.texts, view.id, view.complete) == (("a",), MISSING, True)


@pytest.mark.parametrize("events", [[], ["[DONE]"], [{"type": "ping"}], [1, None, "x"], [{"type": "new"}]])
def test_a_stream_of_nothing_has_no_body(events: list[Any]) -> None:
    view = streamed(MESSAGES, events)
    assert (view.body, view.ok, view.complete) == (None, False, False)


def test_complete_means_that_message_stop_was_dispatched() -> None:
    events = messages_events(messages_body([THINKING, TOOL_USE], "tool_use"))
    assert streamed(MESSAGES, [*events, "[DONE]"]).complete
    assert not streamed(MESSAGES, events[:-1]).complete
    cut = streamed(MESSAGES, events).raw[:-1]
    assert not answer(MESSAGES, cut).complete
    assert answer(MESSAGES, cut).finish == "tool_use"


def test_an_event_is_known_by_its_name_where_its_data_has_no_type() -> None:
    assert answer(MESSAGES, b"event: message_stop\ndata: {}\n\n").complete
