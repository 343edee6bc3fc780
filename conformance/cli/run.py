"""``run``: the suite against a server, judged and reported."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from conformance.cli.banner import decided
from conformance.cli.checked import COLOURS
from conformance.cli.configuration import configuration
from conformance.cli.options import BASIS, OneOf, format_option, model_option, protocol_option
from conformance.cli.patterns import redact_option
from conformance.cli.printable import coloured, dump, plain
from conformance.cli.selection import chosen
from conformance.client.targets import DEFAULT_KEY_ENV, BadTarget, resolve
from conformance.gate import Exit
from conformance.models import ALL
from conformance.plugin.result import Result
from conformance.plugin.settings import PROFILES
from conformance.reports.document import FindingEntry
from conformance.reports.safe import safe, told
from conformance.values import Level, Outcome, Protocol

SHOWN = 20  # rules with findings that the banner names; the report holds all
TARGET_ENV = "KIMI_BASE_URL"
DEFAULT_TARGET = "embedded"
CASSETTES = "cassettes"  # the folder, where none is named
MANY_CASSETTES = 100  # fewer are played before other processes have started
MOST_PLAYERS = 4
PROFILE = OneOf("profile", PROFILES)


class Workers(click.ParamType):  # type: ignore[type-arg]  # not generic at run time in every release of click
    """A number of processes, or auto."""

    name = "workers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The words that xdist takes."""
        text = str(value)
        if text != "auto" and not (text.isdecimal() and 0 < int(text) <= 256):
            self.fail(f"{text[:80]!r} is no number of processes. Expected 1 to 256, or auto.", param, ctx)
        return text


@click.command()
@click.option(
    "--target",
    metavar="NAME|URL",
    envvar=TARGET_ENV,
    default=DEFAULT_TARGET,
    show_default=True,
    help=f"embedded, direct, api or a base URL.  [env var: {TARGET_ENV}]",
)
@click.option("--key-env", metavar="NAME", help=f"The environment variable that holds the key.  [{DEFAULT_KEY_ENV}]")
@model_option
@protocol_option
@click.option("--rule", "patterns", multiple=True, metavar="PATTERN", help="Only these rules, and the probes for them.")
@click.option("--profile", type=PROFILE, default="full", show_default=True, help="smoke: at most 60 requests.")
@click.option("--date", "night", metavar="YYYY-MM-DD", help="Of a nightly run: which constraints are due.  [today]")
@click.option("--budget", metavar="requests=N,tokens=N,cost=X", help="A hard limit on what is sent: any of the three.")
@click.option(
    "-n", "workers", type=Workers(), metavar="N|auto", help="Send from several processes.  [a long replay: up to 4]"
)
@click.option("--seed", type=click.IntRange(min=0), help="Of all random text; a new one each run by default.")
@click.option("--out", metavar="DIR", help="Where run file, journal and reports go.  [reports/<date>-<target>]")
@click.option("--strict", is_flag=True, help="Findings of level should fail as those of level must do.")
@click.option("--basis", type=BASIS, help="Only rules on this basis.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True, max=86_400),
    default=300.0,
    show_default=True,
    help="Seconds that one answer may take.",
)
@click.option("--rpm", type=click.FloatRange(min=0, min_open=True, max=1e6), help="Requests a minute, at most.")
@click.option("--replay-failure", metavar="FILE", help="Only send the requests of a failure file of fuzz again.")
@click.option(
    "--record",
    metavar="[DIR]",
    is_flag=False,
    flag_value=CASSETTES,
    help=f"Write what was sent and answered as cassettes.  [without DIR: {CASSETTES}]",
)
@click.option(
    "--replay",
    metavar="[DIR]",
    is_flag=False,
    flag_value="",
    help=f"Send nothing: take the answers from cassettes.  [without DIR: {CASSETTES}, or those of the package]",
)
@redact_option
@format_option
@click.pass_context
def run(ctx: click.Context, /, **given: Any) -> None:
    """Run the suite against a server and write a report.

    Without a target, the embedded reference server is started and tested. The key is read from an environment variable
    and stands in no file that is written.
    """
    again = given.pop("replay_failure")
    if again is not None:
        from conformance.cli.replaying import replay_file  # noqa: PLC0415 (only where it is asked for)

        names = ("target", "key_env", "timeout", "output", "redact")
        ctx.exit(replay_file(again, **{name: given[name] for name in names}))
    _offline(ctx, given)
    options = list(_options(given))
    from conformance.cli.engine import UsageFailure, drive  # noqa: PLC0415 (pytest, once the options are known good)

    try:
        result = drive(options, given["workers"])
    except UsageFailure:
        ctx.exit(Exit.USAGE)
    if given["output"] == "json":
        dump(plain_report(result))
    _banner(result, err=given["output"] == "json")
    ctx.exit(result.gate.code)


def plain_report(result: Result) -> dict[str, Any]:
    """The report as ``report.json`` has it, wire values bounded."""
    report = result.report
    return {
        **msgspec.to_builtins({"schema": report.schema, "run": report.run, "decision": report.decision}),
        "counts": report.counts,
        "verdicts": [plain(entry) for entry in report.verdicts],
        "findings": [plain(entry) for entry in report.findings],
        "out": str(result.out),
    }


def _offline(ctx: click.Context, given: dict[str, Any]) -> None:
    """Name the folder of a replay, which has no target of its own."""
    if given["replay"] is None:
        return
    if ctx.get_parameter_source("target") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--replay sends nothing, so it takes no --target.")
    from conformance.recording.library import committed  # noqa: PLC0415 (only a replay needs it)

    given["target"] = DEFAULT_TARGET
    if ctx.get_parameter_source("profile") is ParameterSource.DEFAULT:
        given["profile"] = None
    given["replay"] = given["replay"] or (CASSETTES if Path(CASSETTES).is_dir() else str(committed()))
    if given["workers"] is None and not given["patterns"]:
        given["workers"] = _players(Path(given["replay"]))


def _players(folder: Path) -> str | None:
    """How many processes play a folder of many cassettes: nothing is sent, so only the cores limit them."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    many = sum(1 for _ in folder.glob("*/*.yaml")) >= MANY_CASSETTES
    return str(min(cores, MOST_PLAYERS)) if many and cores > 1 else None


def _options(given: dict[str, Any]) -> Iterator[str]:
    """The options of the command as those of the plugin; the ones that can be wrong are checked first."""
    chosen(given["patterns"])
    try:
        if given["replay"] is None:
            resolve(given["target"], key_env=given["key_env"])
    except BadTarget as error:
        raise click.UsageError(_sentence(str(error))) from None
    for model, price in configuration().prices.items():
        numbers = [price.input, price.output, *([] if price.cached is None else [price.cached])]
        yield f"--kimi-price={model}={'/'.join(map(repr, numbers))}"
    names = {"night": "date", "patterns": "rule", "models": "model", "protocols": "protocol", "key_env": "key-env"}
    for name, value in given.items():
        option = f"--kimi-{names.get(name, name)}"
        if name in ("workers", "output") or value in (None, False, ()):
            continue
        if value is True:
            yield option
        else:
            for one in value if isinstance(value, tuple) else (value,):
                yield f"{option}={one.pattern if isinstance(one, re.Pattern) else one}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def _banner(result: Result, *, err: bool) -> None:
    """The outcome for people: what was run, what failed, where the report is."""

    def styled(text: str, **how: Any) -> str:
        return click.style(text, **how) if coloured(err=err) else text

    def say(text: str = "") -> None:
        click.echo(text, err=err)

    record, decision = result.run, result.gate
    where = f"{len(record.protocols)} of {len(Protocol)} surfaces, {len(record.models)} of {len(ALL)} models"
    say(f"{safe(record.target)}: {where}, profile {record.profile}, seed {record.seed}, {record.requests} requests")
    groups: dict[tuple[Level, str, str], list[FindingEntry]] = defaultdict(list)
    for finding in result.report.findings:  # in the order of every report
        if finding.level is not Level.INFO:
            groups[finding.level, finding.rule, finding.message].append(finding)
    for (level, rule, message), members in list(groups.items())[:SHOWN]:
        say(f"  {styled(f'{level.value:<6}', fg=COLOURS[level])}  {rule}: {safe(message)}")
        cells = sorted({f"{member.protocol.value}/{member.model}" for member in members})
        say(f"          on {', '.join(cells)}" + (f" ({len(members)} times)" if len(members) > len(cells) else ""))
        values = ", ".join(f"{name} {value}" for name, value in told(members[0], 120))
        if values:
            say(f"          {values}")
    if len(groups) > SHOWN:
        say(f"  and {len(groups) - SHOWN} more; the report has them all")
    counts = decision.counts
    outcomes = (Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.NOT_EXERCISED, Outcome.ERROR)
    say(", ".join(f"{counts[outcome.value]} {outcome.value}" for outcome in outcomes if counts[outcome.value]))
    say(f"report: {safe(str(result.out / 'report.html'), 4096)}")
    decided(decision, err=err)
