from __future__ import annotations

from typing import Any

import pytest
from view_wire import FUNCTION_CALL, REASONING, RESPONSES, answer, responses_body, responses_events, said, streamed

from conformance.protocols import MISSING, Finish

SEARCHED = {"type": "web_search_call", "id": "ws_1", "status": "completed"}


@pytest.mark.parametrize(
    ("status", "reason", "output", "ending"),
    [
        ("completed", None, [said("a")], Finish.STOP),
        ("completed", None, [FUNCTION_CALL], Finish.TOOL),
        ("completed", None, [FUNCTION_CALL, said("a")], Finish.TOOL),
        ("completed", None, [SEARCHED, said("a")], Finish.STOP),
        ("incomplete", "max_output_tokens", [], Finish.LENGTH),
        ("incomplete", "content_filter", [], Finish.REFUSAL),
        ("incomplete", "other", [], Finish.OTHER),
        ("incomplete", ["x"], [], Finish.OTHER),
        ("incomplete", None, [], Finish.OTHER),
        ("failed", None, [], Finish.FAILED),
        ("in_progress", None, [], Finish.OTHER),
        ("cancelled", None, [], Finish.OTHER),
        (["completed"], None, [], Finish.OTHER),
        (None, None, [], None),
    ],
)
def test_statuses_have_an_ending(status: Any, reason: Any, output: list[Any], ending: Finish | None) -> None:
    details = None if reason is None else {"reason": reason}
    view = answer(RESPONSES, responses_body(output, status, incomplete_details=details))
    assert (view.finish, view.ending) == (status, ending)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"output": {}}, "/output"),
        ({"output": [1]}, "/output/0"),
        ({"output": [{"type": "message", "content": "a"}]}, "/output/0/content"),
        ({"output": [{"type": "message", "content": ["a"]}]}, "/output/0/content/0"),
        ({"output": [said(1)]}, "/output/0/content/0/text"),  # type: ignore[arg-type]
        ({"output": [{"type": "reasoning", "summary": "a"}]}, "/output/0/summary"),
        ({"usage": 1}, "/usage"),
        ({"usage": {"input_tokens": 1.5}}, "/usage/input_tokens"),
        (
            {"usage": {"output_tokens_details": {"reasoning_tokens": None}}},
            "/usage/output_tokens_details/reasoning_tokens",
        ),
    ],
)
def test_a_wrong_type_is_none_and_noted(change: dict[str, Any], pointer: str) -> None:
    view = answer(RESPONSES, {**responses_body([]), **change})
    assert [note.pointer for note in view.notes] == [pointer]


def test_text_is_found_behind_other_items_and_summaries_of_messages_are_not_reasoning() -> None:
    message = {**said("a"), "summary": [{"type": "summary_text", "text": "not reasoning"}]}
    thought = {"type": "reasoning", "id": "r", "content": [{"type": "reasoning_text", "text": "Hm."}]}
    view = answer(RESPONSES, responses_body([REASONING, thought, message, said("b", "msg_2")]))
    assert view.texts == ("a", "b")
    assert view.reasonings == ("Let me see.", "Hm.")
    assert view.role == "assistant"


def test_a_call_has_two_ids_and_a_server_call_one() -> None:
    function, search = answer(RESPONSES, responses_body([FUNCTION_CALL, SEARCHED])).calls
    assert (function.id, function.item_id, function.server) == ("call_1", "fc_1", False)
    assert (search.id, search.server, search.search, search.arguments) == ("ws_1", True, True, MISSING)
    (bare,) = answer(RESPONSES, responses_body([{"type": "function_call"}])).calls
    assert (bare.id, bare.item_id, bare.name, bare.arguments, bare.value) == (MISSING,) * 5


def test_without_a_terminal_event_the_items_are_put_together() -> None:
    events = responses_events(responses_body([REASONING, said("Grüße"), FUNCTION_CALL]))
    whole = streamed(RESPONSES, events)
    cut = streamed(RESPONSES, events[:-1])
    assert (cut.finish, cut.ending, cut.complete) == ("in_progress", None, False)
    assert (cut.texts, cut.reasonings, cut.calls, cut.id) == (whole.texts, whole.reasonings, whole.calls, whole.id)
    assert cut.usage is None


def test_without_done_events_the_deltas_are_put_together() -> None:
    events = responses_events(responses_body([REASONING, said("Grüße"), FUNCTION_CALL]))
    deltas = [event for event in events[:-1] if not event["type"].endswith(".done")]
    view = streamed(RESPONSES, deltas)
    assert (view.text, view.reasoning) == ("Grüße", "Let me see.")
    assert view.calls[0].value == {"city": "北京", "days": 2}


@pytest.mark.parametrize("status", ["completed", "incomplete", "failed"])
def test_the_response_of_the_terminal_event_is_the_body(status: str) -> None:
    body = responses_body([said("a")], status)
    events = responses_events(responses_body([said("streamed")], status))
    view = streamed(RESPONSES, [*events[:-1], {"type": f"response.{status}", "response": body}, "[DONE]"])
    assert view.body == body
    assert (view.text, view.complete, view.finish) == ("a", True, status)


def test_a_terminal_event_without_its_response_is_noted_and_the_items_count() -> None:
    events = responses_events(responses_body([said("a")]))
    view = streamed(RESPONSES, [*events[:-1], {"type": "response.completed"}])
    assert (view.text, view.finish, view.complete) == ("a", "completed", True)
    assert [note.message for note in view.notes] == ["a terminal event without its response object"]


def test_a_terminal_event_that_is_not_dispatched_does_not_count() -> None:
    raw = streamed(RESPONSES, responses_events(responses_body([said("a")]))).raw
    assert answer(RESPONSES, raw).complete
    assert not answer(RESPONSES, raw[:-1]).complete
    assert answer(RESPONSES, raw[:-1]).text == "a"


@pytest.mark.parametrize("events", [[], ["[DONE]"], [1, None], [{"type": "response.new"}]])
def test_a_stream_of_nothing_has_no_body(events: list[Any]) -> None:
    view = streamed(RESPONSES, events)
    assert (view.body, view.complete) == (None, False)
