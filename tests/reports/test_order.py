"""Every report lists findings in one order: level, the most specific rule, place."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import msgspec
import pytest

from conformance.gate import gate
from conformance.reports import write
from conformance.reports.order import BROAD, ordered
from conformance.rules import RULES
from conformance.values import Basis, Exchange, Finding, Level, Outcome, Protocol, Request, Run, Verdict

RUN = Run(
    version="kimi-conformance 0",
    target="http://127.0.0.1:1",
    models=("kimi-k3",),
    protocols=(Protocol.CHAT,),
    seed=1,
    profile="full",
    started="2026-01-01T00:00:00Z",
)
EXCHANGES = [
    Exchange(id=name, protocol=Protocol.CHAT, model="kimi-k3", request=Request(method="POST", url="http://h"))
    for name in ("late/2", "early/1")
]
FOUND = [  # rule, level, exchange: as the verdicts give them
    ("body.schema", Level.MUST, "late/2"),
    ("body.created-seconds", Level.SHOULD, "late/2"),
    ("usage.present", Level.MUST, "early/1"),
    ("finish.enum", Level.MUST, "late/2"),
    ("model.echoed", Level.MUST, "gone/3"),
]
ORDER = ["finish.enum", "usage.present", "model.echoed", "body.schema", "body.created-seconds"]


def finding(rule: str, level: Level, exchange: str) -> Finding:
    return Finding(
        message=f"breach of {rule}",
        rule=rule,
        level=level,
        basis=Basis.DOCUMENTED,
        protocol=Protocol.CHAT,
        model="kimi-k3",
        exchange=exchange,
        exchanges=(exchange,),
    )


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    verdicts = tuple(
        Verdict(
            rule=rule,
            protocol=Protocol.CHAT,
            model="kimi-k3",
            outcome=Outcome.FAIL,
            level=level,
            findings=(finding(rule, level, exchange),),
            exercised=1,
        )
        for rule, level, exchange in FOUND
    )
    folder = tmp_path_factory.mktemp("out")
    write(folder, RUN, verdicts, gate(verdicts), EXCHANGES)
    return folder


def test_level_comes_first_then_the_specific_rule_then_the_place():
    places = {exchange.id: place for place, exchange in enumerate(EXCHANGES)}
    assert [one.rule for one in ordered((finding(*one) for one in FOUND), places)] == ORDER


def test_findings_of_equal_weight_and_place_keep_their_order():
    found = [finding(rule, Level.MUST, "x") for rule in ("usage.present", "finish.enum", "model.echoed")]
    assert ordered(found, {}) == found


def test_json_markdown_and_the_page_show_the_same_order(out):
    report = msgspec.json.decode((out / "report.json").read_bytes())
    assert [entry["rule"] for entry in report["findings"]] == ORDER
    assert re.findall(r"^### \w+: (\S+)", (out / "report.md").read_text("utf-8"), re.MULTILINE) == ORDER
    page = (out / "report.html").read_text("utf-8")
    assert re.findall(r'<span class="level">\w+</span> <code>(\S+)</code>', page) == ORDER


def test_junit_names_the_gravest_finding_of_a_case(tmp_path):
    mild, grave = finding("finish.enum", Level.SHOULD, "a"), finding("finish.enum", Level.MUST, "b")
    verdict = Verdict(
        rule="finish.enum",
        protocol=Protocol.CHAT,
        model="kimi-k3",
        outcome=Outcome.FAIL,
        level=Level.MUST,
        findings=(msgspec.structs.replace(mild, message="mild"), msgspec.structs.replace(grave, message="grave")),
    )
    write(tmp_path, RUN, (verdict,), gate([verdict]), [])
    failure = ET.fromstring((tmp_path / "junit.xml").read_bytes()).find(".//failure")  # noqa: S314 (our own file)
    assert failure.get("message") == "grave"
    assert [line.partition(" at ")[0] for line in failure.text.splitlines()] == ["must: grave", "should: mild"]


def test_the_rules_that_come_last_are_rules():
    assert set(BROAD) <= set(RULES)
    assert len(set(BROAD)) == len(BROAD)
