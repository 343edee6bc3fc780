"""report.html: one self-contained page; the template beside this file is autoescaped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from conformance.gate import Gate
from conformance.reports.constraints import RULE_OF, Constraints, Line, exercised_lines, outcome_of
from conformance.reports.curl import curl
from conformance.reports.html.documents import documents
from conformance.reports.matrix import MARKS, SURFACES, failing, matrix
from conformance.reports.safe import safe, told
from conformance.values import Exchange, Outcome, Protocol, Run, Verdict

LONGEST_BODY = 4_000  # bytes of a request that is shown; the page must stay light however long a prompt was


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
        curl=partial(curl, longest_body=LONGEST_BODY),
        safe=safe,
        told=told,
        documents=documents(verdicts),
        constraints=constraints,
        constraint_lines=_constraint_lines(constraints),
        outcome_of=outcome_of,
    )


def _constraint_lines(found: Constraints | None) -> dict[str, tuple[tuple[Line, ...], int]]:
    """By the rule that owns them: the lines that were exercised, and how many were not."""
    return {} if found is None else {rule: exercised_lines(found, kind) for kind, rule in RULE_OF.items()}


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
