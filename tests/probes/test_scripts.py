"""Every script of the suite, played without a network."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator

import pytest

import conformance.suite
from conformance import specs
from conformance.models import ALL
from conformance.probes.cell import Cell, encode, words
from conformance.probes.script import Place, Script, Step, attempt, play
from conformance.protocols import BUILDERS, Answer, NoAnswerError, read
from conformance.values import Chunk, Exchange, Failure, Intent, Protocol, Request, Response

LARGE = "oversized-prompt"  # its one body is 8 MB and depends on nothing that comes back
MANY = 400  # steps: no script of one cell sends more


def functions() -> Iterator[tuple[str, Callable[..., None]]]:
    for module in pkgutil.iter_modules(conformance.suite.__path__):
        if module.name.startswith("test_"):
            found = importlib.import_module(f"conformance.suite.{module.name}")
            yield from ((name, each) for name, each in vars(found).items() if name.startswith("test_"))


def scripts() -> list[tuple[str, Callable[[Cell], Script]]]:
    played: list[Callable[[Cell], Script]] = []
    found = []
    for name, function in functions():
        function(probe=played.append)
        found.append((name.removeprefix("test_").replace("_", "-"), played.pop()))
    return found


SCRIPTS = scripts()
CELLS = [Cell(protocol=protocol, model=model, seed=3) for protocol in Protocol for model in ALL]


def replying(cell: Cell, body: bytes | None, status: int = 200) -> tuple[Callable[[Step], Answer], list[Step]]:
    """A sender whose answer is always the same; None: the connection is refused."""
    sent: list[Step] = []

    def send(step: Step) -> Answer:
        sent.append(step)
        assert len(sent) <= MANY
        request = Request(method=step.method, url=f"http://127.0.0.1{BUILDERS[cell.protocol].path}", body=step.body)
        headers = (("Content-Type", "application/json"),)
        response = Response(status=status, headers=headers, chunks=(Chunk(ms=1, data=body or b""),))
        return read(
            Exchange(
                id=str(len(sent)),
                protocol=cell.protocol,
                model=cell.model,
                request=request,
                response=None if body is None else response,
                failure=Failure(kind="refused", message="refused") if body is None else None,
            )
        )

    return send, sent


ANSWERS = {
    "nothing": None,
    "an empty object": b"{}",
    "an error": b'{"type": "error", "error": {"type": "x", "message": "y"}}',
    "wrong types": json.dumps(
        {"choices": [{"message": {"tool_calls": [{"id": 5}]}}], "content": [{"type": "tool_use"}], "output": [5]}
    ).encode(),
    "a call without an id": json.dumps(
        {
            "choices": [{"message": {"tool_calls": [{"function": {"name": "get_weather", "arguments": "{"}}]}}],
            "content": [{"type": "tool_use", "name": "get_weather", "input": {}}],
            "output": [{"type": "function_call", "name": "get_weather", "arguments": "{"}],
        }
    ).encode(),
}


def test_probes_have_names_of_their_own() -> None:
    names = [name for name, _ in functions()]
    assert len(set(names)) == len(names)
    assert len(names) >= 50


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize(("name", "script"), SCRIPTS, ids=[name for name, _ in SCRIPTS])
def test_a_script_ends_whatever_comes_back(name: str, script: Callable[[Cell], Script], answer: str) -> None:
    for cell in CELLS[:1] if name == LARGE else CELLS:
        send, _ = replying(cell, ANSWERS[answer])
        play(script(cell), send)


@pytest.mark.parametrize(("name", "script"), SCRIPTS, ids=[name for name, _ in SCRIPTS])
def test_a_request_that_claims_to_be_valid_breaks_no_constraint(name: str, script: Callable[[Cell], Script]) -> None:
    for cell in CELLS[:1] if name == LARGE else CELLS:
        send, sent = replying(cell, b"{}")
        play(script(cell), send)
        for step in sent:
            if Intent.VALID in step.intents:
                assert specs.breaches(cell.protocol, cell.model, json.loads(step.body)) == ()


def test_scripts_are_the_same_for_the_same_seed_and_others_for_another() -> None:
    def sent(seed: int, model: str) -> list[bytes]:
        cell = Cell(protocol=Protocol.CHAT, model=model, seed=seed)
        script = dict(SCRIPTS)["cold-and-warm"]
        send, steps = replying(cell, b"{}")
        play(script(cell), send)
        return [step.body for step in steps]

    assert sent(1, ALL[0]) == sent(1, ALL[0])
    assert not set(sent(1, ALL[0])) & set(sent(2, ALL[0]))
    fresh = {body[200:2000] for body in sent(1, ALL[0])}
    assert not fresh & {body[200:2000] for body in sent(1, ALL[1])}


def test_a_prompt_is_fresh_once_and_long() -> None:
    seen: set[bytes] = set()
    for name, script in SCRIPTS:
        for cell in CELLS if "cache" in name or "cold" in name else ():
            send, sent = replying(cell, b"{}")
            play(script(cell), send)
            for step in sent:
                if Intent.FRESH in step.intents:
                    assert step.body not in seen
                    assert step.body.count(b" ") >= 2000
                seen.add(step.body)
    assert seen


def test_a_request_that_may_be_refused_does_not_claim_that_a_server_error_would_be_cured() -> None:
    for cell in CELLS:
        for name, script in SCRIPTS:
            send, sent = replying(cell, b"{}")
            if name != LARGE:
                play(script(cell), send)
            wrong = [step for step in sent if step.cures and step.method != "POST"]
            assert wrong == []


def test_steps_for_special_places_are_few() -> None:
    places = {}
    for name, script in SCRIPTS:
        send, sent = replying(CELLS[0], b"{}")
        if name != LARGE:
            play(script(CELLS[0]), send)
        places |= {step.place: name for step in sent}
    assert places.keys() == set(Place)


def test_a_script_is_given_the_answer_to_each_step() -> None:
    got: list[Answer] = []

    def script() -> Script:
        for number in range(3):
            answer = yield Step(body=str(number).encode())
            got.append(answer)

    send, sent = replying(CELLS[0], b"{}")
    assert play(script(), send) == 3
    assert [step.body for step in sent] == [b"0", b"1", b"2"]
    assert [answer.exchange.id for answer in got] == ["1", "2", "3"]


def test_an_attempt_ends_where_an_answer_holds_no_turn() -> None:
    def script() -> Script:
        yield Step(body=b"1")
        raise NoAnswerError

    def whole() -> Script:
        yield from attempt(script())
        yield Step(body=b"2")

    send, sent = replying(CELLS[0], b"{}")
    play(whole(), send)
    assert [step.body for step in sent] == [b"1", b"2"]


def test_bodies_are_compact_utf8_and_lone_surrogates_stay_escaped() -> None:
    assert encode({"a": "漢 😀"}) == '{"a":"漢 😀"}'.encode()
    assert encode({"a": "\ud800"}) == b'{"a":"\\ud800"}'


def test_words_are_many_and_depend_on_the_seed() -> None:
    assert len(words(2000, "a").split()) == 2000
    assert words(50, "a") == words(50, "a")
    assert words(50, "a") != words(50, "b")
