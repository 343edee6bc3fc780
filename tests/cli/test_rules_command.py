"""``rules``, ``explain`` and ``spec``: the ledger and the documents as people and programs read them."""

from __future__ import annotations

import json

import pytest
import yaml
from click.testing import CliRunner

from conformance import specs
from conformance.cli import main
from conformance.cli.examples import difference, rendered
from conformance.evidence.pairs import pairs
from conformance.models import ALL
from conformance.reference.faults import FAULTS
from conformance.rules import RULES
from conformance.values import Protocol


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_json_lists_every_rule_with_its_facts():
    listed = json.loads(run("rules", "--format", "json"))
    assert [rule["id"] for rule in listed] == list(RULES)
    for rule in listed:
        source = rule["source"]
        assert rule["title"]
        assert rule["level"] in ("must", "should", "info")
        assert rule["basis"] in ("documented", "protocol")
        assert rule["over"] in ("exchange", "stream", "pair", "conversation")
        assert set(rule["models"]) <= set(ALL)
        assert set(rule["sources"]) == set(rule["protocols"])
        assert source["document"] in specs.spec_hashes()
        assert source["line"] > 0
        assert source["text"]


def test_text_groups_rules_by_family_with_level_source_and_statement():
    lines = run("rules", "finish.*", "usage.total-is-sum").splitlines()
    headings = [line for line in lines if line and not line.startswith(" ")]
    named = [name for name in RULES if name.startswith("finish.") and name.count(".") == 1]
    assert headings[:2] == [f"finish ({len(named)} rules)", "usage (1 rule)"]
    entries = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert entries == [*named, "usage.total-is-sum"]
    place = lines.index("  usage.total-is-sum  (must; chat-all:541; chat, responses)")
    assert lines[place + 1] == "      total_tokens is input plus output tokens."
    assert lines[-1].startswith(f"{len(named) + 1} rules: ")


def test_the_whole_ledger_and_all_faults_fit_eighty_columns():
    for command, count in (("rules", len(RULES)), ("faults", len(FAULTS))):
        lines = run(command).splitlines()
        assert max(map(len, lines)) <= 80
        assert sum(line.startswith("  ") and line[2] != " " for line in lines) == count
        assert lines[-1].startswith(f"{count} {command}")


def test_faults_stand_under_the_family_of_the_rule_that_catches_them():
    lines = run("faults", "cache-default-is-1h", "usage-null*", "accepts-bad-cache-ttl").splitlines()
    assert lines == [
        "cache (1 fault)",
        "",
        "  cache-default-is-1h  (messages; K3.1)",
        *lines[3:5],
        "",
        "request (1 fault)",
        "",
        "  accepts-bad-cache-ttl  (chat, messages; json only)",
        "      A time to live of two hours is accepted. Caught by",
        "      request.invalid-rejected.",
        "",
        "usage (2 faults)",
        "",
        "  usage-null  (responses)",
        "      The usage of a finished response is null. Caught by usage.present,",
        "      body.schema.",
        "  usage-null-in-body  (chat, messages; json only)",
        "      The usage of a JSON answer is null. Caught by usage.present, body.schema.",
        "",
        "4 faults, 8 combinations of surface and mode",
    ]


@pytest.mark.parametrize("name", ["usage.total-is-sum", "request.invalid-rejected", "reasoning.effort-increases"])
def test_what_explain_says_of_a_rule_fits_eighty_columns(name):
    said = run("explain", name).partition("Source")[0]
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "holds"),
    [
        (("--protocol", "responses"), lambda rule: "responses" in rule["protocols"]),
        (("--model", "kimi-k3"), lambda rule: "kimi-k3" in rule["models"]),
        (("stream.**",), lambda rule: rule["id"].startswith("stream.")),
    ],
)
def test_rules_are_narrowed(arguments, holds):
    listed = json.loads(run("rules", "--format", "json", *arguments))
    every = json.loads(run("rules", "--format", "json"))
    assert listed == [rule for rule in every if holds(rule)]
    assert 0 < len(listed) < len(every)


@pytest.mark.parametrize("name", sorted(RULES))
def test_explain_tells_every_rule_in_full(name):
    text = run("explain", name)
    words = " ".join(text.split())
    rule = RULES[name]
    assert " ".join(rule.statement.split()) in words
    assert rule.applies.rstrip(".") in words
    for protocol in rule.protocols:
        citation = specs.citation(rule.sources[protocol])
        assert f"{citation.file}, line {citation.line}" in text
        assert citation.text.splitlines()[0] in text


@pytest.mark.parametrize("name", sorted({pair.rule for pair in pairs()} & RULES.keys()))
def test_explain_shows_what_passes_and_how_the_failing_one_differs(name):
    text = run("explain", name)
    passes, _, fails = text.partition("An example that fails")
    first = next(pairs(name))
    assert "An example that passes\n" in passes
    assert fails.startswith(f" ({first.name})\n")
    assert rendered(first.good[0])[0] in passes
    changed = [
        line for line in fails.splitlines() if line.startswith(("  +", "  -")) and line[2:5] not in ("+++", "---")
    ]
    assert changed
    assert any(line.startswith(("  must: ", "  should: ", "  info: ")) for line in fails.splitlines())


def test_explain_says_where_weight_differs():
    rule = next(rule for rule in RULES.values() if rule.should_on)
    text = run("explain", rule.id)
    protocol, model = min(rule.should_on)
    assert f"should on {protocol.value} with {model}" in text


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("model", ALL)
def test_spec_shows_the_effective_document(protocol, model):
    shown = run("spec", "show", protocol.value, "--model", model, "--format", "json")
    assert json.loads(shown) == specs.effective(protocol, model)


def test_spec_shows_yaml_by_default():
    assert yaml.safe_load(run("spec", "show", "responses")) == specs.effective(Protocol.RESPONSES, "kimi-k3.1-pro")


def test_spec_lists_the_documents_with_their_hashes():
    text = run("spec", "list")
    listed = json.loads(run("spec", "list", "--format", "json"))
    assert {document["name"]: document["sha256"] for document in listed} == specs.spec_hashes()
    assert all(document["sha256"] in text and document["title"] in text for document in listed)


def test_a_difference_deep_in_a_long_line_is_shown():
    long = "x" * 500
    shown = difference([f"{long}one{long}", "same"], [f"{long}two{long}", "same"])
    removed, added = (line for line in shown if line[:2] in ("- ", "+ "))
    assert "one" in removed
    assert "two" in added
    assert all(len(line) < 200 for line in shown)


def test_lines_that_only_came_or_went_are_shown():
    shown = difference(["a", "b", "\x1b[2J"], ["b", "c"])
    assert [line for line in shown if line[0] in "+-"][2:] == ["-a", "-\\u001b[2J", "+c"]
