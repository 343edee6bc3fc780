"""``--replay-failure``: exactly the requests of a failure file, sent again and judged."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click
import msgspec

from conformance.cli.printable import dump, plain, printed
from conformance.client import BadTarget, Limits, Player, preflight, resolve, serving
from conformance.fuzzing.bench import Bench
from conformance.fuzzing.replay import Replayed, replay
from conformance.gate import Exit
from conformance.generators.failure import BrokenFailureFile, Failure, read_failure
from conformance.plugin.hiding import hidden_finding
from conformance.probes.cell import Cell
from conformance.redact import Secrets
from conformance.reports.safe import safe
from conformance.values import Exchange, Finding, Protocol


class ReplayDecision(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the failure is still there, as an exit code and in words."""

    code: int
    reason: str


class ReplayDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``--replay-failure FILE --format json`` prints."""

    schema: str = "urn:kimi-conformance:replay-failure:1"
    rule: str
    protocol: Protocol
    model: str
    decision: ReplayDecision
    finding: Finding | None  # of the rule, where it still fails


def replay_file(
    path: str, *, target: str, key_env: str | None, timeout: float, output: str, redact: Iterable[re.Pattern[str]]
) -> int:
    """Replay a failure file: exit 1 if it still fails, 0 if it does not, 2 for a broken file, 3 where nobody can tell.

    What is said of it is without the key and without what ``redact`` matches. Raises ``click.UsageError`` for a broken
    file or target.
    """
    try:
        failure = read_failure(Path(path))
    except BrokenFailureFile as error:
        raise click.UsageError(f"Cannot read {safe(path)}: {error}.") from None
    try:
        found = resolve(target, key_env=key_env)
    except BadTarget as error:
        raise click.UsageError(f"{error}.") from None
    taken: list[Exchange] = []
    with serving(found) as served:
        unverified = preflight(served, (failure.protocol,), failure.model)
        if unverified is None:
            limits = Limits(timeout=min(120.0, timeout), total_timeout=timeout)
            player = Player(target=served, record=taken.append, limits=limits)
            cell = Cell(protocol=failure.protocol, model=failure.model, seed=failure.seed)
            try:
                came = replay(failure, Bench(player=player, taken=taken, cell=cell))
            finally:
                player.close()
        else:
            came = Replayed(code=Exit.NOT_VERIFIED, words=unverified)
    _tell(failure, _hidden(came, Secrets((found.key,), redact)), output)
    return came.code


def _hidden(came: Replayed, secrets: Secrets) -> Replayed:
    finding = None if came.finding is None else hidden_finding(came.finding, secrets)
    return replace(came, words=secrets.text(came.words), finding=finding)


def _tell(failure: Failure, came: Replayed, output: str) -> None:
    where = f"{failure.protocol.value} {failure.model}"
    if output == "json":
        document = ReplayDocument(
            rule=failure.rule,
            protocol=failure.protocol,
            model=failure.model,
            decision=ReplayDecision(code=int(came.code), reason=came.words),
            finding=came.finding,
        )
        dump(printed(document))
        return
    click.echo(f"{safe(failure.rule)} on {where}: {safe(came.words)}")
    if came.finding is not None:
        click.echo(f"  {safe(came.finding.message)}")
        click.echo(f"  expected {_value(came.finding.expected)}, actual {_value(came.finding.actual)}")


def _value(value: object) -> str:
    return "nothing" if value is None else safe(plain(value), 200)
