"""junit.xml from verdicts: one test case a case id, one suite a surface and model."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from conformance.reports.order import ordered
from conformance.reports.safe import safe, told
from conformance.values import Finding, Level, Outcome, Run, Verdict


def junit(run: Run, verdicts: tuple[Verdict, ...]) -> bytes:
    """JUnit XML: what failed is a failure, error an error, what was not exercised or not decided is skipped."""
    root = ET.Element("testsuites", name="kimi-conformance")
    cells = dict.fromkeys((v.protocol, v.model) for v in verdicts)
    for protocol, model in cells:
        mine = [v for v in verdicts if (v.protocol, v.model) == (protocol, model)]
        mine = [v for v in mine if v.outcome is not Outcome.NOT_APPLICABLE]
        suite = ET.SubElement(
            root,
            "testsuite",
            name=f"{protocol.value}/{model}",
            tests=str(len(mine)),
            failures=str(sum(v.outcome is Outcome.FAIL for v in mine)),
            errors=str(sum(v.outcome is Outcome.ERROR for v in mine)),
            skipped=str(sum(v.outcome in (Outcome.INCONCLUSIVE, Outcome.NOT_EXERCISED) for v in mine)),
            timestamp=run.started,
            hostname=safe(run.target),
        )
        for verdict in mine:
            _case(suite, verdict)
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _case(suite: ET.Element, verdict: Verdict) -> None:
    name = f"{verdict.rule}/{verdict.protocol.value}/{verdict.model}"
    case = ET.SubElement(suite, "testcase", classname=f"{verdict.protocol.value}.{verdict.model}", name=name)
    if verdict.outcome is Outcome.FAIL:
        worst = [finding for finding in ordered(verdict.findings, {}) if finding.level is not Level.INFO]
        failure = ET.SubElement(
            case, "failure", type=verdict.level.value, message=safe(worst[0].message if worst else "")
        )
        failure.text = "\n".join(map(_line, worst[:20]))
    elif verdict.outcome is Outcome.ERROR:
        ET.SubElement(case, "error", message=safe(verdict.reason or ""))
    elif verdict.outcome in (Outcome.INCONCLUSIVE, Outcome.NOT_EXERCISED):
        ET.SubElement(case, "skipped", message=safe(verdict.reason or verdict.outcome.value))


def _line(finding: Finding) -> str:
    values = ", ".join(f"{name} {value}" for name, value in told(finding))
    where = f"at {safe(finding.pointer or '/')}" + (f": {values}" if values else "")
    return f"{finding.level}: {safe(finding.message)} {where} (exchange {safe(finding.exchange)})"
