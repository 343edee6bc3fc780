"""Every cell, and what is generated for one."""

from __future__ import annotations

from conformance.models import ALL
from conformance.probes.cell import Cell
from conformance.probes.constraints import broken_cases, edge_cases
from conformance.values import Protocol

CELLS = [Cell(protocol=protocol, model=model, seed=0) for protocol in Protocol for model in ALL]
NAMES = [f"{cell.protocol}/{cell.model}" for cell in CELLS]


def everything(cell: Cell):
    return (*broken_cases(cell), *edge_cases(cell))
