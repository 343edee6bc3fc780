"""Drawn requests: valid ones are valid and make sense, broken ones break one constraint, all from the seed alone."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections import Counter
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given, seed
from hypothesis import strategies as st
from rare_faults import K3, K31

from conformance import specs
from conformance.generators.negatives import broken, hostile
from conformance.generators.schemas_of_tools import schemas
from conformance.generators.shrinking import settings
from conformance.generators.strategies import Proposal, requests
from conformance.generators.texts import stop_sequences, texts
from conformance.models import MODELS
from conformance.protocols import ask
from conformance.rules.past_turns import orphans
from conformance.values import Intent, Protocol, Request

CELLS = [(protocol, model) for protocol in Protocol for model in (K31, K3)]
EXAMPLES = 50


def drawn(strategy: st.SearchStrategy[Any], examples: int = EXAMPLES, number: int = 3) -> list[Any]:
    """Values of a strategy, the same every time."""
    found: list[Any] = []

    @seed(number)
    @settings(examples)
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def bodies(proposals: list[Proposal]) -> list[dict[str, Any]]:
    return [body for proposal in proposals for body in proposal.bodies]


@pytest.fixture(scope="module")
def positive() -> dict[tuple[Protocol, str], list[dict[str, Any]]]:
    return {cell: bodies(drawn(requests(*cell))) for cell in CELLS}


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell[0]}-{cell[1]}")
def test_valid_requests_break_no_constraint(cell, positive):
    validator = jsonschema.Draft202012Validator(specs.request_schema(*cell))
    for body in positive[cell]:
        assert specs.breaches(*cell, body) == ()
        assert validator.is_valid(body) or _fits_two_options(validator, body)


def _fits_two_options(validator: jsonschema.Draft202012Validator, body: Any) -> bool:
    """The documents' own options overlap, where plain oneOf wants exactly one."""
    return all(error.validator == "oneOf" and not error.context for error in validator.iter_errors(body))


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell[0]}-{cell[1]}")
def test_results_match_calls_and_media_is_real(cell, positive):
    for body in positive[cell]:
        raw = json.dumps(body).encode()
        asked = ask(cell[0], Request(method="POST", url="http://x/v1", body=raw))
        if cell[0] is not Protocol.RESPONSES:
            assert orphans(asked) == []
        for data in re.findall(r"base64,([^\"]+)", raw.decode()):
            assert len(base64.b64decode(data, validate=True)) > 20


def test_roles_alternate_on_messages(positive):
    for body in positive[Protocol.MESSAGES, K31]:
        roles = [message["role"] for message in body["messages"]]
        assert roles == [("user", "assistant")[place % 2] for place in range(len(roles))]
        assert roles[-1] == "user"


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell[0]}-{cell[1]}")
def test_every_documented_field_that_the_model_takes_is_drawn(cell, positive):
    seen = {name for body in positive[cell] for name in body}
    properties = specs.request_schema(*cell)["properties"]
    taken = {name for name, node in properties.items() if "not" not in node}
    if not MODELS[cell[1]].structured_output & {cell[0]}:
        taken -= {"response_format"}
    assert taken <= seen
    assert seen <= taken


def test_features_are_drawn():
    chat, messages = (
        json.dumps(bodies(drawn(requests(protocol, K31), 400))) for protocol in (Protocol.CHAT, Protocol.MESSAGES)
    )
    for word in ('"tool_calls"', '"video_url"', '"image_url"', '"$web_search"', '"$ref"', '"anyOf"', '"pattern"'):
        assert word in chat
    for word in ('"thinking"', '"tool_use"', '"tool_result"', '"server_tool_use"', '"base64"', '"format"', '"enum"'):
        assert word in messages


def test_undocumented_doubts_are_not_vouched_for():
    for proposal in drawn(requests(Protocol.RESPONSES, K31)):
        if Intent.VALID in proposal.intents:
            assert not {"tools", "tool_choice", "text"} & proposal.bodies[0].keys()


def test_output_is_bounded_where_it_costs():
    names = {"max_tokens", "max_completion_tokens", "max_output_tokens"}
    for protocol in Protocol:
        for body in bodies(drawn(requests(protocol, K31, most_tokens=64), 30)):
            limits = [body[name] for name in names & body.keys()]
            assert limits
            assert max(limits) <= 64


@pytest.mark.parametrize("strict", [False, True])
def test_schemas_admit_the_value_drawn_with_them(strict):
    depths = Counter()
    for schema, value in drawn(schemas(strict=strict), 120):
        jsonschema_rs.meta.validate(schema)
        jsonschema_rs.Draft202012Validator(schema, validate_formats=True).validate(value)
        depths[_depth(schema)] += 1
    assert max(depths) >= 5


def _depth(schema: Any) -> int:
    if isinstance(schema, dict):
        below = max((_depth(child) for child in schema.values()), default=0)
        return below + ("type" in schema or "anyOf" in schema or "$ref" in schema)
    return max((_depth(child) for child in schema), default=0) if isinstance(schema, list) else 0


def test_texts_are_of_every_plane_without_lone_surrogates():
    text = "".join(drawn(texts(), 300))
    planes = {ord(char) >> 16 for char in text}
    assert {0, 1} <= planes
    assert len(planes) > 8
    assert not any(0xD800 <= ord(char) <= 0xDFFF or char == "\0" for char in text)


def test_stop_sequences_reach_their_limit_and_never_exceed_it():
    found = drawn(stop_sequences(), 200)
    assert all(0 < len(one.encode()) <= 32 and one.strip() for one in found)
    assert any(len(one.encode()) == 32 and not one[-1].isascii() for one in found)
    assert any(len(one.encode()) == 32 and one.isascii() for one in found)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell[0]}-{cell[1]}")
def test_broken_requests_break_exactly_one_constraint(cell):
    found = drawn(broken(*cell), 40)
    for proposal in found:
        (body,) = proposal.bodies
        assert {breach.constraint for breach in specs.breaches(*cell, body)} == {proposal.broken}
        assert specs.breaches(*cell, proposal.base) == ()
    assert len({proposal.broken.rpartition("/")[2] for proposal in found}) >= 4


def test_hostile_requests_say_so_and_cover_their_kinds():
    found = drawn(hostile(Protocol.CHAT, K31), 100)
    assert all(Intent.HOSTILE in proposal.intents for proposal in found)
    raws = [body if isinstance(body, bytes) else json.dumps(body).encode() for body in bodies(found)]
    assert any(rb"\ud800" in raw for raw in raws)
    assert any(rb"\u0000" in raw for raw in raws)
    assert any(b"[" * 200 in raw for raw in raws)
    assert any(b"0" * 400 in raw for raw in raws)
    assert any(not _is_json(raw) for raw in raws)


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return True


OTHERS = """
import conformance.rules, conformance.reference.faults, conformance.cli.run
import hypothesis
from hypothesis import strategies as st
hypothesis.find(st.lists(st.one_of(st.integers(), st.integers(0, 200), st.text())), lambda found: len(found) > 2,
                settings=hypothesis.settings(database=None))
"""
DRAW = """
import hashlib, sys
{before}
from hypothesis import given, seed
from conformance.generators.shrinking import settings
from conformance.generators.strategies import requests
from conformance.values import Protocol
found = []
@seed(5)
@settings(30)
@given(requests(Protocol.CHAT, "kimi-k3.1-pro"))
def collect(value):
    found.append(repr(value.bodies))
collect()
print(hashlib.sha256("".join(found).encode()).hexdigest())
"""


def test_the_seed_alone_decides_whatever_else_is_imported():
    hashes = [
        subprocess.run(  # noqa: S603 (our own interpreter and text)
            [sys.executable, "-c", DRAW.format(before=before)], capture_output=True, text=True, check=True, timeout=300
        ).stdout
        for before in ("", OTHERS)
    ]
    assert hashes[0] == hashes[1] != ""
