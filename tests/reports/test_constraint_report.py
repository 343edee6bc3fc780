"""What a run's exchanges say of the constraints: exercised or not, refused or accepted, rightly or not."""

from __future__ import annotations

import json
import re

import msgspec
import pytest

from conformance.gate import gate
from conformance.generators import Side, demanded
from conformance.judge import MOST_FINDINGS, judge
from conformance.reports import report_schema, write
from conformance.reports.constraints import Status, constraints, exercised, lines
from conformance.values import Chunk, Exchange, Failure, Intent, Protocol, Request, Response, Run

MODEL = "kimi-k3.1-pro"
ZERO = {"max_output_tokens": 0}
ERROR = {"error": {"message": "no", "type": "invalid_request_error", "code": "invalid"}}
OK = {"id": "r", "object": "response", "status": "completed", "output": []}
MINIMUM = "/properties/max_output_tokens/minimum"


def sent(status, answer=None, *, number=1, intents=(), method="POST", **fields):
    body = {"model": MODEL, "input": "Reply with OK.", **fields}
    raw = json.dumps(ERROR if answer is None and status != 200 else answer or OK).encode()
    return Exchange(
        id=f"p/responses/{MODEL}/{number}",
        protocol=Protocol.RESPONSES,
        model=MODEL,
        intents=intents,
        request=Request(
            method=method,
            url="http://h/v1/responses",
            headers=(("Authorization", "Bearer k"), ("Content-Type", "application/json")),
            body=json.dumps(body).encode(),
        ),
        response=Response(
            status=status, headers=(("Content-Type", "application/json"),), chunks=(Chunk(ms=1, data=raw),)
        ),
    )


def found(*exchanges):
    verdicts = judge(exchanges).verdicts
    return constraints(exchanges, verdicts, protocols=[Protocol.RESPONSES], models=[MODEL])


def entry(counted, constraint=MINIMUM, edge=None):
    return next(e for e in counted.constraints if (e.constraint, e.edge) == (constraint, edge))


@pytest.mark.parametrize(
    ("exchanges", "status", "right"),
    [
        ([sent(400, **ZERO)], Status.REFUSED, True),
        ([sent(200, **ZERO)], Status.ACCEPTED, False),
        ([sent(200, ERROR, **ZERO)], Status.REFUSED, False),
        ([sent(422, **ZERO)], Status.REFUSED, False),
        ([sent(500, **ZERO)], Status.UNDECIDED, False),
        ([sent(429, **ZERO)], Status.UNDECIDED, None),
        ([sent(401, **ZERO)], Status.UNDECIDED, None),
        ([sent(404, **ZERO)], Status.UNDECIDED, None),
        ([sent(429, **ZERO), sent(400, number=2, **ZERO)], Status.REFUSED, True),
        ([sent(400, **ZERO), sent(200, number=2, **ZERO, stream=False)], Status.ACCEPTED, False),
        ([], Status.NOT_EXERCISED, None),
        ([sent(400, method="PUT", **ZERO)], Status.NOT_EXERCISED, None),
        ([sent(401, intents=(Intent.INVALID_KEY,), **ZERO)], Status.NOT_EXERCISED, None),
        ([sent(400, **ZERO, stream="yes")], Status.NOT_EXERCISED, None),
    ],
)
def test_a_broken_constraint_is_told_by_how_it_was_decided(exchanges, status, right):
    one = entry(found(*exchanges))
    assert (one.status, one.right, one.kind) == (status, right, Side.BROKEN)
    assert one.requests == (0 if status is Status.NOT_EXERCISED else len(exchanges))


@pytest.mark.parametrize(
    ("exchanges", "status", "right"),
    [
        ([sent(200, max_output_tokens=1)], Status.ACCEPTED, True),
        ([sent(400, max_output_tokens=1, intents=(Intent.VALID,))], Status.REFUSED, False),
        (
            [sent(400, max_output_tokens=1, intents=(Intent.VALID,)), sent(200, number=2, max_output_tokens=1)],
            Status.ACCEPTED,
            True,
        ),
        ([sent(400, max_output_tokens=1, intents=(Intent.HOSTILE,))], Status.NOT_EXERCISED, None),
    ],
)
def test_an_edge_is_met_where_one_request_is_accepted(exchanges, status, right):
    one = entry(found(*exchanges), edge="1")
    assert (one.status, one.right, one.kind) == (status, right, Side.EDGE)


@pytest.mark.parametrize(("status", "decided"), [(404, Status.REFUSED), (400, Status.REFUSED), (401, Status.UNDECIDED)])
def test_an_unknown_model_may_be_not_found(status, decided):
    assert entry(found(sent(status, model="unlisted")), "/properties/model/enum").status is decided


def test_a_refusal_that_no_document_rules_out_is_right():
    one = entry(found(sent(400, tools=None)), "/properties/tools/type", "null")
    assert (one.status, one.right) == (Status.REFUSED, True)


def test_more_faults_than_the_judge_keeps_are_all_told():
    many = [sent(200, number=number, max_output_tokens=-number) for number in range(1, MOST_FINDINGS + 2)]
    last = sent(200, number=len(many) + 1, stream="yes")
    assert entry(found(*many, last), "/properties/stream/type").right is False


def test_a_constraint_counts_when_it_is_broken_and_met_at_every_edge():
    assert found(sent(400, **ZERO)).totals == {"exercised": 0, "total": 43, "wrong": 0}
    both = found(sent(400, **ZERO), sent(200, number=2, max_output_tokens=1))
    assert both.totals["exercised"] == 1
    assert both.cells[0].total == len({mark.constraint for mark in demanded(Protocol.RESPONSES, MODEL)})


def test_a_line_is_one_constraint_across_the_models():
    counted = constraints([], [], models=[MODEL, "kimi-k3"])
    line = next(line for line in lines(counted, Side.BROKEN) if line.name == "/properties/prompt_cache_options/not")
    assert [entry.model for entry in line.entries if entry is not None] == ["kimi-k3"]
    assert exercised(counted) is None


def test_reports_show_one_line_a_constraint(tmp_path):
    exchanges = [sent(200, **ZERO), sent(200, number=2, max_output_tokens=1)]
    verdicts = judge(exchanges, protocols=[Protocol.RESPONSES], models=[MODEL]).verdicts
    run = Run(
        version="0", target="t", models=(MODEL,), protocols=(Protocol.RESPONSES,), seed=1, profile="full", started="now"
    )
    write(tmp_path, run, verdicts, gate(verdicts), exchanges)
    document = json.loads((tmp_path / "report.json").read_bytes())
    assert document["constraints"]["totals"] == {"exercised": 1, "total": 43, "wrong": 1}
    assert "constraints" in json.dumps(report_schema()["$defs"]["Report"]["properties"])
    text = (tmp_path / "report.md").read_text("utf-8")
    assert f"| responses | `{MINIMUM}` | ✗ accepted |" in text
    assert f"| responses | `{MINIMUM} = 1` | ✓ accepted |" in text
    page = (tmp_path / "report.html").read_text("utf-8")
    assert f"<code>{MINIMUM}</code>" in page
    assert page.count("constraints of the request schemas exercised under") == 2
    idle = "/$defs/FunctionTool/required"
    assert [entry["requests"] for entry in document["constraints"]["constraints"] if entry["constraint"] == idle] == [0]
    assert f"<code>{idle}" not in page
    assert f"`{idle}" not in text
    counts = re.findall(r"<summary>request\.\S+: (\d+) constraints exercised, (\d+) not</summary>", text)
    assert sum(map(int, counts[0])) == 43
    assert [text.count(f"| responses | `{MINIMUM}{side}` |") for side in ("", " = 1")] == [1, 1]


def test_a_broken_connection_decides_nothing():
    cut = msgspec.structs.replace(sent(400, **ZERO), response=None, failure=Failure(kind="reset", message="gone"))
    one = entry(found(cut))
    assert (one.status, one.right) == (Status.UNDECIDED, None)
