"""The longer requests are those that comparing each with each finds, in far fewer steps."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from counting import calls_below
from hypothesis import given
from hypothesis import strategies as st

from conformance.protocols import read
from conformance.protocols.view import Answer
from conformance.rules import groups, limits
from conformance.rules.extending import MORE_WORDS, extended
from conformance.values import Chunk, Exchange, Protocol, Request, Response

Asked = tuple[str, bool]
"""The text of a request, and whether it asks for a stream."""

STEMS = [" ".join([word] * count) for word in ("w", "v") for count in (1, 60, MORE_WORDS - 1, MORE_WORDS, 250)]
texts = st.lists(st.sampled_from([*STEMS, "", " ", "\n", "é"]), max_size=4).map(" ".join)
requests = st.lists(st.tuples(texts, st.booleans()), unique=True, max_size=14)


def answers(asked: list[Asked], *, answer: str = "{}", **more: object) -> list[Answer]:
    made = []
    for number, (text, stream) in enumerate(asked):
        body = {"model": "kimi-k3", "messages": [{"role": "user", "content": text}], "stream": stream, **more}
        request = Request(method="POST", url="http://a/v1/messages", body=json.dumps(body).encode())
        response = Response(status=200, chunks=(Chunk(ms=1.0, data=answer.encode()),))
        exchange = Exchange(
            id=str(number), protocol=Protocol.MESSAGES, model="kimi-k3", request=request, response=response
        )
        made.append(read(exchange))
    return made


def compared(asked: list[Asked]) -> Iterator[tuple[str, str]]:
    """The definition: each with the shortest longer one of its own mode, else of the other."""
    ordered = sorted(enumerate(asked), key=lambda one: len(one[1][0]))
    for place, (number, (short, mode)) in enumerate(ordered):
        own = other = None
        for longer, (long, its_mode) in ordered[place + 1 :]:
            one, two = short.strip(), long.strip()
            extends = one and len(two) > len(one) and (two.startswith(one) or two.endswith(one))
            if extends and len(two.split()) - len(one.split()) >= MORE_WORDS:
                own = own or (str(longer) if its_mode == mode else None)
                other = other or str(longer)
        if own or other:
            yield str(number), own or other or ""


@given(requests)
def test_they_are_those_of_comparing_each_with_each(asked: list[Asked]) -> None:
    found = [(short.exchange.id, long.exchange.id) for short, long in extended(answers(asked))]
    assert found == list(compared(asked))


def test_a_text_that_grows_word_by_word_is_followed_in_few_steps() -> None:
    grown = answers([("w " * count, False) for count in range(1, 600)])
    with calls_below(400_000):
        assert len(list(extended(grown))) == 600 - 1 - MORE_WORDS


def cut_off(number: int) -> str:
    said = {"content": [{"type": "text", "text": f"One {number}"}], "stop_reason": "max_tokens", "usage": {}}
    return json.dumps({"id": "m", "type": "message", "role": "assistant", **said})


@pytest.mark.parametrize("finder", [limits.limited, groups.stop_controls])
def test_very_many_answers_to_one_request_are_not_each_grouped_with_all(finder) -> None:  # type: ignore[no-untyped-def]
    alike = answers([("Count.", False)] * 1_000, answer=cut_off(1), max_tokens=4)
    stopped = answers([("Count.", False)] * 1_000, answer=cut_off(1), max_tokens=4, stop_sequences=["One"])
    found = list(finder([*alike, *stopped]))
    assert len(found) >= 1_000
    assert max(map(len, found)) == 51


def test_of_very_many_the_one_that_proves_the_cut_is_kept() -> None:
    others = answers([("Count.", False)] * 100, answer=cut_off(1).replace("max_tokens", "end_turn"), max_tokens=4)
    proof, cut = answers([("Count.", False)] * 2, answer=cut_off(2), max_tokens=4)
    *_, group = limits.limited([*others, proof, cut])
    assert group[-1] is cut
    assert proof in group
