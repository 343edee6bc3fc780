"""The seam for faults: each stage can be changed alone, in a few lines."""

from __future__ import annotations

import logging
from typing import Any

import msgspec
import pytest
from reference_asking import CHAT, K3, MESSAGES, RESPONSES, Asker, body_of, tool_of
from test_reference_refusals import BAD, K3_BAD, REQUIRED

from conformance.protocols import BUILDERS, MISSING, Finish
from conformance.reference import (
    Context,
    Event,
    Head,
    Hooks,
    Layer,
    Problem,
    Prompt,
    Refusal,
    Result,
    Wire,
    app,
)
from conformance.reference import (
    Finish as Ending,
)
from conformance.reference.prompts import Choice
from conformance.values import Protocol

ANY = {"type": "object"}


def asker(**hooks: Any) -> Asker:
    return Asker(app(hooks=Hooks(**hooks)))


def test_without_hooks_nothing_changes(server: Asker) -> None:
    assert asker().ask(CHAT, "Reply with OK.").text == server.ask(CHAT, "Reply with OK.").text


def test_total_is_off_by_one_in_json_only() -> None:
    def off_by_one(_: Context, body: dict[str, Any]) -> dict[str, Any]:
        return body | {"usage": body["usage"] | {"total_tokens": body["usage"]["total_tokens"] + 1}}

    client = asker(body=off_by_one)
    whole, streamed = (client.ask(CHAT, "Reply with OK.", stream=stream).usage_raw for stream in (False, True))
    assert whole["total_tokens"] == streamed["total_tokens"] + 1


def test_a_count_can_be_wrong_on_one_surface() -> None:
    def doubled(context: Context, result: Result) -> Result:
        if context.protocol is not MESSAGES:
            return result
        return msgspec.structs.replace(result, usage=msgspec.structs.replace(result.usage, output=1))

    client = asker(result=doubled)
    assert client.ask(MESSAGES, "Reply with OK.").usage_raw["output_tokens"] == 1
    assert client.ask(CHAT, "Reply with OK.").usage_raw["completion_tokens"] > 1


def test_one_delta_is_lost() -> None:
    def lossy(_: Context, events: list[Event]) -> list[Event]:
        texts = [event for event in events if event.name == "response.output_text.delta"]
        return [event for event in events if event is not texts[1]]

    answer = asker(events=lossy).ask(RESPONSES, "Count from 1 to 9.", stream=True)
    numbers = [payload["sequence_number"] for payload in answer.payloads]
    assert len(numbers) == numbers[-1]


def test_a_tool_id_is_missing_in_streams_only() -> None:
    def nameless(_: Context, events: list[Event]) -> list[Event]:
        for event in events:
            if isinstance(event.data, dict):
                for call in event.data["choices"][0]["delta"].get("tool_calls", []):
                    call.pop("id", None)
        return events

    client = asker(events=nameless)
    tools = [tool_of(CHAT, "f", ANY)]
    ids = [client.ask(CHAT, "Call f.", tools=tools, stream=stream).calls[0].id for stream in (False, True)]
    assert isinstance(ids[0], str)
    assert ids[1] is MISSING


def test_one_problem_is_forgiven_and_the_others_are_not() -> None:
    def lenient(_: Context, problems: list[Problem]) -> list[Problem]:
        return [problem for problem in problems if problem.kind != "stop-sequence-bytes"]

    client = asker(problems=lenient)
    user = "Repeat this exactly: " + "x" * 40
    assert client.ask(MESSAGES, user, stop_sequences=["x" * 33]).text == ""
    assert client.ask(MESSAGES, user, stop_sequences=list("abcdef")).status == 400


@pytest.mark.parametrize(("protocol", "change"), BAD)
def test_every_broken_schema_can_be_forgiven(protocol: Protocol, change: dict[str, Any]) -> None:
    forgiving = asker(problems=lambda _, problems: [])
    answer = forgiving.exchange(protocol, body_of(protocol, "Reply with OK.") | change)
    beyond_the_schema = protocol is RESPONSES and isinstance(change.get("input"), list) and change["input"] != [5]
    assert answer.ok != beyond_the_schema


@pytest.mark.parametrize(("protocol", "name"), REQUIRED)
def test_a_missing_field_can_be_forgiven(protocol: Protocol, name: str) -> None:
    body = body_of(protocol, "Reply with OK.")
    del body[name]
    assert asker(problems=lambda _, problems: []).exchange(protocol, body).text == "OK"


@pytest.mark.parametrize(("protocol", "change"), K3_BAD, ids=str)
def test_what_kimi_k3_refuses_can_be_forgiven_and_takes_effect(protocol: Protocol, change: dict[str, Any]) -> None:
    client = asker(problems=lambda _, problems: [])
    assert client.ask(protocol, "Reply with OK.", model=K3, **change).ok
    if "low" in change.values():
        low, plain = (client.ask(protocol, "Hm.", model=K3, **each).reasoning for each in (change, {}))
        assert len(low) < len(plain)


def test_an_orphan_result_can_be_forgiven() -> None:
    kinds: list[str] = []

    def lenient(_: Context, problems: list[Problem]) -> list[Problem]:
        kinds.extend(problem.kind for problem in problems)
        return []

    body = BUILDERS[MESSAGES].continue_with(body_of(MESSAGES, "Hello."), {"content": []}, {"toolu_x": "rain"})
    assert asker(problems=lenient).exchange(MESSAGES, body).ok
    assert kinds == ["orphan-result"]


def test_a_context_overflow_can_be_forgiven() -> None:
    answer = asker(problems=lambda _, problems: []).ask(CHAT, "漢" * 1_048_577, limit=1)
    assert answer.ending is Finish.LENGTH


def test_the_prompt_can_be_read_wrongly() -> None:
    def choiceless(_: Context, prompt: Prompt) -> Prompt:
        return msgspec.structs.replace(prompt, choice=Choice(), stop=())

    client = asker(prompt=choiceless)
    tools = [tool_of(MESSAGES, "f", ANY)]
    assert not client.ask(MESSAGES, "Hello.", tools=tools, choice={"type": "any"}).calls
    assert client.ask(MESSAGES, "Count from 1 to 3.", stop_sequences=["2"]).text == "1 2 3"


def test_an_invalid_key_can_be_let_in() -> None:
    def open_door(_: Context, refusal: Refusal | None) -> Refusal | None:
        return None if refusal and refusal.layer is Layer.AUTHENTICATION else refusal

    application = app(hooks=Hooks(admission=open_door))
    assert Asker(application, "sk-other").ask(CHAT, "Reply with OK.").ok


def test_the_envelope_can_be_wrong_in_one_layer() -> None:
    def foreign(context: Context, body: dict[str, Any]) -> dict[str, Any]:
        return {"detail": "wrong"} if context.refused is Layer.VALIDATION else body

    client = asker(envelope=foreign)
    assert client.exchange(CHAT, body_of(CHAT, "x") | {"stream": 5}).value == {"detail": "wrong"}
    assert "error" in client.exchange(CHAT, b"{").value


def test_the_status_of_a_refusal_can_be_wrong() -> None:
    def failing(_: Context, refusal: Refusal) -> Refusal:
        return msgspec.structs.replace(refusal, status=500) if refusal.layer is Layer.PARSING else refusal

    client = asker(refusal=failing)
    assert client.exchange(CHAT, b"{").status == 500
    assert client.exchange(CHAT, b"{}").status == 400


def test_head_and_wire_have_the_last_word() -> None:
    def teapot(_: Context, head: Head) -> Head:
        return Head(status=418, headers=(("content-type", "text/html"), ("set-cookie", "a=1"), ("set-cookie", "b=2")))

    def garbled(_: Context, wire: Wire) -> Wire:
        return [b"<html>", *wire]

    answer = asker(head=teapot, wire=garbled).post("/v1/messages", json={})
    assert (answer.status_code, answer.headers.get_list("set-cookie")) == (418, ["a=1", "b=2"])
    assert answer.content.startswith(b"<html>{")


def test_hooks_can_depend_on_the_model_and_the_request() -> None:
    def cut(context: Context, result: Result) -> Result:
        small = context.prompt is not None and context.prompt.limit < 100
        return msgspec.structs.replace(result, finish=Ending.LENGTH) if small and context.model == K3 else result

    client = asker(result=cut)
    assert client.ask(CHAT, "Reply with OK.", model=K3).ending is Finish.STOP
    assert client.ask(RESPONSES, "Reply with OK.", model=K3, limit=99).ending is Finish.LENGTH


def test_a_hook_that_fails_gives_a_plain_500(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: Context, body: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("secret detail")

    with caplog.at_level(logging.CRITICAL + 1):
        for protocol in Protocol:
            answer = asker(body=broken).ask(protocol, "Reply with OK.")
            assert (answer.status, answer.media_type) == (500, "application/json")
            assert b"secret" not in answer.raw
