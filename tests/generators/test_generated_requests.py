"""Every constraint has a request that breaks it alone and requests at its edges, and others agree on which is which."""

from __future__ import annotations

import copy
import hashlib
import json
import subprocess
import sys

import jsonschema
import pytest
from generated_cells import CELLS, NAMES, everything

from conformance import specs
from conformance.generators import Mark, Side, UnreachableError, broken, demanded, edges, marks
from conformance.probes.bases import LIMIT, bases, withheld
from conformance.probes.cell import Cell, encode
from conformance.probes.constraints import broken_cases, edge_cases
from conformance.protocols import read
from conformance.rules.doubts import doubt
from conformance.values import Exchange, Protocol, Request

OURS = {"x-max-bytes": "the keyword is ours: JSON Schema has none that counts bytes"}
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
UNSEEN = ("it holds an image or a video", "it continues a conversation")  # true of good requests too

every_cell = pytest.mark.parametrize("cell", CELLS, ids=NAMES)


@every_cell
def test_each_constraint_is_broken_alone(cell):
    reached = set()
    for case in broken_cases(cell):
        found = specs.breaches(cell.protocol, cell.model, case.body)
        assert [breach.constraint for breach in found] == [case.mark.constraint], case.words
        reached.add(case.mark.constraint)
    assert reached == {constraint.pointer for constraint in specs.constraints(cell.protocol, cell.model)}


@every_cell
def test_each_missing_property_has_a_request(cell):
    missing = {
        (case.mark.constraint, specs.breaches(cell.protocol, cell.model, case.body)[0].value)
        for case in broken_cases(cell)
        if case.mark.keyword == "required"
    }
    schema = specs.request_schema(cell.protocol, cell.model)
    assert {("/required", name) for name in schema["required"]} <= missing


@every_cell
def test_each_edge_is_shown_by_a_valid_request(cell):
    shown = set()
    for case in edge_cases(cell):
        assert specs.breaches(cell.protocol, cell.model, case.body) == (), case.words
        shown |= set(marks(cell.protocol, cell.model, case.body))
    assert shown == {mark for mark in demanded(cell.protocol, cell.model) if mark.side is Side.EDGE}


@every_cell
def test_another_validator_agrees(cell):
    validator = jsonschema.Draft202012Validator(specs.request_schema(cell.protocol, cell.model))
    for case in everything(cell):
        ours = case.mark.side is Side.EDGE
        if validator.is_valid(case.body) is not ours:
            assert case.mark.keyword in OURS, f"{case.mark.constraint}: {case.words}"


@every_cell
def test_valid_requests_that_are_vouched_for_leave_no_doubt(cell):
    for case in edge_cases(cell):
        request = Request(
            method="POST",
            url="http://h/v1",
            headers=(("Authorization", "Bearer k"), ("Content-Type", "application/json")),
            body=encode(case.body),
        )
        sent = Exchange(id="1", protocol=cell.protocol, model=cell.model, request=request)
        reason = doubt(read(sent))
        assert not case.sure or reason is None or reason.startswith(UNSEEN), f"{case.words}: {reason}"


@every_cell
def test_requests_ask_for_little(cell):
    for case in everything(cell):
        if not isinstance(case.body, dict) or case.mark.constraint.split("/")[2:3] in [[name] for name in LIMITS]:
            continue
        limits = [case.body[name] for name in LIMITS if name in case.body]
        assert limits == [LIMIT] or case.mark.constraint == "/required", case.words


@every_cell
def test_no_request_is_sent_twice(cell):
    bodies = [encode(case.body) for case in everything(cell)]
    assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize("protocol", Protocol)
def test_edges_of_k31_name_what_the_documents_allow(protocol):
    names = {(mark.constraint, mark.edge) for mark in demanded(protocol, "kimi-k3.1-pro") if mark.side is Side.EDGE}
    expected = {
        Protocol.CHAT: {
            ("/properties/max_completion_tokens/minimum", "1"),
            ("/properties/max_completion_tokens/maximum", "1048576"),
            ("/properties/tools/maxItems", "128 entries"),
            ("/properties/reasoning_effort/enum", "minimal"),
            ("/$defs/ContentPart/oneOf", "video_url"),
            ("/$defs/ToolCall/properties/type/enum", "builtin_function"),
            ("/properties/temperature/type", "fraction"),
            ("/properties/stream/type", "true"),
        },
        Protocol.MESSAGES: {
            ("/properties/stop_sequences/maxItems", "5 entries"),
            ("/properties/stop_sequences/items/x-max-bytes", "32 bytes"),
            ("/properties/stop_sequences/items/x-max-bytes", "32 bytes in fewer characters"),
            ("/$defs/WebSearchTool/properties/max_uses/minimum", "1"),
            ("/$defs/ImageBlock/properties/source/properties/media_type/enum", "image/webp"),
            ("/properties/system/oneOf", "array"),
        },
        Protocol.RESPONSES: {
            ("/properties/input/oneOf", "string"),
            ("/properties/input/oneOf", "array"),
            ("/properties/model/enum", "kimi-k3.1-pro"),
            ("/properties/tools/type", "null"),
        },
    }
    assert expected[protocol] <= names
    assert ("/properties/model/enum", "kimi-k3") not in names


def test_what_kimi_k3_does_not_support_is_broken_by_its_presence():
    for protocol, pointer in (
        (Protocol.CHAT, "/properties/prompt_cache_options/not"),
        (Protocol.MESSAGES, "/properties/cache_control/not"),
        (Protocol.MESSAGES, "/properties/output_config/properties/format/not"),
    ):
        cases = broken_cases(Cell(protocol=protocol, model="kimi-k3", seed=0))
        assert [case.words for case in cases if case.mark.constraint == pointer] != []


def test_the_same_requests_on_every_call_and_in_every_process():
    cell = CELLS[0]
    digest = hashlib.sha256(json.dumps([case.body for case in everything(cell)]).encode()).hexdigest()
    code = (
        "import hashlib, json\n"
        "from conformance.probes.cell import Cell\n"
        "from conformance.probes.constraints import broken_cases, edge_cases\n"
        "from conformance.values import Protocol\n"
        f"cell = Cell(protocol=Protocol({cell.protocol.value!r}), model={cell.model!r}, seed=99)\n"
        "cases = (*broken_cases(cell), *edge_cases(cell))\n"
        "print(hashlib.sha256(json.dumps([case.body for case in cases]).encode()).hexdigest())\n"
    )
    found = subprocess.run(  # noqa: S603 (our own interpreter and code)
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": "7"}
    )
    assert found.stdout.strip() == digest


def test_bases_that_lack_a_place_are_told():
    cell = CELLS[0]
    few = bases(cell)[:1]
    with pytest.raises(UnreachableError, match=r"/properties/tools/maxItems, .* on chat, kimi-k3.1-pro"):
        broken(cell.protocol, cell.model, few, withheld(cell))
    with pytest.raises(UnreachableError, match="/properties/tools/maxItems at 128 entries"):
        edges(cell.protocol, cell.model, few)


def test_bases_are_left_as_they_are():
    cell = CELLS[0]
    given = bases(cell)
    before = copy.deepcopy(given)
    broken(cell.protocol, cell.model, given, withheld(cell))
    edges(cell.protocol, cell.model, given)
    assert given == before


def test_two_broken_constraints_exercise_none():
    body = {"model": "kimi-k3", "input": "OK", "stream": "yes", "max_output_tokens": 0}
    assert marks(Protocol.RESPONSES, "kimi-k3", body) == ()


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ([], "/type"),
        (None, "/type"),
        ({"model": "kimi-k3", "input": 5}, "/properties/input/oneOf"),
        ({"model": "kimi-k3"}, "/required"),
        ({"model": "kimi-k3", "input": "OK", "max_output_tokens": 10**400}, "/properties/max_output_tokens/maximum"),
        ({"model": "kimi-k3", "input": "OK", "max_output_tokens": float("inf")}, "/properties/max_output_tokens/type"),
        ({"model": "kimi-k3", "input": "OK", "stream": {"a": [[[]]] * 1000}}, "/properties/stream/type"),
    ],
)
def test_any_body_can_be_asked_what_it_exercises(body, pointer):
    found = marks(Protocol.RESPONSES, "kimi-k3", body)
    assert [mark.constraint for mark in found if mark.side is Side.BROKEN] == [pointer]


def test_a_very_long_body_is_walked_in_part():
    body = {"model": "kimi-k3", "messages": [{"role": "user", "content": "OK"}] * 50_000}
    found = marks(Protocol.CHAT, "kimi-k3", body)
    shown = Mark(constraint="/$defs/ChatMessage/properties/role/enum", keyword="enum", side=Side.EDGE, edge="user")
    assert shown in found
