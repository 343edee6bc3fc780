"""Requests that must be refused."""

from __future__ import annotations

from conformance.plugin import Probe, cells
from conformance.probes import refusals
from conformance.values import Protocol


def test_broken_constraints(probe: Probe) -> None:
    probe(refusals.broken_constraints)


def test_invalid_and_streamed(probe: Probe) -> None:
    probe(refusals.streamed)


def test_unknown_model(probe: Probe) -> None:
    probe(refusals.unknown_model)


def test_malformed_body(probe: Probe) -> None:
    probe(refusals.malformed)


def test_credentials(probe: Probe) -> None:
    probe(refusals.credentials)


def test_wrong_method(probe: Probe) -> None:
    probe(refusals.methods)


@cells(protocols=(Protocol.MESSAGES,))
def test_system_role(probe: Probe) -> None:
    probe(refusals.system_role)
