"""The loader of minimal pairs, and the bases that the project ships."""

from __future__ import annotations

import pytest

from conformance.evidence import fixtures
from conformance.evidence.pairs import BadPair, pairs
from conformance.evidence.written import BadExchange, exchange
from conformance.judge import judge
from conformance.protocols import Kind, read
from conformance.values import Exchange, Intent, Level, Outcome

BASES = sorted(path.stem for path in (fixtures.root() / "bases").glob("*.yaml"))
BASE = """
request:
  url: https://h/v1/messages
  headers: {A: b, Date: 2026-01-01}
  body: {model: kimi-k3, on: yes, n: 1.50}
response: {status: 200, headers: {C: d}, json: {id: msg_1, content: [{type: text, text: one}]}}
"""


def base(name: str) -> Exchange:
    return exchange(fixtures.load(fixtures.root() / "bases" / f"{name}.yaml"), name)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "bases").mkdir()
    (tmp_path / "pairs").mkdir()
    (tmp_path / "bases" / "m.yaml").write_text(BASE, "utf-8")
    return tmp_path


def written(root, text: str) -> list:
    (root / "pairs" / "body.x.yaml").write_text(text, "utf-8")
    return list(pairs("body.x", root=root))


def test_a_pair_differs_in_its_fault_only(root):
    (pair,) = written(
        root,
        """
- name: text lost
  base: m
  setup: [{at: /0/intents, set: [valid]}, {at: /0/live, set: true}]
  fault: [{at: /0/response/json/content, set: []}]
  level: should
  may_warn: [body.y]
""",
    )
    (good,), (bad,) = pair.good, pair.bad
    assert (pair.rule, pair.name, pair.level, pair.may_warn) == ("body.x", "text lost", Level.SHOULD, ("body.y",))
    assert good.request == bad.request
    assert good.request.body == b'{"model":"kimi-k3","on":"yes","n":1.5}'
    assert good.request.headers == (("A", "b"), ("Date", "2026-01-01"))
    assert good.response.chunks[0].data == b'{"id":"msg_1","content":[{"type":"text","text":"one"}]}'
    assert bad.response.chunks[0].data == b'{"id":"msg_1","content":[]}'
    assert (good.model, good.intents, good.live, good.id) == ("kimi-k3", (Intent.VALID,), True, "1")


def test_a_base_that_is_used_twice_gets_ids_of_its_own(root):
    (pair,) = written(root, "[{name: a, base: [m, m], fault: [{at: /1/response/status, set: 500}]}]")
    assert [read(answer).id for answer in pair.good] == ["msg_1", "msg_1-2"]
    assert [answer.id for answer in pair.good] == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "expected a list of pairs"),
        ("[1]", "expected a pair with a name"),
        ("[{base: m}]", "expected a pair with a name"),
        ("- {name: a, base: m, fault: [{at: /0/live, set: true}]}\n" * 2, "two pairs named 'a'"),
        ("[{name: a}]", "a: expected base"),
        ("[{name: a, base: []}]", "a: expected base"),
        ("[{name: a, base: q}]", "a: no base 'q'; there are m"),
        ("[{name: a, base: ../m}]", "a: no base"),
        ("[{name: a, base: m}]", "a: the fault changes nothing"),
        ("[{name: a, base: m, faults: []}]", "a: unknown faults; known are"),
        ("[{name: a, base: m, fault: {}}]", "the fault changes nothing"),
        ("[{name: a, base: m, fault: [{at: /0/x/y, set: 1}]}]", "a: fault, op 1: nothing is at /0/x"),
        ("[{name: a, base: m, fault: 7}]", "a: fault: expected a list of ops"),
        ("[{name: a, base: m, fault: [{at: /0/responze, set: 1}]}]", "an exchange: unknown responze; known are"),
        ("[{name: a, base: m, fault: [{at: /0/intents, set: [no]}]}]", "'no' is not a valid Intent"),
        ("[{name: a, base: m, level: hard, fault: [{at: /0/live, set: true}]}]", "'hard' is not a valid Level"),
        ("[{name: a", "body.x.yaml: "),
    ],
)
def test_what_is_wrong_with_a_file_is_named(root, text, words):
    with pytest.raises(BadPair, match=words):
        written(root, text)


def test_a_rule_without_a_file_has_no_pairs(root):
    assert list(pairs("body.z", root=root)) == []


@pytest.mark.parametrize(
    ("response", "chunks"),
    [
        ({"json": {"a": "北"}}, ['{"a":"北"}'.encode()]),
        ({"json": "\ud800"}, [b'"\\ud800"']),
        ({"text": "raw\n", "json": {}}, [b"raw\n"]),
        ({"text": b"\xff"}, [b"\xff"]),
        (
            {"sse": [{"event": "e", "data": {"a": 1}}, {"data": "[DONE]"}, {"data": "one\ntwo"}]},
            [b'event: e\ndata: {"a":1}\n\n', b"data: [DONE]\n\n", b"data: one\ndata: two\n\n"],
        ),
        ({"sse": [{"data": "a"}, {"data": "b"}], "ms": 900}, [b"data: a\n\ndata: b\n\n"]),
        ({}, []),
    ],
)
def test_bodies_become_the_bytes_of_the_wire(response, chunks):
    form = {"request": {"url": "https://h/v1/messages"}, "response": {"status": 200, **response}}
    assert [chunk.data for chunk in exchange(form, "1").response.chunks] == chunks


def test_events_arrive_one_after_the_other_or_when_they_say():
    form = {
        "request": {"url": "https://h/v1/messages"},
        "response": {"status": 200, "sse": [{"data": "a"}, {"data": "b", "ms": 900}]},
    }
    assert [chunk.ms for chunk in exchange(form, "1").response.chunks] == [20, 900]


@pytest.mark.parametrize(
    "form",
    [
        None,
        {},
        {"request": {"url": "https://h/other"}},
        {"request": {"url": 5}},
        {"request": {"url": "https://h/v1/messages"}, "response": {"headers": {}}},
        {"request": {"url": "https://h/v1/messages"}, "response": {"status": 200, "sse": [{"event": "e"}]}},
        {"request": {"url": "https://h/v1/messages"}, "failure": {"message": "no kind"}},
    ],
)
def test_a_form_that_is_no_exchange_is_refused(form):
    with pytest.raises(BadExchange):
        exchange(form, "1")


@pytest.mark.parametrize("name", BASES)
def test_a_base_is_a_clean_exchange(name):
    result = judge([base(name)])
    assert [(finding.rule, finding.message) for finding in result.findings if finding.level is not Level.INFO] == []
    assert [verdict.reason for verdict in result.verdicts if verdict.outcome is Outcome.ERROR] == []
    assert base(name).protocol.value == name.partition(".")[0]


def test_all_bases_together_are_clean():
    found = judge([base(name) for name in BASES]).findings
    assert [(finding.rule, finding.exchanges) for finding in found if finding.level is not Level.INFO] == []


@pytest.mark.parametrize("name", [name for name in BASES if name.endswith("stream")])
def test_a_streamed_base_is_complete_and_says_what_its_twin_says(name):
    streamed = read(base(name))
    twin = read(
        base(name.removesuffix(".stream").removesuffix("-stream") + (".plain" if name.endswith(".stream") else ""))
    )
    assert streamed.kind is Kind.STREAM
    assert streamed.complete
    assert (streamed.text, streamed.reasoning, streamed.ending) == (twin.text, twin.reasoning, twin.ending)
    assert [call.value for call in streamed.calls] == [call.value for call in twin.calls]
    assert (streamed.usage.input, streamed.usage.output) == (twin.usage.input, twin.usage.output)
