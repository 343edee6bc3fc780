"""Sampling values that the models fix: ignored by K3.1, refused by kimi-k3 unless they are the fixed ones."""

from __future__ import annotations

from typing import Any, cast

from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.values import Protocol

STREAMED = 0.5
VALUES = (("temperature", (0, 0.5, 1, 1.0, 2)), ("top_p", (0, 0.5, 0.95, 1)))


def values(cell: Cell) -> Script:
    """The fixed values and others, one a request; a fixed one and another also streamed."""
    if cell.protocol is Protocol.RESPONSES:
        return
    for name, numbers in VALUES:
        for value in numbers:
            body = cell.body("Reply with OK.", **cast("dict[str, Any]", {name: value}))
            fixed = value == (cell.row.temperature if name == "temperature" else cell.row.top_p)
            for mode in cell.both(body) if fixed or value == STREAMED else (body,):
                yield cell.ask(mode) if cell.k31 or fixed else cell.challenge(mode)


def unsupported(cell: Cell) -> Script:
    """What else kimi-k3 does not support: stop sequences, cache options, and structured output on messages."""
    if cell.k31:
        return
    if cell.protocol is Protocol.CHAT:
        for options in ({"mode": "implicit"}, {"ttl": "1h"}):
            for body in cell.both(cell.body("Reply with OK.", prompt_cache_options=options)):
                yield cell.challenge(body)
    if cell.protocol is Protocol.MESSAGES:
        schema = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
        fields: tuple[tuple[str, Any], ...] = (
            ("stop_sequences", ["STOP"]),
            ("cache_control", {"type": "ephemeral"}),
            ("cache_control", {"type": "ephemeral", "ttl": "1h"}),
            ("output_config", {"format": {"type": "json_schema", "schema": schema}}),
        )
        for field, value in fields:
            for body in cell.both(cell.body("Reply with OK.", **{field: value})):
                yield cell.challenge(body)
