"""The fault catalogue is whole: every fault says what it breaks and who must notice, and every rule has a fault."""

from __future__ import annotations

import re

import pytest

from conformance.reference.faults import FAULTS, DuplicateFault
from conformance.reference.faults.registry import CHAT, fault
from conformance.rules import RULES
from conformance.selftest.probes import probes

SEEN = re.compile(r"[\w.-]+/[\w.-]+#\d+")


@pytest.mark.parametrize("entry", FAULTS.values(), ids=FAULTS)
def test_a_fault_says_what_it_breaks_and_which_rules_must_notice(entry):
    assert entry.sentence.endswith(".")
    assert entry.caught_by
    assert set(entry.caught_by) <= RULES.keys()
    assert all(SEEN.fullmatch(report) for report in entry.seen)


@pytest.mark.parametrize("entry", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_on_surfaces_and_models_that_an_expected_rule_judges(entry):
    for protocol, _ in entry.combinations:
        assert any(RULES[name].covers(protocol, model) for name in entry.caught_by for model in entry.models), (
            f"no rule of {entry.id} judges {protocol}"
        )


@pytest.mark.parametrize("entry", FAULTS.values(), ids=FAULTS)
def test_a_probe_meets_the_fault(entry):
    for protocol, _ in entry.combinations:
        assert any(
            probe.rules & set(entry.caught_by) and probe.covers(protocol, model)
            for probe in probes()
            for model in entry.models
        ), f"no probe of {protocol} declares {', '.join(entry.caught_by)}"


def test_every_rule_has_a_fault():
    caught = {name for entry in FAULTS.values() for name in entry.caught_by}
    assert sorted(RULES.keys() - caught) == []


def test_the_catalogue_is_large_enough_to_mean_something():
    assert sum(len(entry.combinations) for entry in FAULTS.values()) >= 250


def test_two_faults_cannot_share_an_id():
    with pytest.raises(DuplicateFault):
        fault(next(iter(FAULTS)), "body", on=(CHAT,), caught_by=("usage.present",))(lambda context, body: body)


def test_an_unknown_stage_is_refused():
    with pytest.raises(ValueError, match="expected a stage among"):
        fault("some-fault", "nowhere", caught_by=("usage.present",))


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_declared_by_a_probe_on_each_surface_it_judges(name):
    rule = RULES[name]
    for protocol in rule.protocols:
        assert any(
            name in probe.rules and probe.covers(protocol, model) for probe in probes() for model in rule.models
        ), f"no probe of {protocol} declares {name}"
