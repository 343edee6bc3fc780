"""The rules about caching: what a few tries can and cannot tell."""

from __future__ import annotations

import pytest
from variants import BODY, judged, outcome, put

from conformance.values import Outcome

LONG = "[b41f07] " + "river stone garden letter " * 500 + "What kind of text is this?"
PROMPT = "request/body/messages/0/content"


def chat(cached, written):
    return {
        "prompt_tokens": 2070,
        "completion_tokens": 27,
        "total_tokens": 2097,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": 11},
    }


def series(*usages, prompt=LONG, options=None):
    """Changes that make the chat.plain exchanges long prompts with these usages, ten seconds apart."""
    changes = []
    for place, usage in enumerate(usages):
        changes += [
            put(f"/{place}/{PROMPT}", prompt if isinstance(prompt, str) else prompt[place]),
            put(f"/{place}/response/json/usage", usage),
            put(f"/{place}/started", f"2026-06-14T09:31:{place * 10:02}.000Z"),
        ]
        if options and options[place]:
            changes.append(put(f"/{place}/request/body/prompt_cache_options", options[place]))
    return " ".join(["chat.plain"] * len(usages)), changes


COLD, WRITTEN, WARM = chat(0, 0), chat(0, 2048), chat(2048, 0)
READS = {
    "read at once": ((WRITTEN, WARM), Outcome.PASS),
    "read at the third try": ((WRITTEN, COLD, COLD, WARM), Outcome.PASS),
    "missed once": ((WRITTEN, COLD), Outcome.INCONCLUSIVE),
    "missed three times": ((WRITTEN, COLD, COLD, COLD), Outcome.FAIL),
    "written by the second": ((COLD, WRITTEN, WARM), Outcome.PASS),
    "read and never written": ((COLD, WARM), Outcome.FAIL),
    "warm from the start": ((WARM, WARM), Outcome.NOT_EXERCISED),
}


@pytest.mark.parametrize("name", READS)
def test_reads_after_writes(name):
    usages, expected = READS[name]
    bases, changes = series(*usages)
    assert outcome("cache.read-after-write", bases, *changes) is expected


def test_three_prompts_sent_twice_are_three_tries():
    prompts = [f"[{n}] {LONG}" for n in (1, 1, 2, 2, 3, 3)]
    bases, changes = series(*(WRITTEN, COLD) * 3, prompt=prompts)
    assert outcome("cache.read-after-write", bases, *changes) is Outcome.FAIL


def test_a_short_prompt_need_not_be_cached():
    bases, changes = series(*[COLD] * 4, prompt="[b41f07] Hello.")
    assert outcome("cache.read-after-write", bases, *changes) is Outcome.NOT_EXERCISED


def test_a_prompt_sent_again_after_minutes_is_no_try():
    bases, changes = series(WRITTEN, COLD)
    late = put("/1/started", "2026-06-14T09:40:00.000Z")
    assert outcome("cache.read-after-write", bases, *changes, late) is Outcome.NOT_EXERCISED


HOUR, FIVE = {"mode": "implicit", "ttl": "1h"}, {"mode": "implicit"}
WRITES = {
    "every option writes": ([HOUR, None], [WRITTEN, WRITTEN], Outcome.PASS),
    "1h never writes": ([HOUR, None] * 3, [COLD, WRITTEN] * 3, Outcome.FAIL),
    "1h did not write once": ([HOUR, None], [COLD, WRITTEN], Outcome.INCONCLUSIVE),
    "nothing writes": ([HOUR, None] * 3, [COLD, COLD] * 3, Outcome.INCONCLUSIVE),
    "5m without its ttl never writes": ([FIVE, HOUR] * 3, [COLD, WRITTEN] * 3, Outcome.FAIL),
    "no options at all": ([None, None], [WRITTEN, WRITTEN], Outcome.NOT_EXERCISED),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_by_option(name):
    options, usages, expected = WRITES[name]
    prompts = [f"[{n}] Another long text. What is it?" for n in range(len(usages))]
    bases, changes = series(*usages, prompt=prompts, options=options)
    assert outcome("cache.chat-ttl-writes", bases, *changes) is expected


def test_a_prompt_with_a_history_may_be_warm():
    earlier = [
        put(f"{BODY}/usage", WARM),
        put(
            "/0/request/body/messages",
            [
                {"role": "user", "content": LONG},
                {"role": "assistant", "content": "Nouns.", "reasoning_content": "Only nouns."},
                {"role": "user", "content": "[b41f07] And the first of them?"},
            ],
        ),
    ]
    assert judged("chat.plain", *earlier) == set()


def test_a_prompt_seen_before_may_be_warm():
    bases, changes = series(WRITTEN, WARM)
    assert judged(bases, *changes) == set()


def test_one_mode_that_shows_no_usage_is_not_judged():
    bases, changes = series(WRITTEN, WARM, WARM, WARM, WARM)
    assert outcome("usage.modes-agree-on-cache", bases, *changes) is Outcome.NOT_EXERCISED
