"""The registry against the ledger: ids, levels and the rest of the contract, and citations that resolve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance import specs
from conformance.models import ALL, K3, K31
from conformance.rules import RULES, Rule

HERE = Path(__file__).parent
LEDGER: dict[str, dict[str, Any]] = {row["id"]: row for row in json.loads((HERE / "ledger.json").read_text("utf-8"))}
ORIGINAL = HERE.parents[2] / "shared" / "rules.yaml"
MODELS = {"all": ALL, "k31": K31, "k3": K3}
SEVERAL = {  # the ledger leaves "over" out, and their guards or cares demand control answers or further tries
    "cache.chat-ttl-writes",
    "finish.length-reported",
    "finish.stop-sequence-as-end-turn",
    "finish.stop-sequence-exact",
    "finish.stop-sequence-stops",
    "reasoning.signature",
    "search.messages-performed",
}
SERIES = {"k31": K31, "k3": K3}


def declared(rule: Rule) -> dict[str, Any]:
    return {
        "level": rule.level.value,
        "basis": rule.basis.value,
        "over": rule.over.value,
        "protocols": sorted(protocol.value for protocol in rule.protocols),
        "models": sorted(rule.models),
        "by_analogy": sorted(protocol.value for protocol in rule.by_analogy),
        "should_on": sorted(f"{protocol.value}/{model}" for protocol, model in rule.should_on),
    }


def promised(row: dict[str, Any]) -> dict[str, Any]:
    cells = [cell.split("/") for cell in row["should_on"]]
    return {
        "level": row["level"],
        "basis": row["basis"],
        "over": row["over"],
        "protocols": sorted(row["protocols"]),
        "models": sorted(MODELS[row["models"]]),
        "by_analogy": sorted(row["by_analogy"]),
        "should_on": sorted(f"{surface}/{model}" for surface, series in cells for model in SERIES[series]),
    }


def test_registry_has_every_rule_of_the_ledger():
    assert sorted(LEDGER.keys() - RULES.keys()) == []


@pytest.mark.parametrize("name", sorted(LEDGER.keys() & RULES.keys()))
def test_rule_is_declared_as_the_ledger_says(name: str):
    found, expected = declared(RULES[name]), promised(LEDGER[name])
    if name in SEVERAL:
        assert found.pop("over") in ("pair", "conversation")
        assert expected.pop("over") == "exchange"
    assert found == expected


def test_rules_beyond_the_ledger_are_none():
    assert sorted(RULES.keys() - LEDGER.keys()) == []


@pytest.mark.skipif(not ORIGINAL.is_file(), reason="the ledger's original lies beside the repository, not in it")
def test_vendored_facts_are_those_of_the_original():
    rows = yaml.safe_load(ORIGINAL.read_text("utf-8"))
    facts = {
        row["id"]: {
            "id": row["id"],
            "level": row["level"],
            "basis": row["basis"],
            "over": row.get("over", "exchange"),
            "protocols": row["protocols"],
            "models": row.get("models", "all"),
            "by_analogy": row.get("by_analogy", []),
            "should_on": row.get("should_on", []),
        }
        for row in rows
    }
    assert facts == LEDGER


@pytest.mark.parametrize("name", sorted(RULES))
def test_sources_resolve_on_every_surface(name: str):
    rule = RULES[name]
    assert set(rule.sources) >= set(rule.protocols)
    for protocol, source in rule.sources.items():
        found = specs.citation(source)
        assert found.line > 0, protocol
        assert found.text.strip(), protocol


@pytest.mark.parametrize("name", sorted(RULES))
def test_statement_and_condition_are_in_words(name: str):
    assert RULES[name].statement.endswith(".")
    assert RULES[name].applies
