"""``constraints``: every constraint of the request schemas, broken and met at its edges, and how it was decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import click
import msgspec

from conformance.cli.banner import decided
from conformance.cli.options import format_option, model_option, protocol_option
from conformance.cli.printable import coloured, dump, printed, style
from conformance.client import BadTarget, Limits, Player, Stopped, Target, preflight, resolve, serving
from conformance.client.targets import DEFAULT_KEY_ENV
from conformance.gate import Gate, gate
from conformance.generators import Side
from conformance.generators.coverage import MissingSchemathesisError
from conformance.judge import judge
from conformance.models import ALL
from conformance.probes import constraints as probes
from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.reports.constraints import RULE_OF, ConstraintEntry, Constraints, Line, lines
from conformance.reports.constraints import constraints as counted
from conformance.reports.document import Decision, decision_entry
from conformance.reports.order import ordered
from conformance.reports.safe import safe
from conformance.values import Exchange, Finding, Level, Protocol

SCRIPTS = {"each-constraint-broken": probes.broken, "each-allowed-edge": probes.allowed}  # named as in the suite
FURTHER = {"constraints-broken-further": probes.further}
SHOWN = 20  # findings


class ConstraintsDocument(Constraints, frozen=True, kw_only=True):
    """What ``constraints --format json`` prints."""

    schema: str = "urn:kimi-conformance:constraints:1"
    requests: int
    output_tokens: int
    decision: Decision


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    constraints: Constraints
    decision: Gate
    findings: tuple[Finding, ...]
    requests: int
    output_tokens: int


@click.command()
@click.option(
    "--target",
    metavar="NAME|URL",
    envvar="KIMI_BASE_URL",
    default="embedded",
    show_default=True,
    help="embedded, direct, api or a base URL.  [env var: KIMI_BASE_URL]",
)
@click.option("--key-env", metavar="NAME", help=f"The environment variable that holds the key.  [{DEFAULT_KEY_ENV}]")
@model_option
@protocol_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True, max=86_400),
    default=300.0,
    show_default=True,
    help="Seconds that one answer may take.",
)
@click.option("--further", is_flag=True, help="Also break them in the ways that schemathesis knows.")
@click.option("--rpm", type=click.FloatRange(min=0, min_open=True, max=1e6), help="Requests a minute, at most.")
@format_option
def constraints(
    *,
    target: str,
    key_env: str | None,
    models: tuple[str, ...],
    protocols: tuple[str, ...],
    timeout: float,
    further: bool,
    rpm: float | None,
    output: str,
) -> int:
    """Send a request for every constraint of the request schemas, and one for each allowed edge.

    A constraint is one keyword of the effective schema of a surface and model, named by its JSON pointer. Printed are
    how many were exercised, and for each whether it was refused or accepted, rightly or not.
    """
    try:
        found = resolve(target, key_env=key_env)
    except BadTarget as error:
        raise click.UsageError(str(error)) from None
    cells = [
        Cell(protocol=protocol, model=model, seed=0)  # nothing that is sent is random
        for protocol in Protocol
        for model in ALL
        if (not protocols or protocol.value in protocols) and (not models or model in models)
    ]
    limits = Limits(timeout=min(120.0, timeout), total_timeout=timeout, rpm=rpm)
    try:
        outcome = _exercise(found, cells, {**SCRIPTS, **(FURTHER if further else {})}, limits)
    except MissingSchemathesisError as error:
        raise click.UsageError(str(error)) from None
    if output == "json":
        dump(printed(_document(outcome)))
    else:
        for line in _results(outcome.constraints):
            click.echo(line)
    for line in _summary(found, outcome):
        click.echo(line, err=output == "json")
    decided(outcome.decision, err=output == "json")
    return int(outcome.decision.code)


Scripts = Mapping[str, Callable[[Cell], Script]]


def _exercise(target: Target, cells: Sequence[Cell], scripts: Scripts, limits: Limits) -> _Outcome:
    exchanges: list[Exchange] = []
    protocols = tuple(dict.fromkeys(cell.protocol for cell in cells))
    models = tuple(dict.fromkeys(cell.model for cell in cells))
    stopped = None
    with serving(target) as served:
        player = Player(target=served, record=exchanges.append, limits=limits)
        unverified = preflight(served, protocols, models[0])
        try:
            for cell in cells if unverified is None else ():
                _progress(f"{cell.protocol.value}, {cell.model}")
                for name, script in scripts.items():
                    player.play(name, cell, script(cell))
        except Stopped as reason:
            stopped = str(reason)
        finally:
            player.close()
            _progress("")
    judgement = judge(exchanges, protocols=protocols, models=models)
    return _Outcome(
        constraints=counted(exchanges, judgement.verdicts, protocols=protocols, models=models),
        decision=gate(judgement.verdicts, unverified=unverified, partial=stopped),
        findings=judgement.findings,
        requests=player.requests,
        output_tokens=player.output_tokens,
    )


def _progress(words: str) -> None:
    """One line on a terminal, wiped by empty words; nothing elsewhere."""
    if coloured(err=True):
        click.echo(f"\r\x1b[K{words}", nl=False, err=True)


def _document(outcome: _Outcome) -> ConstraintsDocument:
    return ConstraintsDocument(
        **msgspec.structs.asdict(outcome.constraints),
        requests=outcome.requests,
        output_tokens=outcome.output_tokens,
        decision=decision_entry(outcome.decision),
    )


def _results(found: Constraints) -> Iterator[str]:
    """One line a constraint and kind; models that were decided alike share it."""
    for kind in Side:
        yield style(f"{kind.value} ({RULE_OF[kind]})", bold=True)
        for line in lines(found, kind):
            alike: dict[str, list[str]] = {}
            for entry in filter(None, line.entries):
                alike.setdefault(_words(entry), []).append(entry.model)
            for words, models in alike.items():
                yield f"  {words:<18} {line.surface.value:<9} {safe(line.name)}" + _on(line, models)


def _words(entry: ConstraintEntry) -> str:
    judged = {True: ", right", False: ", WRONG", None: ""}[entry.right]
    return entry.status.value + judged


def _on(line: Line, models: Sequence[str]) -> str:
    return "" if len(models) == sum(entry is not None for entry in line.entries) else f"  on {', '.join(models)}"


def _summary(target: Target, outcome: _Outcome) -> Iterator[str]:
    found = outcome.constraints
    yield f"{safe(target.name)}: {outcome.requests} requests, {outcome.output_tokens} output tokens"
    for cell in found.cells:
        counts = f"{cell.exercised} of {cell.total} exercised, {cell.wrong} wrong"
        yield f"  {cell.surface.value:<9} {cell.model:<24} {counts}"
    breaking = [finding for finding in ordered(outcome.findings, {}) if finding.level is not Level.INFO]
    for finding in breaking[:SHOWN]:
        level = finding.level.value if finding.level else ""
        where = f"{finding.protocol}/{finding.model}"
        yield f"  {level:<6} {finding.rule}/{where}: {safe(finding.message)} (exchange {safe(finding.exchange)})"
    if len(breaking) > SHOWN:
        yield f"  and {len(breaking) - SHOWN} more findings"
    totals = found.totals
    yield f"{totals['exercised']} of {totals['total']} constraints exercised, {totals['wrong']} decided wrongly"
