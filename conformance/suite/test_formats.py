"""Structured output."""

from __future__ import annotations

from conformance.plugin.marks import Probe, cells, exercises
from conformance.probes import formats
from conformance.values import Protocol


@exercises("format.json-object")
@cells(protocols=(Protocol.CHAT,))
def test_json_object(probe: Probe) -> None:
    probe(formats.json_object)


@exercises("format.json-schema", "model.k3.response-format-accepted")
@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_json_schema(probe: Probe) -> None:
    probe(formats.json_schema)


@exercises("request.valid-accepted")
@cells(protocols=(Protocol.CHAT,))
def test_plain_text(probe: Probe) -> None:
    probe(formats.plain_text)
