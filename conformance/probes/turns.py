"""Conversations: the answer sent back unchanged with a further question, from JSON and from a stream."""

from __future__ import annotations

from typing import Any

from conformance.probes.cell import Cell
from conformance.probes.script import Script, attempt


def history(cell: Cell) -> Script:
    """Three turns; each answer goes back as it came, reasoning included."""
    for body in cell.both(cell.body("Reply with exactly: first")):
        yield from attempt(_turns(cell, body))


def _turns(cell: Cell, body: dict[str, Any]) -> Script:
    before = None
    for question in ("Reply with exactly: second", "Reply with exactly: third"):
        answer = before = yield cell.ask(body, parent=before)
        if not answer.ok:
            return
        body = cell.proceed(body, answer, question)
    yield cell.ask(body, parent=before)
