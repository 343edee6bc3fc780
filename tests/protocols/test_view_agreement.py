"""An answer reads the same from JSON and from the stream of it."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from view_wire import ARGUMENTS, BODIES, EVENTS, TEXT, answer, stream, streamed

from conformance.protocols import MISSING, Answer, Finish, Kind, read
from conformance.values import Exchange, Protocol, Request, Response

SAME = (
    *("id", "created", "answer_model", "role", "finish", "ending", "texts", "reasonings", "calls", "results"),
    *("usage_raw", "error", "complete"),
)

EXPECTED = {  # ending, text, reasoning, and name and value of each call
    "chat text": (Finish.STOP, TEXT, "Let me see.", []),
    "chat calls": (Finish.TOOL, "", "Let me see.", [("weather", {"city": "北京", "days": 2}), ("clock", {})]),
    "chat search": (Finish.TOOL, "", "", [("$web_search", {"q": 1})]),
    "chat cut off": (Finish.LENGTH, "One two", "Hm", []),
    "messages text": (Finish.STOP, TEXT, "Let me see.", []),
    "messages calls": (Finish.TOOL, "", "Let me see.", [("weather", {"city": "北京", "days": 2}), ("clock", {})]),
    "messages search": (Finish.STOP, "Found.", "", [("web_search", {"query": "kimi"})]),
    "messages cut off": (Finish.LENGTH, "", "Let me see.", []),
    "messages refused": (Finish.REFUSAL, "", "", []),
    "responses text": (Finish.STOP, TEXT, "Let me see.", []),
    "responses calls": (Finish.TOOL, "", "Let me see.", [("weather", {"city": "北京", "days": 2})]),
    "responses cut off": (Finish.LENGTH, "", "Let me see.", []),
    "responses failed": (Finish.FAILED, "", "", []),
}


def both(name: str) -> tuple[Answer, Answer]:
    protocol, body = BODIES[name]
    return answer(protocol, body), streamed(protocol, EVENTS[protocol](body))


@pytest.mark.parametrize("name", BODIES)
def test_json_and_stream_give_the_same_view(name: str) -> None:
    plain, folded = both(name)
    assert (plain.kind, folded.kind) == (Kind.JSON, Kind.STREAM)
    for field in SAME:
        here, there = getattr(plain, field), getattr(folded, field)
        if field == "texts" and name == "chat search":
            assert (here, there) == (("",), ())  # no content delta at all: the stream cannot tell null from ""
            continue
        if field == "calls":  # a messages stream shows the pieces, JSON the object
            here, there = ([replace(call, arguments=None) for call in calls] for calls in (here, there))
        assert here == there, field
    assert plain.usage is not None
    assert folded.usage is not None
    assert replace(folded.usage, pointer="/usage") == plain.usage
    assert plain.ok
    assert folded.ok
    assert plain.notes == folded.notes == ()


@pytest.mark.parametrize("name", BODIES)
def test_the_view_says_what_the_answer_says(name: str) -> None:
    ending, text, reasoning, calls = EXPECTED[name]
    for view in both(name):
        assert (view.ending, view.text, view.reasoning) == (ending, text, reasoning)
        assert [(call.name, call.value) for call in view.calls] == calls
        assert view.answer_model == "kimi-k3.1-pro"
        assert view.truncated == (ending is Finish.LENGTH)
        assert view.normal == (ending in (Finish.STOP, Finish.TOOL))


@pytest.mark.parametrize("name", ["chat text", "messages text", "responses text"])
def test_usage_has_one_meaning_on_all_surfaces(name: str) -> None:
    for view in both(name):
        usage = view.usage
        assert usage is not None
        assert (usage.input, usage.output, usage.cached, usage.reasoning) == (24, 96, 8, 62)
    assert usage.plain == (12 if name.startswith("messages") else None)
    assert usage.total == (None if name.startswith("messages") else 120)


@pytest.mark.parametrize("name", BODIES)
def test_the_fold_is_the_json_body(name: str) -> None:
    plain, folded = both(name)
    assert folded.body is not None
    if name == "chat search":
        folded.body["choices"][0]["message"]["content"] = ""
    assert folded.body == plain.body


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("size", [1, 7, 64])
def test_chunk_borders_change_nothing_but_times(name: str, size: int) -> None:
    protocol, body = BODIES[name]
    whole = streamed(protocol, EVENTS[protocol](body))
    cut = streamed(protocol, EVENTS[protocol](body), size=size)
    assert cut.payloads == whole.payloads
    assert cut.body == whole.body
    timeless = [[msgspec.structs.replace(event, ms=None) for event in one.events] for one in (cut, whole)]
    assert timeless[0] == timeless[1]


def test_streams_keep_their_pieces_of_arguments() -> None:
    _, chat = both("chat calls")
    _, messages = both("messages calls")
    plain, _ = both("messages calls")
    assert chat.calls[0].arguments == ARGUMENTS
    assert isinstance(messages.calls[0].arguments, str)
    assert messages.calls[1].arguments == {}  # no piece at all means an empty object
    assert plain.calls[0].arguments == {"city": "北京", "days": 2}


def test_usage_points_to_its_place() -> None:
    for name in ("chat text", "messages text", "responses text"):
        plain, folded = both(name)
        assert plain.usage is not None
        assert folded.usage is not None
        assert plain.usage.pointer == "/usage"
        number = int(folded.usage.pointer.removeprefix("event "))
        assert "usage" in str(folded.payloads[number])


def test_chat_type_is_that_of_the_chunks() -> None:
    plain, folded = both("chat text")
    assert (plain.type, folded.type) == ("chat.completion", "chat.completion.chunk")


def test_client_and_server_calls_are_told_apart() -> None:
    for view in both("messages search"):
        assert [(call.server, call.search) for call in view.calls] == [(True, True)]
        assert view.client_calls == ()
        assert [(result.use_id, result.failed) for result in view.results] == [("srvtoolu_1", False)]
    for view in both("chat search"):
        assert [(call.server, call.search, call.type) for call in view.calls] == [(False, True, "builtin_function")]
    for view in both("responses calls"):
        assert [(call.id, call.item_id) for call in view.calls] == [("call_1", "fc_1")]


def test_an_exchange_is_read_once() -> None:
    exchange = Exchange(
        id="once",
        protocol=Protocol.CHAT,
        model="kimi-k3",
        request=Request(method="POST", url="/v1/chat/completions"),
        response=Response(status=200),
    )
    assert read(exchange) is read(exchange)
    assert read(exchange).asked is read(exchange).asked
    assert read(exchange).id is MISSING


def test_the_parts_of_the_stream_stay_visible() -> None:
    protocol, body = BODIES["chat text"]
    events = EVENTS[protocol](body)
    view = streamed(protocol, events)
    assert view.raw == stream(protocol, events)
    assert view.payloads[-1] is MISSING
    assert view.events[-1].data == "[DONE]"
    assert view.payloads[:-1] == tuple(events[:-1])
