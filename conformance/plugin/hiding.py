"""Findings and verdicts without keys and without what ``--redact`` matches: only what came from the wire is touched.

The ids of rules, surfaces and models stay, whatever a pattern says: reports are read by them.
"""

from __future__ import annotations

from msgspec.structs import replace

from conformance.redact import Secrets
from conformance.values import Finding, Verdict


def hidden(verdict: Verdict, secrets: Secrets) -> Verdict:
    """The verdict, its findings and its reason hidden: a key that came in pieces is whole again in a finding."""
    return replace(
        verdict,
        findings=tuple(hidden_finding(finding, secrets) for finding in verdict.findings),
        reason=None if verdict.reason is None else secrets.text(verdict.reason),
    )


def hidden_finding(finding: Finding, secrets: Secrets) -> Finding:
    """The finding with its message, its place and its values hidden."""
    return replace(
        finding,
        message=secrets.text(finding.message),
        pointer=secrets.text(finding.pointer),
        expected=secrets.value(finding.expected),
        actual=secrets.value(finding.actual),
    )
