"""Requests that must be refused."""

from __future__ import annotations

from conformance.models import DEFAULT
from conformance.plugin.marks import Probe, cells, exercises, smoke
from conformance.probes import refusals
from conformance.values import Protocol


@exercises("http.no-server-error", "request.invalid-rejected")
def test_broken_constraints(probe: Probe) -> None:
    probe(refusals.broken_constraints)


@exercises(
    "error.before-stream",
    "error.envelope",
    "error.envelope.foreign",
    "error.message-not-empty",
    "error.not-mixed",
    "error.type-fits-status",
    "http.body.json",
    "http.content-type.error",
    "http.no-internals-leaked",
    "http.no-server-error",
    "http.status.documented",
    "model.highspeed.same-decisions",
    "request.invalid-rejected",
)
@smoke(DEFAULT)
def test_invalid_in_both_modes(probe: Probe) -> None:
    probe(refusals.in_both_modes)


@exercises("http.status.documented", "request.invalid-rejected", "request.unknown-model-rejected")
def test_unknown_model(probe: Probe) -> None:
    probe(refusals.unknown_model)


@exercises("error.envelope", "error.envelope.foreign", "http.malformed-json-rejected", "http.no-server-error")
def test_malformed_body(probe: Probe) -> None:
    probe(refusals.malformed)


@exercises(
    "error.envelope",
    "error.envelope.foreign",
    "error.message-not-empty",
    "error.not-mixed",
    "error.status-fits-type",
    "error.type-fits-status",
    "http.auth.invalid-key",
    "http.auth.missing-key",
    "http.content-type.error",
    "http.key-not-echoed",
    "http.no-internals-leaked",
    "http.status.documented",
)
@smoke(DEFAULT)
def test_credentials(probe: Probe) -> None:
    probe(refusals.credentials)


@exercises("error.envelope", "http.auth.*", "http.key-not-echoed", "http.malformed-json-rejected")
def test_other_schemes(probe: Probe) -> None:
    probe(refusals.other_schemes)


@exercises("error.envelope", "http.method-rejected")
def test_wrong_method(probe: Probe) -> None:
    probe(refusals.methods)


@exercises("request.role-system-in-messages-rejected")
@cells(protocols=(Protocol.MESSAGES,))
def test_system_role(probe: Probe) -> None:
    probe(refusals.system_role)
