"""Requests that a fragile server trips over: deep nesting, very long strings, lone surrogates, U+0000."""

from __future__ import annotations

from typing import Any

from conformance.probes.cell import Cell, encode
from conformance.probes.script import Script
from conformance.probes.tools import Function
from conformance.values import Intent

DEPTH = 200
LIMIT = 16  # tokens: what the answer says does not matter
MIB = 1024 * 1024


def survived(cell: Cell) -> Script:
    """Each of them once; any answer but a 5xx or a dropped connection will do."""
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(DEPTH):
        deep = {"type": "object", "properties": {"inner": deep}}
    tool = Function(name="dig", description="Dig deep", schema=deep)
    yield cell.challenge(cell.body("Reply with OK.", limit=LIMIT, tools=[tool.on(cell)]), Intent.HOSTILE)
    nested = b'{"a":' * DEPTH + b"1" + b"}" * DEPTH
    whole = encode(cell.body("Reply with OK.", limit=LIMIT))
    yield cell.challenge(whole[:-1] + b',"metadata":' + nested + b"}", Intent.HOSTILE)
    yield cell.challenge(cell.body("Reply with OK. " + "x" * MIB, limit=LIMIT), Intent.HOSTILE)
    for text in ("\ud800 alone", "before \udfff after", "nul \u0000 inside"):
        yield cell.challenge(cell.body(f"Reply with OK. {text}", limit=LIMIT), Intent.HOSTILE)


def extra_property(cell: Cell) -> Script:
    """A property that no document knows."""
    for body in cell.both(cell.body("Reply with OK.", x_unknown_property={"kept": True})):
        yield cell.challenge(body)
