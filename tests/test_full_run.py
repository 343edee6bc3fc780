"""One full run on the embedded server: what it leaves, and whether each probe exercises what it declares."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterable

import pytest
from commands import Ran, command

import conformance.suite
from conformance.judge import judge
from conformance.models import ALL
from conformance.reports.runfile import read_run
from conformance.rules import RULES
from conformance.rules.patterns import select
from conformance.values import Exchange, Level, Outcome, Protocol

Cells = set[tuple[Protocol, str]]
ONLY_OF_FAULTS = {  # rules that a plain answer meets only where the server is at fault, and then must
    "short-answer": {"error.stream-event", "finish.length-only-at-limit", "http.no-internals-leaked"}
}
SEEN = (Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """``run`` with nothing but a seed and a folder."""
    return command("run", "--seed", "20", "--out", "out", cwd=tmp_path_factory.mktemp("full"))


def test_the_embedded_server_conforms_without_a_must_or_should_finding(ran: Ran) -> None:
    assert ran.code == 0, ran.stdout + ran.stderr
    assert "conforming: no failure" in ran.stdout
    findings = [finding for finding in ran.report["findings"] if finding["level"] != Level.INFO]
    assert findings == []


def test_every_rule_is_exercised_on_every_surface_and_model_that_it_applies_to(ran: Ran) -> None:
    _, verdicts, _ = read_run(ran.out / "run.jsonl")
    known = {(verdict.rule, verdict.protocol, verdict.model): verdict.outcome for verdict in verdicts}
    assert known.keys() == {(rule, protocol, model) for rule in RULES for protocol in Protocol for model in ALL}
    missing = [
        f"{name}/{protocol}/{model}: {known[name, protocol, model]}"
        for name, rule in RULES.items()
        for protocol in Protocol
        for model in ALL
        if rule.covers(protocol, model) and known[name, protocol, model] is not Outcome.PASS
    ]
    assert missing == []


def test_a_run_leaves_run_file_journal_and_reports(ran: Ran) -> None:
    assert {path.name for path in ran.out.iterdir()} >= {
        "run.jsonl",
        "journal.jsonl",
        "report.json",
        "report.md",
        "report.html",
        "junit.xml",
    }
    assert not [path.name for path in ran.out.iterdir() if path.name.startswith(".")]
    run, _, _ = read_run(ran.out / "run.jsonl")
    assert (run.target, run.seed, run.profile, run.partial, run.unverified) == ("embedded", 20, "full", None, None)
    assert run.requests == len(ran.exchanges)
    assert run.output_tokens > 0
    assert run.specs


def test_exchanges_stand_in_the_order_of_the_suite_under_names_of_their_own(ran: Ran) -> None:
    exchanges = ran.exchanges
    names = [exchange.id for exchange in exchanges]
    assert len(set(names)) == len(names)
    blocks = [exchange.id.rpartition("/")[0] for exchange in exchanges]
    changes = [name for place, name in enumerate(blocks) if place == 0 or blocks[place - 1] != name]
    assert len(set(changes)) == len(changes)


def test_nothing_is_styled_and_progress_comes_in_plain_lines_without_a_terminal(ran: Ran) -> None:
    assert "\x1b" not in ran.stdout + ran.stderr
    lines = ran.stderr.splitlines()
    assert 5 <= len(lines) <= 12
    assert all(line.endswith("probes") for line in lines)


def declared() -> dict[str, frozenset[str]]:
    """The rules that each probe declares."""
    found: dict[str, frozenset[str]] = {}
    for module in pkgutil.iter_modules(conformance.suite.__path__):
        if not module.name.startswith("test_"):
            continue
        for name, function in vars(importlib.import_module(f"conformance.suite.{module.name}")).items():
            if name.startswith("test_"):
                marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "exercises"]
                patterns = [pattern for mark in marks for pattern in mark.args]
                found[name.removeprefix("test_").replace("_", "-")] = frozenset(select(patterns, RULES))
    return found


def exercised(exchanges: Iterable[Exchange]) -> dict[str, Cells]:
    """The cells in which these exchanges alone exercise each rule."""
    found: dict[str, Cells] = defaultdict(set)
    for verdict in judge(exchanges).verdicts:
        if verdict.outcome in SEEN:
            found[verdict.rule].add((verdict.protocol, verdict.model))
    return found


@pytest.fixture(scope="module")
def by_probe(ran: Ran) -> dict[str, dict[str, Cells]]:
    """What each probe of the full run exercises by itself."""
    exchanges: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in ran.exchanges:
        exchanges[exchange.probe or ""].append(exchange)
    return {probe: exercised(found) for probe, found in exchanges.items()}


def test_every_probe_declares_the_rules_that_it_is_for() -> None:
    assert [probe for probe, rules in declared().items() if not rules] == []


def test_a_probe_exercises_every_rule_that_it_declares(by_probe: dict[str, dict[str, Cells]]) -> None:
    wrong = {
        probe: sorted(rules - by_probe[probe].keys() - ONLY_OF_FAULTS.get(probe, set()))
        for probe, rules in declared().items()
    }
    assert {probe: rules for probe, rules in wrong.items() if rules} == {}


def test_the_probes_declared_for_a_rule_exercise_it_wherever_the_full_run_does(
    ran: Ran, by_probe: dict[str, dict[str, Cells]]
) -> None:
    claims = declared()
    whole = exercised(ran.exchanges)
    missing = {}
    for rule, cells in whole.items():
        alone = set().union(*(by_probe[probe].get(rule, set()) for probe, rules in claims.items() if rule in rules))
        if cells - alone:
            missing[rule] = sorted(cells - alone)
    assert missing == {}
