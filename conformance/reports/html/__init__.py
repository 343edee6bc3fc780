"""report.html: one self-contained page; the template beside this file is autoescaped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from conformance.gate import Gate
from conformance.reports.constraints import RULE_OF, Constraints, lines, outcome_of
from conformance.reports.curl import curl
from conformance.reports.html.documents import documents
from conformance.reports.matrix import MARKS, SURFACES, failing, matrix
from conformance.reports.safe import safe
from conformance.values import Exchange, Outcome, Protocol, Run, Verdict

LONGEST_CURL = 4_000  # characters shown; the page must stay light however long a prompt was


def html(
    run: Run,
    verdicts: tuple[Verdict, ...],
    gate: Gate,
    exchanges: Mapping[str, Exchange],
    *,
    constraints: Constraints | None = None,
) -> str:
    """The page: banner, matrix of rules by surface and model, failures with citation and a curl line."""
    entries = list(failing(verdicts, exchanges))
    anchors: dict[tuple[str, Protocol | None, str], str] = {}
    for number, entry in enumerate(entries, start=1):
        for model in entry.models:
            anchors.setdefault((entry.finding.rule, entry.finding.protocol, model), f"f{number}")
    return _template().render(
        run=run,
        gate=gate,
        matrix=matrix(verdicts),
        entries=entries,
        anchors=anchors,
        marks={outcome.value: mark for outcome, mark in MARKS.items()},
        legend=[(MARKS[outcome], outcome.value) for outcome in Outcome],
        surfaces=SURFACES,
        curl=lambda exchange: safe(curl(exchange), LONGEST_CURL),
        safe=safe,
        documents=documents(verdicts),
        constraints=constraints,
        constraint_lines={rule: lines(constraints, kind) for kind, rule in RULE_OF.items()} if constraints else {},
        outcome_of=outcome_of,
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("conformance.reports.html", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2")
