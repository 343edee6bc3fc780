"""schemathesis and we agree on which of its bodies are valid; what it adds breaks one constraint alone."""

from __future__ import annotations

import pytest
from generated_cells import CELLS

from conformance import specs
from conformance.generators import Side, marks
from conformance.generators.coverage import MissingSchemathesisError, further, generated
from conformance.probes.bases import bases
from conformance.probes.constraints import broken_cases

pytest.importorskip("schemathesis")

CHECKED = [cell for cell in CELLS if cell.model == "kimi-k3"]
NAMES = [cell.protocol.value for cell in CHECKED]


@pytest.mark.parametrize("cell", CHECKED, ids=NAMES)
def test_verdicts_agree(cell):
    found = list(generated(cell.protocol, cell.model))
    assert {one.valid for one in found} == {True, False}
    for one in found:
        breaches = specs.breaches(cell.protocol, cell.model, one.body)
        assert one.valid is (breaches == ()), f"{one.words}: {breaches}"


@pytest.mark.parametrize("cell", CHECKED, ids=NAMES)
def test_what_it_adds_breaks_one_constraint_in_a_new_way(cell):
    known = broken_cases(cell)
    added = further(cell.protocol, cell.model, bases(cell), known)
    assert added
    for case in added:
        assert marks(cell.protocol, cell.model, case.body) == (case.mark,)
        assert case.mark.side is Side.BROKEN
    assert not {str(case.body) for case in added} & {str(case.body) for case in known}


def test_its_absence_is_told(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "schemathesis", None)
    cell = CHECKED[0]
    with pytest.raises(MissingSchemathesisError, match=r"pip install 'kimi-conformance\[schemathesis\]'"):
        next(generated(cell.protocol, cell.model))
