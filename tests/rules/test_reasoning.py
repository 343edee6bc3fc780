"""The rules about reasoning on surfaces, modes and layers beyond their minimal pairs."""

from __future__ import annotations

import pytest
from variants import BODY, EVENTS, built, drop, judged, put

from conformance.judge import judge

MESSAGE = f"{BODY}/choices/0/message"
FAULTS = {
    "beside the message": (
        "chat.plain",
        [drop(f"{MESSAGE}/reasoning_content"), put(f"{BODY}/choices/0/reasoning", "A date question.")],
        "reasoning.field-name",
    ),
    "details in the deltas": (
        "chat.stream",
        [
            put(f"{EVENTS}/1/data/choices/0/delta", {"reasoning_details": [{"text": "A date"}]}),
            put(f"{EVENTS}/2/data/choices/0/delta", {}),
        ],
        "reasoning.field-name",
    ),
    "a line end for reasoning": ("chat.plain", [put(f"{MESSAGE}/reasoning_content", "\n")], "reasoning.always-on"),
    "null in every delta": (
        "chat.stream",
        [put(f"{EVENTS}/{n}/data/choices/0/delta/reasoning_content", None) for n in (1, 2)],
        "reasoning.always-on",
    ),
    "an empty answer in a schema": (
        "messages.json-schema",
        [put(f"{BODY}/content/1/text", "")],
        "reasoning.not-the-answer",
    ),
    "the legacy channels run together": (
        "responses.plain",
        [put(f"{BODY}/output/1/content/0/text", "analysisA date question.assistantfinalIn 1989.")],
        "reasoning.not-in-text",
    ),
}
EXPLAINED = "Models write `<think>` before and `</think>` after their reasoning. Strip both of the tags."
ODD = {
    "both names": ("chat.plain", [put(f"{MESSAGE}/reasoning", "A date question: 9 November 1989.")]),
    "a flag of that name": ("chat.plain", [put(f"{MESSAGE}/thinking", True)]),
    "a marker in code": ("chat.plain", [put(f"{MESSAGE}/content", EXPLAINED)]),
    "a marker that the prompt holds": (
        "chat.plain",
        [
            put("/0/request/body/messages/0/content", "[b41f07] Repeat: <think>"),
            put(f"{MESSAGE}/content", "<think> it is, as you asked me to repeat it."),
        ],
    ),
    "a thinking block cut off before its signature": ("messages.limit", [drop(f"{BODY}/content/0/signature")]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name):
    bases, changes, rule = FAULTS[name]
    assert rule in {found for found, _ in judged(bases, *changes)}


@pytest.mark.parametrize("name", ODD)
def test_legal_oddities_are_left_alone(name):
    bases, changes = ODD[name]
    assert judged(bases, *changes) == set()


def test_missing_signatures_are_told_once():
    unsigned = built(
        "messages.plain messages.stream messages.tool",
        drop("/0/response/json/content/0/signature"),
        drop("/1/response/sse/5"),
        drop("/2/response/json/content/0/signature"),
    )
    found = [finding for finding in judge(unsigned).findings if finding.rule == "reasoning.signature"]
    assert len(found) == 1


def test_means_of_reasoning_tokens_stand_side_by_side():
    tries = built("chat.plain chat.plain", put("/1/request/body/reasoning_effort", "max"))
    (found,) = (finding for finding in judge(tries).findings if finding.rule == "reasoning.effort-increases")
    assert found.actual == {"low": 11, "max": 11}
    assert "no more at max" in found.message
