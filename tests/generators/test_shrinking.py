"""Rare faults are found within 500 requests and shrunk to little; searches follow the seed and stay within bounds."""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Iterator

import pytest
import rare_faults
from hypothesis import strategies as st
from rare_faults import K3, K31, benches

from conformance.fuzzing import Order, fuzz
from conformance.fuzzing.hunt import BROKEN, CONVERSATION, VALID, Fuzzed
from conformance.generators.differences import distance, edits
from conformance.generators.failure import Failure
from conformance.generators.shrinking import search
from conformance.models import ALL
from conformance.reference import Hooks
from conformance.specs import request_schema
from conformance.values import Outcome, Protocol

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES


@pytest.fixture(autouse=True)
def _quiet_server() -> Iterator[None]:
    """A reference server that fails on purpose says so in a log, which is of no interest here."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


RARE = {  # fault: hooks, cell, kind of request, the rule that finds it first, what the shrunk request still holds
    "a stop sequence of 32 bytes that ends in a long character": (
        Hooks(problems=rare_faults.stop_of_32_bytes),
        (MESSAGES, K31),
        VALID,
        "request.edge.stop-sequence-bytes",
        "stop_sequences",
    ),
    "a tool schema with a reference": (
        Hooks(problems=rare_faults.tool_with_reference),
        (CHAT, K31),
        VALID,
        "request.valid-accepted",
        "$ref",
    ),
    "a prompt that is cached whole": (
        Hooks(result=rare_faults.wholly_cached_usage),
        (CHAT, K31),
        VALID,
        "usage.cached-within-input",
        "messages",
    ),
    "a limit of one token": (
        Hooks(body=rare_faults.limit_of_one),
        (CHAT, K31),
        VALID,
        "finish.not-null",
        "tokens",
    ),
    "a system prompt beyond the basic plane": (
        Hooks(prompt=rare_faults.astral_system),
        (MESSAGES, K3),
        VALID,
        "http.no-repeated-server-error",
        "system",
    ),
    "a wrong TTL": (
        Hooks(problems=rare_faults.lenient_ttl),
        (CHAT, K31),
        BROKEN,
        "request.invalid-rejected",
        "ttl",
    ),
    "a history with two results": (
        Hooks(body=rare_faults.second_result),
        (CHAT, K31),
        CONVERSATION,
        "model.echoed",
        "tool_call_id",
    ),
}


SEEDS = (11, 12, 13, 14)  # releases of hypothesis draw differently, and one seed in ten or so misses a fault


@functools.cache
def hunted(name: str) -> tuple[Failure, Fuzzed]:
    """The first failure of a rare fault, the search ended there."""
    hooks, cell, kind, _, _ = RARE[name]
    for number in SEEDS:
        order = Order(examples=500, seed=number, kinds=(kind,), shrink_calls=100, most_failures=1)
        done = fuzz(benches(hooks, [cell]), order)
        if done.failures:
            break
    assert done.failures, f"not found within {done.examples} examples"
    return done.failures[0], done


@pytest.mark.parametrize("name", RARE)
def test_rare_faults_are_found_and_shrunk(name):
    _, (protocol, model), kind, rule, kept = RARE[name]
    failure, done = hunted(name)
    assert failure.examples <= 500
    assert done.requests <= 500 + 100 + 20
    assert rule in (failure.rule, *failure.also)
    assert failure.kind == kind
    last = json.loads(failure.requests[-1].body)
    required = set(request_schema(protocol, model)["required"])
    assert required <= last.keys()
    assert len(last.keys() - required) <= 3
    assert kept in json.dumps(last)
    assert len(failure.requests) <= (2 if name == "a prompt that is cached whole" else 1)


@pytest.mark.parametrize("name", ["a limit of one token", "a wrong TTL"])
def test_the_nearest_accepted_request_is_one_edit_away(name):
    failure, _ = hunted(name)
    assert failure.nearest is not None
    assert len(failure.nearest.edits) == 1
    accepted, failing = json.loads(failure.nearest.text), json.loads(failure.requests[-1].body)
    assert edits(failing, accepted) == failure.nearest.edits
    culprits = ("max_tokens", "max_completion_tokens", "prompt_cache_options", "ttl")
    assert failure.nearest.edits[0].pointer.rpartition("/")[2] in culprits


def test_the_same_seed_finds_the_same_failure():
    name = "a system prompt beyond the basic plane"
    assert hunted(name)[0] == hunted.__wrapped__(name)[0]


def test_a_server_without_faults_has_no_failure():
    cells = [(protocol, model) for protocol in Protocol for model in ALL]
    done = fuzz(benches(None, cells), Order(examples=120, seed=4))
    assert done.failures == []
    assert done.partial is None
    assert done.examples >= 120
    outcomes = {verdict.outcome for verdict in done.verdicts}
    assert Outcome.PASS in outcomes
    assert not outcomes & {Outcome.FAIL, Outcome.ERROR}
    assert len({verdict.rule for verdict in done.verdicts if verdict.exercised}) > 60


def test_the_limit_of_calls_ends_the_hunt():
    done = fuzz(benches(None, [(CHAT, K31)], most_calls=20), Order(examples=400, seed=1))
    assert done.requests == 20
    assert done.partial == "the limit of 20 calls is reached"


def test_the_limit_of_calls_holds_while_shrinking():
    hooks = Hooks(body=lambda _context, body: body | {"model": "kimi-k2"})
    done = fuzz(benches(hooks, [(RESPONSES, K31)], most_calls=12), Order(examples=100, seed=1))
    assert done.requests <= 12
    assert [failure.rule for failure in done.failures] == ["model.echoed"]
    assert done.partial is not None


def test_one_cause_is_shrunk_once_and_every_cell_fails():
    hooks = Hooks(body=lambda _context, body: {key: value for key, value in body.items() if key != "usage"})
    done = fuzz(benches(hooks, [(RESPONSES, K31), (RESPONSES, K3)]), Order(examples=40, seed=2, kinds=(VALID,)))
    (failure,) = done.failures
    assert {failure.rule, *failure.also} == {"body.required-fields", "usage.present"}
    failed = {(verdict.rule, verdict.model) for verdict in done.verdicts if verdict.outcome is Outcome.FAIL}
    assert failed == {(rule, model) for rule in ("body.required-fields", "usage.present") for model in (K31, K3)}


def test_a_search_shrinks_towards_the_rule_that_failed_first():
    def failing(value: int) -> list[str]:
        return (["large"] if value >= 1000 else []) + (["odd"] if value % 2 else [])

    found, drawn = search(st.integers(900, 100_000).filter(lambda n: n % 2 == 0), failing, examples=50, seed=1)
    assert found is not None
    assert (found.rule, found.value) == ("large", 1000)
    assert found.examples == drawn <= 50


def test_a_search_in_vain_says_how_much_was_drawn():
    assert search(st.integers(), lambda _: [], examples=30, seed=1) == (None, 30)


@pytest.mark.parametrize(
    ("here", "there", "pointers"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, ["/a"]),
        ({"a": 1}, {"a": 2}, ["/a"]),
        ({"a": 1, "b/c": 2}, {"a": 1}, ["/b~1c"]),
        ([1, 2], [1], ["/1"]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}, 3]}, ["/a/0/b", "/a/1"]),
        (1, "1", [""]),
    ],
)
def test_edits_name_what_differs(here, there, pointers):
    assert [edit.pointer for edit in edits(here, there)] == pointers


def test_fewer_edits_are_nearer_than_smaller_ones():
    assert distance(edits({"a": "x" * 50}, {})) < distance(edits({"a": 1, "b": 2}, {}))
