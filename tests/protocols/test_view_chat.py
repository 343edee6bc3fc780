from __future__ import annotations

from typing import Any

import pytest
from view_wire import CHAT, CHAT_USAGE, answer, called, chat_body, streamed

from conformance.protocols import MISSING, Answer, Finish


def chunk(delta: Any = None, finish: Any = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "kimi-k3"}
    return {**head, "choices": [choice], **more}


def folded(*chunks: Any) -> Answer:
    return streamed(CHAT, [*chunks, "[DONE]"])


def message(view: Answer) -> dict[str, Any]:
    assert view.body is not None
    found: dict[str, Any] = view.body["choices"][0]["message"]
    return found


@pytest.mark.parametrize(
    ("finish", "ending"),
    [
        ("stop", Finish.STOP),
        ("length", Finish.LENGTH),
        ("tool_calls", Finish.TOOL),
        ("function_call", Finish.TOOL),
        ("content_filter", Finish.REFUSAL),
        ("end_turn", Finish.OTHER),
        ("", Finish.OTHER),
        (7, Finish.OTHER),
        (None, None),
    ],
)
def test_finish_reasons_have_an_ending(finish: Any, ending: Finish | None) -> None:
    view = answer(CHAT, chat_body({"content": "a"}, finish))
    assert (view.finish, view.ending) == (finish, ending)


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (None, ()),
        ("", ("",)),
        ("a", ("a",)),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ("ab",)),
        ([], ()),
        (7, ()),
        ({"text": "a"}, ()),
    ],
)
def test_content_null_and_empty_are_told_apart(content: Any, texts: tuple[str, ...]) -> None:
    assert answer(CHAT, chat_body({"content": content})).texts == texts


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"choices": {}}, "/choices"),
        ({"choices": ["a"]}, "/choices/0"),
        ({"choices": [{"message": "a"}]}, "/choices/0/message"),
        ({"choices": [{"message": {"content": 1}}]}, "/choices/0/message/content"),
        ({"choices": [{"message": {"reasoning_content": []}}]}, "/choices/0/message/reasoning_content"),
        ({"choices": [{"message": {"tool_calls": {}}}]}, "/choices/0/message/tool_calls"),
        ({"choices": [{"message": {"tool_calls": [1]}}]}, "/choices/0/message/tool_calls/0"),
        ({"choices": [{"message": {"tool_calls": [{"function": 1}]}}]}, "/choices/0/message/tool_calls/0/function"),
        ({"choices": [{"message": {"function_call": {}}}]}, "/choices/0/message/function_call"),
        ({"usage": []}, "/usage"),
        ({"usage": {"prompt_tokens_details": 1}}, "/usage/prompt_tokens_details"),
        ({"usage": {"prompt_tokens": 16.0}}, "/usage/prompt_tokens"),
        ({"usage": {"completion_tokens": True}}, "/usage/completion_tokens"),
        ({"usage": {"total_tokens": -1}}, "/usage/total_tokens"),
        ({"usage": {"total_tokens": None}}, "/usage/total_tokens"),
        ({"usage": {"prompt_tokens_details": {"cached_tokens": "8"}}}, "/usage/prompt_tokens_details/cached_tokens"),
    ],
)
def test_a_wrong_type_is_none_and_noted(change: dict[str, Any], pointer: str) -> None:
    view = answer(CHAT, {**chat_body({"content": "a"}), **change})
    assert [note.pointer for note in view.notes] == [pointer]
    assert view.body is not None


def test_counts_of_a_wrong_type_are_none() -> None:
    view = answer(CHAT, {"usage": {"prompt_tokens": "3", "completion_tokens": 2.0, "total_tokens": True}})
    assert view.usage is not None
    assert (view.usage.input, view.usage.output, view.usage.total, view.usage.cached) == (None, None, None, None)
    assert answer(CHAT, {"usage": 3}).usage is None
    assert answer(CHAT, {"usage": 3}).usage_raw == 3
    assert answer(CHAT, {}).usage_raw is MISSING
    assert answer(CHAT, {"usage": None}).usage_raw is None


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{}", {}),
        ("", MISSING),
        ('{"a": ', MISSING),
        ('"{}"', "{}"),
        ({"a": 1}, {"a": 1}),
        (None, MISSING),
        (7, MISSING),
        ("[" * 5000, MISSING),
    ],
)
def test_arguments_are_kept_and_parsed(arguments: Any, value: object) -> None:
    call = {"id": "c0", "type": "function", "function": {"name": "f", "arguments": arguments}}
    (found,) = answer(CHAT, chat_body({"tool_calls": [call]}, "tool_calls")).calls
    assert (found.arguments, found.value) == (arguments, value)
    assert found.pointer == "/choices/0/message/tool_calls/0"


def test_fields_of_a_call_that_are_missing_are_missing() -> None:
    (call,) = answer(CHAT, chat_body({"tool_calls": [{}]})).calls
    assert (call.id, call.name, call.type, call.arguments, call.value) == (MISSING,) * 5


def test_every_choice_gives_its_text_and_the_first_its_finish() -> None:
    chunks = [
        {"choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": "length"}]},
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}]},
    ]
    view = folded(*chunks)
    assert (view.texts, view.finish, view.role) == (("a", "b"), "stop", "assistant")


def test_interleaved_tool_deltas_are_joined_by_index() -> None:
    def piece(index: int, arguments: str, **more: Any) -> dict[str, Any]:
        return {"index": index, **more, "function": {"arguments": arguments}}

    view = folded(
        chunk({"tool_calls": []}),
        chunk({"tool_calls": [{**called("f", "", "c0"), "index": 0}, {**called("g", "", "c1"), "index": 1}]}),
        chunk({"tool_calls": [piece(1, '{"b"')]}),
        chunk({"tool_calls": [piece(0, '{"a"', id=None, type=None), piece(1, ": 2}", id="")]}),
        chunk({"tool_calls": [piece(0, ": 1}", id="other")]}),
        chunk({"tool_calls": None}, "tool_calls"),
    )
    assert [(call.id, call.name, call.value) for call in view.calls] == [("c0", "f", {"a": 1}), ("c1", "g", {"b": 2})]
    assert message(view)["tool_calls"] == [called("f", '{"a": 1}', "c0"), called("g", '{"b": 2}', "c1")]


def test_fragments_without_an_index_are_joined_by_id_and_noted() -> None:
    view = folded(
        chunk({"tool_calls": [called("f", "{", "c0")]}),
        chunk({"tool_calls": [{"function": {"arguments": "}"}}]}),
        chunk({"tool_calls": [called("g", "{}", "c1")]}),
    )
    assert [(call.name, call.arguments) for call in view.calls] == [("f", "{}"), ("g", "{}")]
    assert len(view.notes) == 3


def test_no_tool_calls_are_made_of_an_empty_array() -> None:
    view = folded(chunk({"content": "a", "tool_calls": []}, "stop"))
    assert view.calls == ()
    assert "tool_calls" not in message(view)


def test_null_deltas_mean_absent() -> None:
    view = folded(
        chunk({"role": "assistant", "content": None, "reasoning_content": None, "tool_calls": None}),
        chunk({"role": None, "content": "a", "reasoning_content": None}),
        chunk({"content": None}, "stop"),
        chunk(None, None),
    )
    assert (view.texts, view.reasonings, view.role, view.finish, view.notes) == (("a",), (), "assistant", "stop", ())


def test_usage_counts_wherever_it_is_reported_and_the_last_time() -> None:
    first = {**CHAT_USAGE, "completion_tokens": 1}
    view = folded(chunk({"content": "a"}, usage=first), chunk({}, "stop", usage=CHAT_USAGE), chunk({}, usage=None))
    assert view.usage is not None
    assert (view.usage.output, view.usage.pointer, view.usage_raw) == (96, "event 1", CHAT_USAGE)


def test_other_reasoning_fields_keep_their_name() -> None:
    view = folded(chunk({"reasoning": "Let "}), chunk({"reasoning": "me see."}), chunk({"content": "a"}, "stop"))
    assert message(view)["reasoning"] == "Let me see."
    assert view.reasonings == ()


def test_top_level_fields_come_from_the_first_chunk_that_has_them() -> None:
    view = folded(
        {"id": None, "choices": []},
        chunk({"content": "a"}, system_fingerprint="fp"),
        {**chunk({}, "stop"), "id": "other", "model": "other"},
    )
    assert (view.id, view.answer_model, view.created) == ("c", "kimi-k3", 1)
    assert view.body is not None
    assert (view.body["object"], view.body["system_fingerprint"]) == ("chat.completion", "fp")


def test_another_object_is_kept() -> None:
    view = folded({**chunk({"content": "a"}, "stop"), "object": "chat.completion"})
    assert view.type == "chat.completion"
    view = folded({**chunk({"content": "a"}, "stop"), "object": "text"})
    assert view.body is not None
    assert (view.type, view.body["object"]) == ("text", "text")


def test_content_that_is_no_string_is_kept_and_noted() -> None:
    view = folded(chunk({"content": 7}), chunk({}, "stop"))
    assert message(view)["content"] == 7
    assert view.texts == ()
    assert view.notes[0].pointer == "event 0/choices/0/delta/content"


@pytest.mark.parametrize(
    ("tail", "complete"),
    [
        (b"data: [DONE]\n\n", True),
        (b"data:[DONE]\r\n\r\n", True),
        (b"data: [DONE]\n", False),
        (b"data: [DONE]", False),
        (b"", False),
    ],
)
def test_complete_means_that_done_was_dispatched(tail: bytes, complete: bool) -> None:
    assert answer(CHAT, b'data: {"choices": []}\n\n' + tail).complete is complete


def test_data_that_is_no_json_is_missing_and_noted() -> None:
    view = folded("oops", chunk({"content": "a"}, "stop"))
    assert view.payloads[0] is MISSING
    assert view.notes[0].pointer == "event 0"
    assert view.text == "a"
