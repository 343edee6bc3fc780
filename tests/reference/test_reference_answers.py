"""Plain answers on all three surfaces: text, reasoning, limits, usage, ids."""

from __future__ import annotations

import json
from typing import Any

import pytest
from reference_asking import CHAT, K3, MESSAGES, RESPONSES, Asker, body_of

from conformance import specs
from conformance.models import ALL, EFFORT_ALIASES
from conformance.protocols import Answer, Finish
from conformance.reference import Settings, app
from conformance.reference.encoding.partial import object_so_far
from conformance.values import Protocol

SURFACES = pytest.mark.parametrize("protocol", list(Protocol))
MODES = pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])


def spent(answer: Answer) -> tuple[int, int]:
    """All input tokens, and the output tokens."""
    usage = answer.usage
    assert usage is not None
    raw: Any = answer.usage_raw
    if answer.protocol is MESSAGES:
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        return sum(raw[name] for name in names), raw["output_tokens"]
    prefix = ("prompt", "completion") if answer.protocol is CHAT else ("input", "output")
    return raw[f"{prefix[0]}_tokens"], raw[f"{prefix[1]}_tokens"]


@SURFACES
@MODES
@pytest.mark.parametrize("model", ALL)
def test_answer_is_valid_under_the_documents(server: Asker, protocol: Protocol, stream: bool, model: str) -> None:
    answer = server.ask(protocol, "Reply with OK.", model=model, stream=stream)
    assert (answer.text, answer.ending, answer.answer_model, answer.role) == ("OK", Finish.STOP, model, "assistant")
    assert answer.reasoning
    assert answer.complete
    assert specs.body_breaches(protocol, model, answer.body, required=True) == ()
    for event, data in zip(answer.events, answer.payloads, strict=True):
        if event.data != "[DONE]":
            name = data["object"] if protocol is CHAT else event.name
            assert specs.event_breaches(protocol, name, data) == ()


@SURFACES
def test_stream_and_json_say_and_cost_the_same(server: Asker, protocol: Protocol) -> None:
    whole, streamed = (server.ask(protocol, "Count from 1 to 90.", stream=stream) for stream in (False, True))
    assert (whole.text, whole.reasoning) == (streamed.text, streamed.reasoning)
    assert whole.usage_raw == streamed.usage_raw
    assert whole.id != streamed.id


@SURFACES
@MODES
def test_text_of_many_scripts_comes_back_unbroken(server: Asker, protocol: Protocol, stream: bool) -> None:
    text = "漢字かな、한국어 עברית العربية ไทย ñandú — 😀👩‍👩‍👧‍👦🏳️‍🌈𝒳𠮷\u2028end\0."
    answer = server.ask(protocol, f"Repeat this exactly, with nothing before or after: {text}", stream=stream)
    assert answer.text == text


@SURFACES
@MODES
@pytest.mark.parametrize("limit", [1, 2, 16, 60, 110, 150, 400])
def test_limit_is_spent_exactly_on_reasoning_then_text(
    server: Asker, protocol: Protocol, stream: bool, limit: int
) -> None:
    answer = server.ask(protocol, "Count from 1 to 20000.", limit=limit, stream=stream)
    assert answer.ending is Finish.LENGTH
    assert spent(answer)[1] == limit
    assert answer.reasoning
    assert bool(answer.text) == (limit > 103)


@SURFACES
def test_an_answer_that_just_fits_is_not_cut_off(server: Asker, protocol: Protocol) -> None:
    whole = server.ask(protocol, "Reply with OK.")
    fitting, cut = (server.ask(protocol, "Reply with OK.", limit=spent(whole)[1] - less) for less in (0, 1))
    assert (fitting.ending, fitting.text) == (Finish.STOP, "OK")
    assert (cut.ending, cut.text) == (Finish.LENGTH, "")


@pytest.mark.parametrize("protocol", [CHAT, MESSAGES])
def test_more_effort_reasons_more_and_aliases_are_their_targets(server: Asker, protocol: Protocol) -> None:
    lengths = {
        effort: len(server.ask(protocol, "Reply with OK.", effort=effort).reasoning)
        for effort in ("low", "high", "max", *EFFORT_ALIASES)
    }
    assert 0 < lengths["low"] < lengths["high"] < lengths["max"]
    assert all(lengths[alias] == lengths[target] for alias, target in EFFORT_ALIASES.items())


@SURFACES
def test_more_words_cost_more_input(server: Asker, protocol: Protocol) -> None:
    short = server.ask(protocol, "Reply with OK.")
    long = server.ask(protocol, "so " * 200 + "Reply with OK.")
    assert spent(long)[0] >= spent(short)[0] + 200


def test_forms_of_the_same_words_cost_the_same(server: Asker) -> None:
    text = "Reply with exactly: two forms"
    plain: list[Any] = [{"role": "user", "content": text}]
    blocks = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    for protocol in (CHAT, MESSAGES, RESPONSES):
        forms = [server.ask(protocol, messages=messages) for messages in (plain, blocks)]
        if protocol is RESPONSES:
            forms.append(server.exchange(protocol, {**body_of(protocol, text), "input": text}))
        assert len({spent(form)[0] for form in forms}) == 1
        assert {form.text for form in forms} == {"two forms"}
    systems = (
        server.ask(MESSAGES, text, system=value) for value in ("Be brief.", [{"type": "text", "text": "Be brief."}])
    )
    assert len({spent(answer)[0] for answer in systems}) == 1


def test_history_costs_input(server: Asker) -> None:
    turns = [{"role": role, "content": "word " * 100} for role in ("user", "assistant") * 3]
    last = {"role": "user", "content": "Reply with OK."}
    for protocol in Protocol:
        alone, after = (server.ask(protocol, messages=messages) for messages in ([last], [*turns, last]))
        assert spent(after)[0] - spent(alone)[0] >= 600


def test_the_seed_decides_the_wording_and_nothing_else_does() -> None:
    def said(seed: int, question: str) -> str:
        return Asker(app(Settings(seed=seed))).ask(CHAT, question).text

    assert said(1, "Why?") == said(1, "Why?")
    assert len({said(seed, "Why?") for seed in range(12)}) > 1


def test_times_come_from_the_clock(clock: Any) -> None:
    asker = Asker(app(Settings(clock=clock)))
    for protocol in (CHAT, RESPONSES):
        answer = asker.ask(protocol, "Reply with OK.")
        assert answer.created == 1_800_000_000
        assert dict(answer.headers)["date"] == "Fri, 15 Jan 2027 08:00:00 GMT"


@pytest.mark.parametrize(
    ("asked", "form"),
    [(None, "usage on the finishing chunk"), ({"include_usage": True}, "usage in a chunk of its own")],
)
def test_chat_stream_reports_usage_once(server: Asker, asked: Any, form: str) -> None:
    answer = server.ask(CHAT, "Reply with OK.", model=K3, stream=True, stream_options=asked)
    chunks = answer.payloads[:-1]
    assert [index for index, chunk in enumerate(chunks) if "usage" in chunk] == [len(chunks) - 1]
    assert bool(chunks[-1]["choices"]) == (asked is None), form


def test_responses_echo_what_was_set(server: Asker) -> None:
    answer = server.ask(RESPONSES, "Reply with OK.", metadata={"a": "b"}, instructions="Be brief.", limit=500)
    assert answer.body["metadata"] == {"a": "b"}
    assert answer.body["instructions"] == "Be brief."
    assert answer.body["max_output_tokens"] == 500


def test_no_limit_takes_the_default(server: Asker) -> None:
    for protocol in (CHAT, RESPONSES):
        answer = server.ask(protocol, "Count from 1 to 90000.", limit=None)
        assert answer.ending is Finish.LENGTH
        assert spent(answer)[1] == 131_072


def test_older_name_of_the_limit_works_and_the_newer_wins(server: Asker) -> None:
    older = server.ask(CHAT, "Count from 1 to 500.", limit=None, max_tokens=20)
    both = server.ask(CHAT, "Reply with OK.", limit=1000, max_tokens=20)
    assert spent(older)[1] == 20
    assert both.text == "OK"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        ("{", {}),
        ('{"a": 1', {}),
        ('{"a": 1,', {"a": 1}),
        ('{"a": "x, [y', {}),
        ('{"b": 1, "a": "x [y\\', {"b": 1}),
        ('{"a": [{"b": 1, "c', {"a": [{"b": 1}]}),
        ('{"a": [{"b": 1}], "c": tru', {"a": [{"b": 1}]}),
        ('{"a": {"b": null}}', {"a": {"b": None}}),
        ("[1, 2", {}),
    ],
)
def test_object_so_far_keeps_what_is_complete(text: str, value: dict[str, Any]) -> None:
    assert object_so_far(text) == value


def test_every_beginning_of_an_object_is_an_object() -> None:
    text = json.dumps({"a": 'x, [ "\\', "b": [{"n": "P", "c": 1.5}, {}], "d": {"e": None}})
    found = [object_so_far(text[:end]) for end in range(len(text) + 1)]
    assert found[-1] == json.loads(text)
    assert all(isinstance(value, dict) for value in found)
