"""Structured output: a JSON object, an instance of a schema, strict and not."""

from __future__ import annotations

from typing import Any

from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.values import Intent, Protocol

RESULT = "Return a JSON object with result equal to OK."
RESULT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"result": {"type": "string"}},
    "required": ["result"],
    "additionalProperties": False,
}
PEOPLE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "minItems": 2,
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "born": {"type": "integer"},
                    "field": {"type": "string", "enum": ["mathematics", "physics", "computing"]},
                    "living": {"type": "boolean"},
                },
                "required": ["name", "born", "field", "living"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["people"],
    "additionalProperties": False,
}
PEOPLE = "Return a JSON object with two pioneers of computing who have died."


def json_object(cell: Cell) -> Script:
    """json_object, in both modes (chat)."""
    if cell.protocol is Protocol.CHAT:
        for body in cell.both(cell.body(RESULT, response_format={"type": "json_object"})):
            yield cell.ask(body)


def json_schema(cell: Cell) -> Script:
    """A small and a nested schema, in both modes; on chat strict, not strict, and with strict left out."""
    for user, schema in ((RESULT, RESULT_SCHEMA), (PEOPLE, PEOPLE_SCHEMA)):
        for extra in _schema_fields(cell, schema):
            for body in cell.both(cell.body(user, **extra)):
                yield cell.ask(body)


def plain_text(cell: Cell) -> Script:
    """The format that is the default anyway (chat)."""
    if cell.protocol is Protocol.CHAT:
        yield cell.ask(cell.body("Reply with OK.", response_format={"type": "text"}), Intent.VALID)


def _schema_fields(cell: Cell, schema: dict[str, Any]) -> list[dict[str, Any]]:
    if cell.protocol is Protocol.CHAT:
        base = {"name": "result", "schema": schema}
        forms: list[dict[str, Any]] = [{**base, "strict": True}, {**base, "strict": False}, base]
        return [{"response_format": {"type": "json_schema", "json_schema": form}} for form in forms]
    if cell.protocol is Protocol.MESSAGES and cell.k31:
        return [{"output_config": {"format": {"type": "json_schema", "schema": schema}}}]
    return []
