"""Finders put together what belongs together, and nothing else."""

from __future__ import annotations

import json

import pytest
from counting import calls_below

from conformance.protocols import read
from conformance.rules import groups
from conformance.values import Chunk, Exchange, Protocol, Request, Response

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES
PATHS = {CHAT: "/v1/chat/completions", MESSAGES: "/v1/messages", RESPONSES: "/v1/responses"}
WORDS = " ".join(f"word{n}" for n in range(200))
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def user(content="Hello."):
    return {"role": "user", "content": content}


def said(text="OK", **fields):
    return {"role": "assistant", "content": text, **fields}


def answered(protocol, text, **fields):
    if protocol is CHAT:
        message = {"role": "assistant", "content": text, **fields}
        return {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    if protocol is MESSAGES:
        return {"id": "m", "type": "message", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
    part = {"type": "output_text", "text": text}
    item = {"type": "message", "id": "i", "role": "assistant", "content": [part]}
    return {"id": "r", "object": "response", "status": "completed", "output": [item]}


def answers(*bodies, protocol=MESSAGES, host="http://a", text="OK", status=200, **fields):
    """One answer a body; a body may be a tuple (host, body)."""
    found = []
    for number, body in enumerate(bodies):
        base, content = body if isinstance(body, tuple) else (host, body)
        limit = {"max_tokens": 100} if protocol is MESSAGES else {}
        content = {"model": "kimi-k3", **limit, **content}
        found.append(
            read(
                Exchange(
                    id=str(number),
                    protocol=protocol,
                    model=content["model"],
                    request=Request(method="POST", url=base + PATHS[protocol], body=json.dumps(content).encode()),
                    response=Response(
                        status=status,
                        headers=(("Content-Type", "application/json"),),
                        chunks=(Chunk(ms=1, data=json.dumps(answered(protocol, text, **fields)).encode()),),
                    ),
                )
            )
        )
    return found


def ids(finder, found):
    return [tuple(answer.exchange.id for answer in group) for group in finder(found)]


ONE = {"messages": [user()]}
CASES = [
    (
        "repeats",
        "the same body twice, one streamed",
        [ONE, {**ONE, "stream": True}, {"messages": [user("x")]}],
        [(0, 1)],
    ),
    ("repeats", "another model is another request", [ONE, {**ONE, "model": "kimi-k3.1-pro"}], []),
    ("repeats", "another host is another request", [("http://a", ONE), ("http://b", ONE)], []),
    ("tries", "the same mode only", [ONE, {**ONE, "stream": True}, {**ONE, "stream": False}], [(0, 2)]),
    ("modes", "JSON first, whatever the order", [{**ONE, "stream": True}, ONE], [(1, 0)]),
    ("modes", "one mode alone is no pair", [ONE, ONE], []),
    (
        "siblings",
        "pro before highspeed",
        [{**ONE, "model": "kimi-k3.1-pro-highspeed"}, {**ONE, "model": "kimi-k3.1-pro"}, ONE],
        [(1, 0)],
    ),
    ("hosts", "the same body to two hosts", [("http://a", ONE), ("http://b", ONE), ("http://a", ONE)], [(0, 1)]),
    ("hosts", "query strings make no host", [ONE, ONE], []),
    ("longer", "more words at the end", [ONE, {"messages": [user(f"Hello. {WORDS}")]}], [(0, 1)]),
    ("longer", "more words in front, the long one first", [{"messages": [user(f"{WORDS} Hello.")]}, ONE], [(1, 0)]),
    (
        "longer",
        "in the same mode where there is one",
        [
            ONE,
            {**ONE, "stream": True},
            *({"messages": [user(f"Hello. {WORDS}")], "stream": way} for way in (False, True)),
        ],
        [(0, 2), (1, 3)],
    ),
    ("longer", "few words more are too little", [ONE, {"messages": [user("Hello. And more.")]}], []),
    ("longer", "other words are no extension", [ONE, {"messages": [user(WORDS)]}], []),
    ("longer", "the limit differs too", [ONE, {"messages": [user(f"Hello. {WORDS}")], "max_tokens": 1}], []),
    ("histories", "alone and after a turn", [ONE, {"messages": [user("a"), said("b"), user()]}], [(0, 1)]),
    ("histories", "another last message", [ONE, {"messages": [user("a"), said("b"), user("c")]}], []),
    ("forms", "string and block", [{"messages": [user([{"type": "text", "text": "Hello."}])]}, ONE], [(1, 0)]),
    (
        "forms",
        "system as string and block",
        [{**ONE, "system": "s"}, {**ONE, "system": [{"type": "text", "text": "s"}]}],
        [(0, 1)],
    ),
    ("forms", "two blocks are another matter", [ONE, {"messages": [user([{"type": "text", "text": "He"}] * 2)]}], []),
    (
        "images",
        "without before with",
        [{"messages": [user([{"type": "text", "text": "Hello."}, IMAGE])]}, ONE],
        [(1, 0)],
    ),
    ("images", "other words", [{"messages": [user([{"type": "text", "text": "x"}, IMAGE])]}, ONE], []),
    ("stop_controls", "controls come first", [{**ONE, "stop_sequences": ["x"]}, ONE, ONE], [(1, 2, 0)]),
    ("stop_controls", "an empty list is no stop", [{**ONE, "stop_sequences": []}, ONE], []),
    (
        "efforts",
        "low before max",
        [{**ONE, "output_config": {"effort": "max"}}, {**ONE, "output_config": {"effort": "low"}}],
        [(1, 0)],
    ),
    ("all_answers", "every answer of a surface", [ONE, {"messages": [user("x")]}], [(0, 1)]),
    ("continuations", "the answer sent back", [ONE, {"messages": [user(), said(), user("more")]}], [(0, 1)]),
    ("continuations", "an altered answer is none", [ONE, {"messages": [user(), said("No"), user("more")]}], []),
    ("continuations", "another beginning is none", [ONE, {"messages": [user("x"), said(), user("more")]}], []),
    (
        "continuations",
        "two turns back",
        [
            ONE,
            {"messages": [user(), said(), user("more")]},
            {"messages": [user(), said(), user("more"), said(), user("end")]},
        ],
        [(0, 1), (0, 1, 2)],
    ),
]


@pytest.mark.parametrize(("finder", "title", "bodies", "expected"), CASES, ids=[f"{c[0]}: {c[1]}" for c in CASES])
def test_finders(finder, title, bodies, expected):
    assert ids(getattr(groups, finder), answers(*bodies)) == [tuple(map(str, group)) for group in expected]


def test_a_string_input_and_an_array_are_the_same_words():
    found = answers({"input": [user()]}, {"input": "Hello."}, {"input": "x"}, protocol=RESPONSES)
    assert ids(groups.inputs, found) == [("1", "0")]


def test_a_responses_answer_is_found_in_an_array_that_began_as_a_string():
    item = answered(RESPONSES, "OK")["output"][0]
    found = answers({"input": "Hello."}, {"input": [user(), item, user("more")]}, protocol=RESPONSES)
    assert ids(groups.continuations, found) == [("0", "1")]


def test_the_same_words_on_three_surfaces_are_found():
    found = [
        *answers(ONE, protocol=CHAT),
        *answers(ONE, protocol=MESSAGES),
        *answers({"input": "Hello."}, protocol=RESPONSES),
    ]
    assert [len(group) for group in groups.surfaces(found)] == [3]


@pytest.mark.parametrize("finder", [name for name in dir(groups) if name in {case[0] for case in CASES}])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": None},
        {"messages": 5, "system": 7, "stream": "yes"},
        {"messages": [None, 1, [], {"role": 5, "content": {"a": 1}}, {"content": [None, 3, {"type": []}]}]},
        {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": []}], "tool_calls": [None]}]},
        {"messages": [], "stop_sequences": [1, None], "output_config": 3, "model": "kimi-k3"},
    ],
)
def test_hostile_bodies_raise_in_no_finder(finder, body):
    for protocol in Protocol:
        list(getattr(groups, finder)(answers(body, body, {**body, "stream": True}, protocol=protocol)))


def test_malformed_requests_are_in_no_group():
    found = answers(ONE, ONE)
    broken = [read(replaced(answer.exchange, b"{")) for answer in found]
    assert ids(groups.repeats, broken) == []


def replaced(exchange, body):
    request = Request(method="POST", url=exchange.request.url, body=body)
    return Exchange(
        id=exchange.id, protocol=exchange.protocol, model=exchange.model, request=request, response=exchange.response
    )


def test_the_latest_answer_with_a_mark_is_the_one_that_a_history_holds():
    found = answers(ONE, ONE, {"messages": [user(), said("OK"), user("and?")]})
    assert ids(groups.continuations, found) == [("1", "2")]


def test_long_histories_and_many_texts_are_grouped_in_no_more_than_a_few_passes():
    long = {"messages": [user("x") if n % 2 == 0 else said("y") for n in range(20_000)]}
    many = answers(*({"messages": [user(f"{WORDS} {n}")]} for n in range(1_500)))
    again = answers(*[ONE] * 1_000, *[{"messages": [user(), said("other"), user("and?")]}] * 1_000)
    for finder, found in ((groups.continuations, answers(long)), (groups.longer, many), (groups.continuations, again)):
        with calls_below(5_000_000):
            assert ids(finder, found) == []
