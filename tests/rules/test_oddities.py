"""What is unusual and correct raises no alarm."""

from __future__ import annotations

import pytest

from conformance.evidence.oddities import WIRES, oddities
from conformance.judge import judge
from conformance.values import Level, Outcome

ODDITIES = tuple(oddities())


@pytest.mark.parametrize("oddity", ODDITIES, ids=[f"{each.topic}: {each.name}" for each in ODDITIES])
def test_nothing_above_info_is_found(oddity):
    judgement = judge(oddity.exchanges)
    assert [(f.rule, f.message) for f in judgement.findings if f.level is not Level.INFO] == []
    assert [v.rule for v in judgement.verdicts if v.outcome is Outcome.ERROR] == []
    assert sum(verdict.exercised for verdict in judgement.verdicts) >= 5


def test_there_are_sixty_or_more_on_every_surface_and_in_both_modes():
    assert len(ODDITIES) >= 60
    assert len({(each.topic, each.name) for each in ODDITIES}) == len(ODDITIES)
    assert {exchange.protocol.value for each in ODDITIES for exchange in each.exchanges} == {
        "chat",
        "messages",
        "responses",
    }


@pytest.mark.parametrize("wire", WIRES)
def test_a_wire_form_changes_the_bytes(wire):
    assert WIRES[wire](b"event: a\ndata: {}\n\ndata: 1\n\n") != b"event: a\ndata: {}\n\ndata: 1\n\n"
