"""How ``proxy`` ends: the journal judged as ``check`` judges it, and the report that ``run`` writes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import click

import conformance
from conformance import specs
from conformance.cli.banner import counts_of, decided
from conformance.cli.check_verdicts import Judged, Wanted
from conformance.cli.printable import dump
from conformance.cli.selection import chosen
from conformance.evidence import Large, Recording, Unreadable, open_file
from conformance.gate import Exit, Gate, gate
from conformance.models import ALL
from conformance.proxy import Desk, Orders, Upstream
from conformance.redact import Secrets
from conformance.reports import write
from conformance.reports.safe import safe
from conformance.values import Exchange, Protocol, Run, Verdict

NOTHING = "no exchange of the three endpoints passed"


def conclude(
    desk: Desk,
    target: Upstream,
    out: Path,
    journal: str,
    *,
    started: str,
    orders: Orders,
    strict: bool,
    as_json: bool,
    stopped: str | None,
) -> Exit:
    """Judge what passed, write the reports into ``out``, print the outcome; the exit code."""
    secrets = Secrets((*orders.keys, *desk.keys), map(re.compile, orders.redact))
    wanted = Wanted(rules=chosen(orders.rules), protocols=tuple(Protocol), models=ALL, basis=orders.basis)
    judged = Judged(wanted, lambda exchanges: [secrets.exchange(one) for one in exchanges], secrets)
    sources, partial = _sources(out / journal, desk, stopped)
    verdicts = judged.verdicts(sources, together=False)
    decision = gate(
        verdicts,
        strict=strict,
        basis=orders.basis,
        unverified=None if judged.counted or partial else NOTHING,
        partial=partial,
    )
    run = Run(
        version=conformance.__version__,
        target=target.base_url,
        models=ALL,
        protocols=tuple(Protocol),
        seed=0,
        profile="proxy",
        started=started,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        specs=specs.spec_hashes(),
        rules=orders.rules,
        requests=judged.counted,
        partial=partial,
    )
    report = write(out, run, verdicts, decision, _exchanges(sources, verdicts))
    if as_json:
        from conformance.cli.run import plain_report  # noqa: PLC0415 (pytest with it, for this alone)
        from conformance.plugin.result import Result  # noqa: PLC0415 (likewise)

        result = Result(run=run, verdicts=verdicts, gate=decision, report=report, out=out, exchanges=judged.counted)
        dump(plain_report(result))
    _banner(decision, judged.counted, desk, out, err=as_json)
    return decision.code


def _sources(path: Path, desk: Desk, stopped: str | None) -> tuple[list[Recording | Large], str | None]:
    """The journal, and why it is not all that passed."""
    reasons = [f"{number} not judged: {reason}" for reason, number in desk.unjudged.items()]
    if desk.bounded:
        reasons.append(f"{desk.bounded} judged in part: only the start of the answer was kept")
    if stopped is not None:
        reasons.append(stopped)
    try:
        return [open_file(str(path))], "; ".join(reasons) or None
    except Unreadable as error:
        if desk.judged:
            reasons.append(f"the journal cannot be read ({error.reason})")
        return [], "; ".join(reasons) or None


def _exchanges(sources: Iterable[Recording | Large], verdicts: Iterable[Verdict]) -> Iterable[Exchange]:
    """The exchanges that reports show: of a large journal only those with a finding."""
    for source in sources:
        if isinstance(source, Recording):
            yield from source.exchanges
        else:
            named = {finding.exchange for verdict in verdicts for finding in verdict.findings}
            yield from (exchange for exchange in source.exchanges() if exchange.id in named)


def _banner(decision: Gate, exchanges: int, desk: Desk, out: Path, *, err: bool) -> None:
    words = f"{exchanges} exchange{'s' * (exchanges != 1)} judged"
    if desk.other:
        words += f", {desk.other} request{'s' * (desk.other != 1)} of other endpoints passed"
    click.echo(words, err=err)
    for reason, number in desk.unjudged.items():
        click.echo(f"{number} not judged: {safe(reason)}", err=err)
    click.echo(f"findings: {counts_of(decision)}", err=err)
    click.echo(f"report: {safe(str(out / 'report.html'))}", err=err)
    decided(decision, err=err)
