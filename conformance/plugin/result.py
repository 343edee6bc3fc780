"""The end of a run: journals joined, everything judged once, reports written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

import conformance
from conformance import protocols, specs
from conformance.client import losses
from conformance.client.losses import Losses
from conformance.confirming import confirmed
from conformance.gate import Gate, gate
from conformance.judge import judge
from conformance.plugin.hiding import hidden
from conformance.plugin.joining import join, recorded
from conformance.plugin.settings import Settings
from conformance.plugin.tapes import Gap, explained, keep, told
from conformance.prices import Price
from conformance.reports import Report, write
from conformance.reports.safe import safe
from conformance.values import RANK, Exchange, Level, Run, Verdict

JOURNAL = "journal.jsonl"
MOST_SHOWN = 20  # findings


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What one worker did."""

    journal: str
    order: tuple[str, ...]  # the probes' names with their cells, in the suite's order
    requests: int
    output_tokens: int
    stopped: str | None = None
    gaps: tuple[Gap, ...] = ()  # probes that a replay could not play
    losses: Losses = msgspec.field(default_factory=Losses)


@dataclass(frozen=True, kw_only=True)
class Result:
    """A finished run."""

    run: Run
    verdicts: tuple[Verdict, ...]
    gate: Gate
    report: Report
    out: Path
    exchanges: int


def finish(
    settings: Settings,
    tallies: Sequence[Tally],
    *,
    started: str,
    partial: str | None = None,
) -> Result:
    """Judge what the workers recorded, and write run file, journal and reports into the settings' folder."""
    out = Path(settings.out)
    places = {name: place for tally in tallies for place, name in enumerate(tally.order)}
    unread = join([Path(tally.journal) for tally in tallies], out / JOURNAL, places)
    exchanges = list(recorded(out / JOURNAL))
    gaps = [gap for tally in tallies for gap in tally.gaps]
    stopped = next((tally.stopped for tally in tallies if tally.stopped), partial or unread)
    partial = stopped or losses.told(tally.losses for tally in tallies) or told(gaps)
    rules = [rule for rule in settings.rules() if settings.basis in (None, rule.basis)]
    judged = judge(exchanges, rules=rules, protocols=settings.protocols, models=settings.models).verdicts
    judged = confirmed(judged, exchanges)
    secrets = settings.secrets()
    verdicts = explained([hidden(verdict, secrets) for verdict in judged], gaps)
    unverified = settings.unverified or (None if exchanges else partial or "nothing was sent")
    decision = gate(
        verdicts,
        strict=settings.strict,
        basis=settings.basis,
        unverified=unverified,
        partial=partial,
    )
    run = Run(
        version=conformance.__version__,
        target=settings.target.name,
        models=settings.models,
        protocols=settings.protocols,
        seed=settings.seed,
        profile=settings.profile,
        started=started,
        finished=now(),
        specs=specs.spec_hashes(),
        rules=settings.patterns,
        requests=sum(tally.requests for tally in tallies),
        output_tokens=sum(tally.output_tokens for tally in tallies),
        cost=cost(exchanges, settings.prices),
        partial=partial,
        unverified=unverified,
    )
    if settings.record is not None and stopped is None and settings.unverified is None:
        keep(settings.record, exchanges, verdicts, target=settings.target, run=run, night=settings.night)
    report = write(out, run, verdicts, decision, exchanges)
    return Result(run=run, verdicts=verdicts, gate=decision, report=report, out=out, exchanges=len(exchanges))


def cost(exchanges: Iterable[Exchange], prices: Mapping[str, Price]) -> float | None:
    """What the answers cost by their own counts; None where a model that answered has no price."""
    total = 0.0
    for exchange in exchanges:
        usage = protocols.read(exchange).usage
        if usage is None or (not usage.input and not usage.output):
            continue
        price = prices.get(exchange.model)
        if price is None:
            return None
        total += price.of(usage.input or 0, usage.output or 0, usage.cached or 0)
    return total if prices else None


def summary(result: Result) -> list[str]:
    """The run in a few lines of plain text: the decision, counts, the worst findings, where the report is."""
    shown = [f for f in result.report.findings if f.level is not Level.INFO]
    shown.sort(key=lambda finding: -RANK[finding.level])
    lines = [f"{result.gate.headline}: {safe(result.gate.reason)}"]
    for finding in shown[:MOST_SHOWN]:
        where = f"{finding.rule}/{finding.protocol.value}/{finding.model}"
        lines.append(f"  {finding.level.value:<6} {where}: {safe(finding.message)}")
    if len(shown) > MOST_SHOWN:
        lines.append(f"  and {len(shown) - MOST_SHOWN} more")
    lines.append(f"report: {safe(str(result.out / 'report.html'), 4096)}")
    return lines


def now() -> str:
    """The present moment as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
