"""The rules about how answers end on surfaces, modes and layers beyond their minimal pairs."""

from __future__ import annotations

import pytest
from variants import BODY, EVENTS, drop, judged, outcome, put, to_k3

from conformance.values import Outcome

FAULTS = {
    "the reason of another surface": (
        "chat.tool",
        [put(f"{BODY}/choices/0/finish_reason", "tool_use")],
        ("finish.enum", "must"),
    ),
    "a number for a reason": ("chat.plain", [put(f"{BODY}/choices/0/finish_reason", 1)], ("finish.enum", "must")),
    "an object for a reason": (
        "messages.stream",
        [put(f"{EVENTS}/13/data/delta/stop_reason", {"type": "end_turn"})],
        ("finish.enum", "must"),
    ),
    "a call lost from the stream": (
        "messages.tool-stream",
        [drop(f"{EVENTS}/{n}") for n in (12, 11, 10, 9, 8, 7)],
        ("finish.tool-iff-call", "must"),
    ),
    "the legacy limit ignored": (
        "chat.limit-stream",
        [drop("/0/request/body/max_completion_tokens"), put("/0/request/body/max_tokens", 16)],
        ("finish.length-at-limit", "must"),
    ),
    "a limit ignored in a stream without usage": (
        "chat.stream",
        [put("/0/request/body/max_completion_tokens", 3), drop(f"{EVENTS}/8")],
        ("finish.length-at-limit", "must"),
    ),
    "a text cut in a sentence": (
        "chat.plain",
        [
            put("/0/request/body/max_completion_tokens", 27),
            put(f"{BODY}/choices/0/message/content", "The Berlin Wall fell in 1989, on the evening of"),
        ],
        ("finish.length-reported", "should"),
    ),
    "a call cut in its arguments": (
        "messages.tool-stream",
        [put("/0/request/body/max_tokens", 29), drop(f"{EVENTS}/11")],
        ("finish.length-reported", "should"),
    ),
    "a chat call cut in its arguments": (
        "chat.tool",
        [
            put("/0/request/body/max_completion_tokens", 29),
            put(f"{BODY}/choices/0/message/tool_calls/0/function/arguments", '{"city":"Lis'),
        ],
        ("finish.length-reported", "should"),
    ),
    "a responses call cut in its arguments": (
        "responses.tool",
        [put("/0/request/body/max_output_tokens", 29), put(f"{BODY}/output/1/arguments", '{"city":"Lis')],
        ("finish.length-reported", "should"),
    ),
    "a limit used up before any text": (
        "responses.plain",
        [put("/0/request/body/max_output_tokens", 27), put(f"{BODY}/output/1/content/0/text", "")],
        ("finish.truncated-not-completed", "must"),
    ),
    "a match that the answer itself names": (
        "messages.stop",
        [put(f"{BODY}/stop_sequence", "HALT")],
        ("finish.stop-sequence-as-end-turn", "must"),
    ),
    "a match in Anthropic's words": (
        "messages.stop-stream",
        [put(f"{EVENTS}/12/data/delta/stop_reason", "stop_sequence")],
        ("finish.stop-sequence-as-end-turn", "must"),
    ),
    "a stop sequence of kimi-k3": (
        "messages.plain",
        [to_k3("messages"), put(f"{BODY}/stop_sequence", "###")],
        ("finish.stop-sequence-null", "must"),
    ),
    "no details in the final response": (
        "responses.limit-stream",
        [put(f"{EVENTS}/18/data/response/incomplete_details", None)],
        ("finish.incomplete-details", "must"),
    ),
}
TELL = "[a6f3d2] Tell a story."
ODD = {
    "a limit met at the end of a sentence": (
        "chat.limit",
        [
            put(f"{BODY}/choices/0/finish_reason", "stop"),
            put(f"{BODY}/choices/0/message/content", "The sea covers more than two thirds of the planet."),
        ],
    ),
    "a limit met at the end of an address": (
        "chat.plain",
        [
            put("/0/request/body/max_completion_tokens", 27),
            put(f"{BODY}/choices/0/message/content", "The page is https://www.kimi.com/wall"),
        ],
    ),
    "a limit met at the end of a count that was asked for": (
        "chat.plain",
        [
            put("/0/request/body/max_completion_tokens", 27),
            put("/0/request/body/messages/0/content", "Count from 1 to 8."),
            put(f"{BODY}/choices/0/message/content", "1 2 3 4 5 6 7 8"),
        ],
    ),
    "a limit met at the end of an echo": (
        "chat.plain",
        [
            put("/0/request/body/max_completion_tokens", 27),
            put("/0/request/body/messages/0/content", "Reply with exactly: the wall fell in 1989"),
            put(f"{BODY}/choices/0/message/content", "the wall fell in 1989"),
        ],
    ),
    "two limits, neither of which cut the answer off": (
        "chat.plain",
        [
            put("/0/request/body/max_tokens", 2),
            put(f"{BODY}/choices/0/message/content", "The Berlin Wall fell in 1989"),
        ],
    ),
    "both limits, the larger one kept": ("chat.limit", [put("/0/request/body/max_tokens", 40)]),
    "text beside a call": ("chat.tool", [put(f"{BODY}/choices/0/message/content", "Let me look.")]),
    "no limit": ("responses.plain", [drop("/0/request/body/max_output_tokens")]),
    "a sequence that never matches": ("messages.stop", [put("/0/request/body/stop_sequences", ["zzz"])]),
    "a match at the start": ("messages.stop", [put(f"{BODY}/content/1/text", "")]),
    "a control that a model worded otherwise": (
        "messages.stop-control messages.stop",
        [
            put("/0/request/body/messages/0/content", TELL),
            put("/1/request/body/messages/0/content", TELL),
            put("/0/response/json/content/1/text", "Once there was a HALT sign near the old river bank."),
            put("/1/response/json/content/1/text", "The river bank was old, and near it stood a sign."),
            put("/1/response/json/usage/output_tokens", 24),
        ],
    ),
    "the rest of the context window as the limit": (
        "chat.limit",
        [
            put("/0/request/body/max_completion_tokens", 4096),
            put(f"{BODY}/usage/prompt_tokens", 1048528),
            put(f"{BODY}/usage/total_tokens", 1048576),
        ],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name):
    bases, changes, expected = FAULTS[name]
    assert expected in judged(bases, *changes)


@pytest.mark.parametrize("name", ODD)
def test_legal_oddities_are_left_alone(name):
    bases, changes = ODD[name]
    assert judged(bases, *changes) == set()


def test_a_model_that_ends_by_itself_before_a_small_limit_is_inconclusive():
    early = [
        put("/0/intents", ["cut-off"]),
        put("/0/request/body/max_completion_tokens", 200),
    ]
    assert outcome("finish.length-reported", "chat.plain", *early) is Outcome.INCONCLUSIVE


def test_one_cut_at_a_near_miss_is_inconclusive():
    once = [put("/1/request/body/stop_sequences", ["halt"])]
    found = outcome("finish.stop-sequence-exact", "messages.stop-control messages.stop", *once)
    assert found is Outcome.INCONCLUSIVE


def test_a_control_without_words_behind_the_sequence_is_inconclusive():
    bare = [put("/0/response/json/content/1/text", "north east HALT")]
    found = outcome("finish.stop-sequence-stops", "messages.stop-control messages.stop", *bare)
    assert found is Outcome.INCONCLUSIVE


def test_a_match_is_judged_only_where_it_is_proven():
    assert outcome("finish.stop-sequence-as-end-turn", "messages.stop") is Outcome.NOT_EXERCISED


def test_content_filter_is_no_breach_of_the_schema():
    found = judged("chat.plain", put(f"{BODY}/choices/0/finish_reason", "content_filter"))
    assert found == {("finish.enum", "should")}
