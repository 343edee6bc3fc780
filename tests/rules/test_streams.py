"""The rules about streams on surfaces and layers beyond their minimal pairs, down to the bytes."""

from __future__ import annotations

import json
import re

import pytest
from msgspec.structs import replace
from variants import EVENTS, add, built, drop, judged, outcome, put, to_k3

from conformance.judge import judge
from conformance.rules.streams_responses_items import MOST_ITEMS
from conformance.values import Chunk, Failure, Level, Outcome

STREAMS = ("chat.stream", "chat.tool-stream", "messages.stream", "messages.search-stream", "responses.tool-stream")


def rewritten(base, change, *changes):
    """The exchange of a base, the bytes of its answer changed."""
    (exchange,) = built(base, *changes)
    data = change(b"".join(chunk.data for chunk in exchange.response.chunks))
    return replace(exchange, response=replace(exchange.response, chunks=(Chunk(ms=20.0, data=data),)))


def found(*exchanges):
    result = judge(exchanges)
    assert [v.rule for v in result.verdicts if v.outcome is Outcome.ERROR] == []
    return {(f.rule, str(f.level)) for f in result.findings if f.level is not Level.INFO}


def event(kind, **fields):
    return {"event": kind, "data": {"type": kind, **fields}}


def chunk(delta, finish=None):
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    head = {"id": "chatcmpl-6adc72aab1f2eaaebe6b86da", "object": "chat.completion.chunk", "created": 1781429520}
    return {"data": {**head, "model": "kimi-k3.1-pro", "choices": choices}}


LEGAL_BYTES = {
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "CR": lambda data: data.replace(b"\n", b"\r"),
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "no space after the colon": lambda data: re.sub(rb"(?m)^(data|event): ", rb"\1:", data),
    "comments": lambda data: b": hi\n\n" + data.replace(b"\n\n", b"\n\n: keep-alive\n\n"),
    "ids and a retry": lambda data: b"retry: 3000\n\n" + re.sub(rb"(?m)^data:", b"id: 7\ndata:", data),
    "blank lines": lambda data: data.replace(b"\n\n", b"\n\n\n\n"),
    "a comment without its line end": lambda data: data + b": bye",
}


@pytest.mark.parametrize("base", STREAMS)
@pytest.mark.parametrize("change", LEGAL_BYTES.values(), ids=LEGAL_BYTES)
def test_the_same_events_in_other_bytes_are_fine(base, change):
    assert found(rewritten(base, change)) == set()


BROKEN_BYTES = {
    "bytes that are not UTF-8": lambda data: data.replace(b"Lis", b"L\xff", 1),
    "a field with a blank before it": lambda data: data.replace(b"\ndata: ", b"\n data: ", 1),
    "a line that is no field": lambda data: data.replace(b"\n\n", b"\n\nkeep-alive\n\n", 1),
    "an end without its blank line": lambda data: data.rstrip(b"\n"),
}


@pytest.mark.parametrize("base", ["chat.tool-stream", "messages.tool-stream", "responses.tool-stream"])
@pytest.mark.parametrize("change", BROKEN_BYTES.values(), ids=BROKEN_BYTES)
def test_bytes_that_a_parser_loses_are_found(base, change):
    assert ("stream.sse-framing", "must") in found(rewritten(base, change))


@pytest.mark.parametrize("base", ["messages.stream", "responses.stream"])
def test_a_blank_line_after_each_name_is_found(base):
    split = rewritten(base, lambda data: re.sub(rb"(?m)^(event: .*)$", rb"\1\n", data))
    assert ("stream.sse-framing", "must") in found(split)


def test_a_named_block_without_data_that_says_nothing_is_harmless():
    assert found(rewritten("responses.stream", lambda data: b"event: keepalive\n\n" + data)) == set()


LOST = {"chat.stream": 9, "messages.stream": 14, "responses.stream": 18}


@pytest.mark.parametrize(("base", "last"), LOST.items())
def test_a_broken_transport_is_no_fault_of_the_stream(base, last):
    (exchange,) = built(base, drop(f"{EVENTS}/{last}"))
    cut = replace(exchange, failure=Failure(kind="reset", message="connection reset"))
    assert not {rule for rule, _ in found(cut) if rule.startswith("stream.")}
    verdict = next(v for v in judge([cut]).verdicts if v.rule == "stream.complete" and v.reason)
    assert verdict.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("base", LOST)
def test_an_event_cut_by_a_broken_transport_is_not_lost(base):
    (exchange,) = built(base)
    data = b"".join(part.data for part in exchange.response.chunks)[:-30]
    cut = replace(exchange.response, chunks=(Chunk(ms=1.0, data=data),))
    cut_off = replace(exchange, response=cut, failure=Failure(kind="timeout", message="timed out"))
    assert not {rule for rule, _ in found(cut_off) if rule.startswith("stream.")}


ERRORS = {
    "chat.stream": {"data": {"error": {"message": "Overloaded", "type": "internal_error", "code": None}}},
    "messages.stream": event("error", error={"type": "overloaded_error", "message": "Overloaded"}),
    "responses.stream": event("error", code="server_error", message="Overloaded", param=None, sequence_number=5),
}


@pytest.mark.parametrize(("base", "error"), ERRORS.items())
def test_a_stream_that_ends_in_an_error_is_not_held_to_its_end(base, error):
    last = LOST[base]
    changes = [drop(f"{EVENTS}/5") for _ in range(last - 4)]
    assert not {rule for rule, _ in judged(base, changes, add(f"{EVENTS}/-", error)) if rule.startswith("stream.")}


@pytest.mark.parametrize("base", STREAMS)
def test_kimi_k3_streams_are_held_to_the_same_rules(base):
    surface = base.split(".")[0]
    assert ("stream.data-json", "must") in judged(base, to_k3(surface), put(f"{EVENTS}/3/data", "oops"))


TEXT = "価格は¥1288です。🧧"


def said(text):
    return put(f"{EVENTS}/3/data/choices/0/delta/content", text)


def test_characters_are_whole_in_escapes_too():
    escaped = rewritten(
        "chat.stream", lambda data: data.replace(TEXT.encode(), json.dumps(TEXT)[1:-1].encode()), said(TEXT)
    )
    assert found(escaped) == set()


HALVES = {
    "half a pair": (lambda data: data.replace("🧧".encode(), rb"\ud83e"), "must"),
    "a pair in two deltas": (
        lambda data: data.replace("🧧".encode(), rb"\ud83e").replace(b'" fell', rb'"\udde7 fell'),
        "must",
    ),
    "a replacement": (lambda data: data.replace("🧧".encode(), "\ufffd".encode()), "must"),
}


@pytest.mark.parametrize(("change", "level"), HALVES.values(), ids=HALVES)
def test_halves_of_characters_are_found(change, level):
    assert ("stream.utf8-intact", level) in found(rewritten("chat.stream", change, said(TEXT)))


@pytest.mark.parametrize("base", ["messages.stream", "responses.stream"])
def test_halves_are_found_on_every_surface(base):
    halved = rewritten(base, lambda data: data.replace(b"Berlin", rb"Berlin\ud83e"))
    assert ("stream.utf8-intact", "must") in found(halved)


def test_a_replacement_character_that_was_asked_for_is_fine():
    asked = put("/0/request/body/messages/0/content", "Repeat exactly: caf\ufffd")
    assert judged("chat.stream", asked, said("caf\ufffd")) == set()


def test_an_answer_about_encodings_may_show_what_they_break():
    asked = put("/0/request/body/messages/0/content", "What does 柏林 look like, read in the wrong encoding?")
    assert judged("chat.stream", asked, said("柏林".encode().decode("latin-1"))) == set()


FAULTS = {
    "reasoning that is no string": (
        "chat.stream",
        [put(f"{EVENTS}/1/data/choices/0/delta/reasoning_content", ["A date question:"])],
        ("stream.chat.chunk-shape", "must"),
    ),
    "an index as a boolean": (
        "chat.stream",
        [put(f"{EVENTS}/{n}/data/choices/0/index", False) for n in range(8)],
        ("stream.chat.chunk-shape", "must"),
    ),
    "a second call with the index of the first": (
        "chat.tool-stream",
        [
            add(
                f"{EVENTS}/7",
                chunk({"tool_calls": [{"index": 0, "id": "call_2", "function": {"name": "get_weather"}}]}),
            )
        ],
        ("stream.chat.tool-deltas", "must"),
    ),
    "a gap before the second call": (
        "chat.tool-stream",
        [
            add(
                f"{EVENTS}/7",
                chunk({"tool_calls": [{"index": 2, "id": "call_2", "function": {"name": "get_weather"}}]}),
            )
        ],
        ("stream.chat.tool-deltas", "must"),
    ),
    "the end mark in the middle of messages": (
        "messages.stream",
        [add(f"{EVENTS}/8", {"data": "[DONE]"})],
        ("stream.data-json", "must"),
    ),
    "a delta after the stop": (
        "messages.stream",
        [add(f"{EVENTS}/-", event("content_block_delta", index=1, delta={"type": "text_delta", "text": "!"}))],
        ("stream.messages.order", "must"),
    ),
    "a block after message_delta": (
        "messages.stream",
        [
            add(f"{EVENTS}/14", event("content_block_stop", index=2)),
            add(f"{EVENTS}/14", event("content_block_start", index=2, content_block={"type": "text", "text": ""})),
        ],
        ("stream.messages.order", "must"),
    ),
    "a stream cut within a call": (
        "messages.tool-stream",
        [drop(f"{EVENTS}/11") for _ in range(4)],
        ("stream.messages.order", "must"),
    ),
    "text in a search result": (
        "messages.search-stream",
        [add(f"{EVENTS}/11", event("content_block_delta", index=2, delta={"type": "text_delta", "text": "x"}))],
        ("stream.messages.delta-type", "must"),
    ),
    "an item of the reasoning without its done event": (
        "responses.stream",
        [drop(f"{EVENTS}/8")],
        ("stream.responses.order", "must"),
    ),
    "the terminal event twice": (
        "responses.stream",
        [add(f"{EVENTS}/-", event("response.completed", sequence_number=19, response={"id": "resp_1"}))],
        ("stream.responses.order", "must"),
    ),
    "arguments of a call that are lost on the way": (
        "responses.tool-stream",
        [drop(f"{EVENTS}/10") for _ in range(3)],
        ("stream.responses.calls", "must"),
    ),
    "a part of another type in the end": (
        "responses.stream",
        [put(f"{EVENTS}/18/data/response/output/1/content/0/type", "text")],
        ("stream.responses.text", "must"),
    ),
    "the summary of the reasoning altered in the end": (
        "responses.stream",
        [put(f"{EVENTS}/18/data/response/output/0/summary/0/text", "A date.")],
        ("stream.responses.text", "must"),
    ),
}


@pytest.mark.parametrize(("base", "changes", "finding"), FAULTS.values(), ids=FAULTS)
def test_faults_on_other_layers_are_found(base, changes, finding):
    assert finding in judged(base, changes)


FINE = {
    "one chunk that says it all": (
        "chat.stream",
        [drop(f"{EVENTS}/1") for _ in range(6)]
        + [put(f"{EVENTS}/1/data/choices/0/delta", {"reasoning_content": "A date.", "content": "It fell in 1989."})],
    ),
    "ids repeated on the fragments of a call": (
        "chat.tool-stream",
        [
            put(f"{EVENTS}/{n}/data/choices/0/delta/tool_calls/0/id", "call_6adc72aab1f2eaaebe6b8749")
            for n in range(4, 7)
        ],
    ),
    "empty content after the finish": (
        "chat.stream",
        [put(f"{EVENTS}/8/data/choices", [chunk({"content": ""})["data"]["choices"][0]])],
    ),
    "a ping within a block": ("messages.stream", [add(f"{EVENTS}/9", event("ping"))]),
    "two message_deltas": (
        "messages.stream",
        [add(f"{EVENTS}/13", event("message_delta", delta={}, usage={"output_tokens": 20}))],
    ),
    "input counts that a search adds to": (
        "messages.search-stream",
        [put(f"{EVENTS}/0/data/message/usage/input_tokens", 70), put(f"{EVENTS}/16/data/usage/input_tokens", 1187)],
    ),
    "a call without input": (
        "messages.tool-stream",
        [drop(f"{EVENTS}/8") for _ in range(4)] + [put("/0/request/body/tools/0/input_schema", {"type": "object"})],
    ),
    "a trailing [DONE] on responses": ("responses.stream", [add(f"{EVENTS}/-", {"data": "[DONE]"})]),
    "no names of events on responses": ("responses.stream", [drop(f"{EVENTS}/{n}/event") for n in range(19)]),
    "numbers from 1": (
        "responses.stream",
        [put(f"{EVENTS}/{n}/data/sequence_number", n + 1) for n in range(19)],
    ),
}


@pytest.mark.parametrize(("base", "changes"), FINE.values(), ids=FINE)
def test_unusual_streams_are_fine(base, changes):
    assert judged(base, changes) == set()


def test_an_ending_that_may_differ_is_no_finding():
    cut = [put("/0/request/body/max_completion_tokens", 27), put("/1/request/body/max_completion_tokens", 27)]
    changed = [
        *cut,
        put("/1/response/sse/6/data/choices/0/delta/content", " of"),
        put("/1/response/sse/7/data/choices/0/finish_reason", "length"),
    ]
    lower = [put("/0/response/json/usage/completion_tokens", 20), put("/0/response/json/usage/total_tokens", 44)]
    assert outcome("stream.same-ending-as-json", "chat.plain chat.stream", changed, lower) is Outcome.INCONCLUSIVE


def test_a_stream_of_very_many_items_is_judged_in_time():
    items = [
        event("response.output_item.added", output_index=n, item={"type": "message", "id": f"msg_{n}"})
        for n in range(20 * MOST_ITEMS)
    ]
    changes = [put(EVENTS, [event("response.created", response={"id": "resp_1"}), *items])]
    assert ("stream.responses.order", "must") in judged("responses.stream", changes)
