"""Efforts: each documented value and alias, the same question at low and at max."""

from __future__ import annotations

from typing import Any

from conformance.models import EFFORT_ALIASES
from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.values import Intent, Protocol

QUESTION = "A farmer has 17 sheep and all but 9 run away. How many are left? Reply with the number only."
TRIES = 3


def at(cell: Cell, effort: str | None, user: str = "Reply with OK.", **rest: Any) -> dict[str, Any]:
    """A request with that effort, whatever the model."""
    body: dict[str, Any] = cell.builder.body(cell.model, user=user, limit=2 * cell.ample, effort=effort, **rest)
    return body


def efforts(cell: Cell) -> Script:
    """Each effort of the model and no effort at all, in both modes."""
    for effort in (*cell.row.efforts, None):
        for body in cell.both(at(cell, effort)):
            yield cell.ask(body, *((Intent.VALID,) if effort else ()))


def aliases(cell: Cell) -> Script:
    """Each effort name that stands for another; documented for K3.1 on chat and messages."""
    valid = (Intent.VALID,) if cell.k31 and cell.protocol is not Protocol.RESPONSES else ()
    if not cell.k31 and cell.protocol is Protocol.RESPONSES:
        return
    for alias in EFFORT_ALIASES:
        yield cell.challenge(at(cell, alias), *valid) if not valid else cell.ask(at(cell, alias), *valid)
    for alias in ("none", "medium") if valid else ():
        yield cell.ask(at(cell, alias, stream=True), *valid)


def only_max(cell: Cell) -> Script:
    """The efforts that kimi-k3 does not support."""
    if not cell.k31 and cell.protocol is not Protocol.RESPONSES:
        for effort in ("low", "high"):
            for body in cell.both(at(cell, effort)):
                yield cell.challenge(body)


def low_and_max(cell: Cell) -> Script:
    """The same question three times at low and at max."""
    if cell.k31:
        for _ in range(TRIES):
            for effort in ("low", "max"):
                yield cell.ask(at(cell, effort, QUESTION))
