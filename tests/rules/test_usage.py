"""The rules about usage on surfaces, modes and layers beyond their minimal pairs."""

from __future__ import annotations

import pytest
from variants import BODY, EVENTS, drop, judged, outcome, put, to_k3

from conformance.values import Outcome

HUGE = 10**40
FOREIGN = {"input_tokens": 24, "output_tokens": 27, "total_tokens": 51}
FAULTS = {
    "kimi-k3's total": ("chat.plain", [to_k3("chat"), put(f"{BODY}/usage/total_tokens", 9)], "usage.total-is-sum"),
    "kimi-k3's cache reads": (
        "chat.stream",
        [to_k3("chat"), put(f"{EVENTS}/8/data/usage/prompt_tokens_details/cached_tokens", 99)],
        "usage.cached-within-input",
    ),
    "kimi-k3's cache writes": (
        "messages.stream",
        [to_k3("messages"), put(f"{EVENTS}/0/data/message/usage/cache_creation/ephemeral_1h_input_tokens", 99)],
        "usage.cache-creation-is-sum",
    ),
    "counts of another surface": ("chat.plain", [put(f"{BODY}/usage", FOREIGN)], "usage.present"),
    "counts of another surface in a chunk": (
        "chat.stream",
        [put(f"{EVENTS}/8/data/usage", FOREIGN)],
        "usage.present",
    ),
    "counts of another surface in the final response": (
        "responses.stream",
        [put(f"{EVENTS}/18/data/response/usage", {"prompt_tokens": 24, "completion_tokens": 27, "total_tokens": 51})],
        "usage.present",
    ),
    "an array for usage": ("messages.plain", [put(f"{BODY}/usage", [])], "usage.present"),
    "counts beyond 64 bits": (
        "chat.plain",
        [put(f"{BODY}/usage/prompt_tokens", HUGE), put(f"{BODY}/usage/total_tokens", HUGE)],
        "usage.within-context",
    ),
    "a count written as a fraction": (
        "responses.plain",
        [put(f"{BODY}/usage/output_tokens", 27.0)],
        "usage.non-negative-integers",
    ),
    "a final count of null": (
        "messages.stream",
        [put(f"{EVENTS}/13/data/usage/output_tokens", None)],
        "usage.non-negative-integers",
    ),
    "a final count of zero": (
        "messages.stream",
        [put(f"{EVENTS}/13/data/usage", {"output_tokens": 0})],
        "usage.output-positive",
    ),
    "output without the text": (
        "chat.plain",
        [put(f"{BODY}/usage/completion_tokens", 11), put(f"{BODY}/usage/total_tokens", 35)],
        "usage.output-plausible",
    ),
    "output counted many times": (
        "responses.stream",
        [
            put(f"{EVENTS}/18/data/response/usage/output_tokens", 400),
            put(f"{EVENTS}/18/data/response/usage/total_tokens", 424),
        ],
        "usage.output-plausible",
    ),
    "a search that is not counted in a stream": (
        "messages.search-stream",
        [put(f"{EVENTS}/16/data/usage/server_tool_use/web_search_requests", 0)],
        "usage.search-counted",
    ),
    "a search counted without any": (
        "messages.search",
        [drop(f"{BODY}/content/1"), drop(f"{BODY}/content/1")],
        "usage.search-counted",
    ),
    "other input the second time": (
        "messages.plain messages.plain",
        [put("/1/response/json/usage/input_tokens", 30)],
        "usage.input-exclusive",
    ),
    "no input in the stream": (
        "messages.plain messages.stream",
        [put("/1/response/sse/0/data/message/usage/input_tokens", 0)],
        "usage.stream-equals-json",
    ),
}
FAILED_SEARCH = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
ODD = {
    "usage of null in every chunk but the last": (
        "chat.stream",
        [put(f"{EVENTS}/{n}/data/usage", None) for n in range(8)],
    ),
    "no usage in a stream": ("chat.stream", [drop(f"{EVENTS}/8")]),
    "a start with two counts": (
        "messages.stream",
        [put(f"{EVENTS}/0/data/message/usage", {"input_tokens": 24, "output_tokens": 0})],
    ),
    "counts that no document names": ("chat.plain", [put(f"{BODY}/usage/cost", 0.002)]),
    "kimi-k3 without details": (
        "messages.plain",
        [to_k3("messages"), drop(f"{BODY}/content/0"), drop(f"{BODY}/usage/output_tokens_details")],
    ),
    "a line of dashes": (
        "messages.plain",
        [put(f"{BODY}/content/1/text", "Title\n" + "-" * 3000 + "\nThe Berlin Wall fell in 1989.")],
    ),
    "a failed search that is not counted": (
        "messages.search",
        [put(f"{BODY}/content/2/content", FAILED_SEARCH), put(f"{BODY}/usage/server_tool_use/web_search_requests", 0)],
    ),
    "search results as input, the second time more": (
        "messages.search messages.search",
        [put("/1/response/json/usage/input_tokens", 2410)],
    ),
    "the same prompt after its cache is gone": (
        "messages.plain messages.plain",
        [put("/1/started", "2026-06-14T11:47:00.000Z"), put("/1/response/json/usage/input_tokens", 30)],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name):
    bases, changes, rule = FAULTS[name]
    assert rule in {found for found, _ in judged(bases, *changes)}


@pytest.mark.parametrize("name", ODD)
def test_legal_oddities_are_left_alone(name):
    bases, changes = ODD[name]
    assert judged(bases, *changes) == set()


def test_a_stream_without_usage_is_not_exercised():
    assert outcome("usage.total-is-sum", "chat.stream", drop(f"{EVENTS}/8")) is Outcome.NOT_EXERCISED


def test_hidden_reasoning_may_cost_more_than_the_text():
    hidden = [
        to_k3("messages"),
        drop(f"{BODY}/content/0"),
        drop(f"{BODY}/usage/output_tokens_details"),
        put(f"{BODY}/usage/output_tokens", 900),
    ]
    assert judged("messages.plain", *hidden) == set()
