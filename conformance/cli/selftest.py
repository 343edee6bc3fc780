"""``selftest``: every fault of the reference server against the rules that must catch it."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from conformance.cli.faults import chosen_faults
from conformance.cli.options import format_option
from conformance.cli.printable import coloured, dump, hanging, printed, style
from conformance.gate import Exit
from conformance.reports.safe import safe
from conformance.reports.selftest import selftest_page
from conformance.reports.words import counted
from conformance.selftest import Fate, Matrix, Trial
from conformance.selftest import selftest as run_selftest


class SelftestDocument(Matrix, frozen=True, kw_only=True):
    """What ``selftest --format json`` prints."""

    schema: str = "urn:kimi-conformance:selftest:1"


@click.command()
@click.argument("patterns", nargs=-1, metavar="[FAULT]…")
@format_option
@click.option("-n", "workers", type=click.IntRange(1, 64), default=None, help="Processes.  [default: one a core]")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed gives other prompts and answers.")
@click.option(
    "--html", "page", type=click.Path(dir_okay=False, path_type=Path), help="Write the kill matrix as a page."
)
def selftest(patterns: tuple[str, ...], *, output: str, workers: int | None, seed: int, page: Path | None) -> int:
    """Run every fault (or those that match) through the probes that should meet it: the kill matrix.

    A fault is killed when a rule that must catch it finds something, caught when only other rules do, and survives
    when none does. Exit 1 on any that is not killed, on a rule that no fault can fail, and on a finding against the
    clean server.
    """
    chosen = chosen_faults(patterns) if patterns else None
    text = output == "text"
    total = _Progress(shown=coloured(err=True))
    result = run_selftest(chosen, seed=seed, workers=workers or os.cpu_count() or 1, report=total.step)
    total.done()
    if page is not None:
        page.write_text(selftest_page(msgspec.to_builtins(result), sound=result.sound), encoding="utf-8")
    if text:
        _print(result)
    else:
        dump(printed(SelftestDocument(**msgspec.structs.asdict(result))))
    return Exit.CONFORMING if result.sound else Exit.FAILED


class _Progress:
    """One line on a terminal that counts trials; nothing elsewhere."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._count = 0

    def step(self, trial: Trial) -> None:
        self._count += 1
        if self._shown:
            click.echo(f"\r\x1b[K{self._count} trials, {trial.fault}", nl=False, err=True)

    def done(self) -> None:
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def _print(result: Matrix) -> None:
    by_fault: dict[str, list[Trial]] = defaultdict(list)
    for trial in result.trials:
        by_fault[trial.fault].append(trial)
    for name, trials in by_fault.items():
        fates = Counter(trial.fate for trial in trials)
        words = ", ".join(f"{fates[fate]} {fate.value}" for fate in Fate if fates[fate])
        rules = ", ".join(dict.fromkeys(rule for trial in trials for rule in trial.by if rule in trial.expected))
        click.echo(hanging(f"{name}  {words}" + (f" by {rules}" if rules else "")))
    for trial in result.trials:
        if trial.fate is not Fate.KILLED:
            where = f"{trial.fault} on {trial.protocol.value}, {trial.mode}, {trial.model}"
            by = f"by {', '.join(trial.by)}" if trial.by else "nothing found"
            click.echo(hanging(f"{trial.fate.value}: {where}: expected {', '.join(trial.expected)}; {by}"))
    for rule in result.rules_without_fault:
        click.echo(f"no fault can fail {rule}")
    for alarm in result.false_alarms:
        click.echo(hanging(f"false alarm on the clean server: {safe(alarm)}"))
    if result.cells_without_fault:
        shown = ", ".join(result.cells_without_fault[:20])
        click.echo(hanging(f"{len(result.cells_without_fault)} judged cells that no fault shows: {shown}"))
    for line in _closing(result):
        click.echo(line)


def _closing(result: Matrix) -> Iterator[str]:
    """The counts, and last whether rules and faults are what they claim to be."""
    counts = result.counts
    yield (
        f"{counted(counts['faults'], 'fault')} in {counted(counts['combinations'], 'combination')} of surface and mode"
        f"; {counted(counts['rules'], 'rule')}, {counts['rules_without_fault']} without a fault"
    )
    yield (
        f"{counted(counts['trials'], 'trial')}, {counts['socket']} over a connection; "
        f"{counted(counts['requests'], 'request')} in {result.seconds} s"
    )
    headline = style("sound", fg="green", bold=True) if result.sound else style("not sound", fg="red", bold=True)
    yield (
        f"{headline}: {counts['killed']} killed, {counts['caught']} caught by another rule only, "
        f"{counts['survived']} survived, {counted(len(result.false_alarms), 'false alarm')}"
    )
