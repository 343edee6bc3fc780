"""Write every report of a run into one folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from conformance.gate import Gate
from conformance.reports.constraints import constraints, exercised
from conformance.reports.document import Report, encode, report, report_schema
from conformance.reports.html import html
from conformance.reports.junit import junit
from conformance.reports.markdown import markdown, summarise
from conformance.reports.runfile import write_run
from conformance.values import Exchange, Run, Verdict


def write(out: Path, run: Run, verdicts: tuple[Verdict, ...], gate: Gate, exchanges: Iterable[Exchange]) -> Report:
    """Write run.jsonl, report.json with its schema, report.md, junit.xml and report.html into ``out``.

    The exchanges are for the curl lines of failures and must be redacted already. Returns what report.json holds.
    """
    out.mkdir(parents=True, exist_ok=True)
    by_id = {exchange.id: exchange for exchange in exchanges}
    found = exercised(constraints(by_id.values(), verdicts, protocols=run.protocols, models=run.models))
    places = {name: place for place, name in enumerate(by_id)}
    whole = report(run, verdicts, gate, constraints=found, places=places)
    write_run(out / "run.jsonl", run, verdicts, gate.counts)
    (out / "report.json").write_bytes(encode(whole))
    (out / "report.schema.json").write_bytes(encode(report_schema()))
    text = markdown(run, verdicts, gate, by_id, constraints=found)
    (out / "report.md").write_text(text, encoding="utf-8")
    summarise(text)
    (out / "junit.xml").write_bytes(junit(run, verdicts))
    (out / "report.html").write_text(html(run, verdicts, gate, by_id, constraints=found), encoding="utf-8")
    return whole
