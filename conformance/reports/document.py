"""The report as one JSON value; its JSON Schema is generated from the structs here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from conformance.gate import Gate
from conformance.reports.constraints import Constraints
from conformance.reports.order import ordered
from conformance.values import Basis, Finding, Level, Outcome, Protocol, Run, Verdict

SCHEMA_ID = "urn:kimi-conformance:report:1"


class FindingEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One breach, as ``check`` and ``run`` print it."""

    rule: str
    level: Level
    basis: Basis
    protocol: Protocol
    model: str
    file: str | None
    exchange: str | None
    exchanges: tuple[str, ...]
    pointer: str
    message: str
    expected: Any = None
    actual: Any = None


class VerdictEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one case, ``rule/protocol/model``; its findings stand in the report's list."""

    case: str
    rule: str
    protocol: Protocol
    model: str
    outcome: Outcome
    level: Level
    exercised: int
    tries: int = 1  # how often the probe asked, where the model's choice can break the rule
    findings: int
    reason: str | None = None
    known: str | None = None


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate made of the verdicts."""

    code: int
    headline: str
    reason: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run."""

    schema: str = SCHEMA_ID
    run: Run
    decision: Decision
    counts: dict[str, int]
    verdicts: tuple[VerdictEntry, ...]
    findings: tuple[FindingEntry, ...]
    constraints: Constraints | None = None  # of the request schemas; None where the exchanges exercised none


def report(
    run: Run,
    verdicts: Iterable[Verdict],
    gate: Gate,
    *,
    constraints: Constraints | None = None,
    places: Mapping[str, int] | None = None,
) -> Report:
    """Put a run, its verdicts and the gate's decision together; ``places`` says where each exchange stands."""
    verdicts = tuple(verdicts)
    findings = ordered((finding for verdict in verdicts for finding in verdict.findings), places or {})
    return Report(
        run=run,
        decision=decision_entry(gate),
        counts=gate.counts,
        verdicts=tuple(verdict_entry(verdict) for verdict in verdicts),
        findings=tuple(map(finding_entry, findings)),
        constraints=constraints,
    )


def decision_entry(gate: Gate) -> Decision:
    """What the gate decided, without its counts."""
    return Decision(code=int(gate.code), headline=gate.headline, reason=gate.reason)


def verdict_entry(verdict: Verdict) -> VerdictEntry:
    """The flat form of a verdict."""
    return VerdictEntry(
        case=f"{verdict.rule}/{verdict.protocol.value}/{verdict.model}",
        rule=verdict.rule,
        protocol=verdict.protocol,
        model=verdict.model,
        outcome=verdict.outcome,
        level=verdict.level,
        exercised=verdict.exercised,
        tries=verdict.tries,
        findings=len(verdict.findings),
        reason=verdict.reason,
        known=verdict.known,
    )


def finding_entry(finding: Finding) -> FindingEntry:
    """The flat form of a finding that the judge has filled in."""
    if finding.level is None or finding.basis is None or finding.protocol is None:
        raise ValueError(f"a finding of {finding.rule or 'no rule'} reached a report without passing the judge")
    return FindingEntry(
        rule=finding.rule,
        level=finding.level,
        basis=finding.basis,
        protocol=finding.protocol,
        model=finding.model,
        file=finding.file,
        exchange=finding.exchange,
        exchanges=finding.exchanges,
        pointer=finding.pointer,
        message=finding.message,
        expected=finding.expected,
        actual=finding.actual,
    )


def report_schema() -> dict[str, Any]:
    """The JSON Schema of ``report.json``, generated from the structs."""
    return json_schema(Report, SCHEMA_ID)


def json_schema(kind: Any, name: str) -> dict[str, Any]:
    """The JSON Schema of a struct, or of a list of structs, under this name.

    Where the document says which schema it follows, in a field ``schema``, that is this one.
    """
    schema = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(kind)))  # tuples as the arrays that they are
    root = schema["$defs"].get(schema.get("$ref", "").rpartition("/")[2], {})
    if "schema" in root.get("properties", {}):
        root["properties"]["schema"] = {"const": name}
        root["required"] = ["schema", *root["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": name, **schema}


def encode(value: object) -> bytes:
    """Indented JSON with a final newline."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
