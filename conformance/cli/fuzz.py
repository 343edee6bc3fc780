"""``fuzz``: generated requests and conversations, judged; what fails is shrunk, shown and can be sent again."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from conformance.cli.banner import decided
from conformance.cli.options import format_option, model_option, protocol_option
from conformance.cli.patterns import redact_option
from conformance.cli.printable import coloured, dump, printed
from conformance.client import BadTarget, Limits, Player, preflight, resolve, serving
from conformance.client.targets import DEFAULT_KEY_ENV, Target
from conformance.gate import Gate, gate
from conformance.models import ALL
from conformance.probes.cell import Cell
from conformance.redact import Secrets
from conformance.reports.document import Decision, decision_entry
from conformance.reports.safe import safe
from conformance.values import Basis, Exchange, Level, Protocol

if TYPE_CHECKING:
    from conformance.fuzzing import Fuzzed, Order
    from conformance.generators.failure import Failure

EXAMPLES, LIVE_EXAMPLES = 2000, 200  # the embedded server costs nothing
LIVE_TOKENS = 64  # output tokens that a generated request to another target asks for at most
PORT = 8788  # where serve listens by default
LIVE_SHRINK = 60  # calls that one shrinking may send there


class FailureEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One failure; its requests stand in the failure file."""

    rule: str
    level: Level
    basis: Basis
    protocol: Protocol
    model: str
    message: str
    pointer: str
    expected: Any
    actual: Any
    kind: str  # valid, broken, hostile or conversation
    also: tuple[str, ...]  # other rules that the same requests break
    examples: int  # drawn until it showed
    tries: int  # of shrinking
    requests: int
    edits_to_nearest: int | None  # from the nearest accepted request; None where there is none
    file: str


_REDUCED = frozenset({"requests", "edits_to_nearest", "file"})  # fields that a failure has otherwise, or not at all


class FuzzCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How much was drawn, sent and found."""

    examples: int
    requests: int
    failures: int


class FuzzDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``fuzz --format json`` prints."""

    schema: str = "urn:kimi-conformance:fuzz:1"
    target: str
    seed: int
    counts: FuzzCounts
    partial: str | None  # why it ended early
    decision: Decision
    failures: tuple[FailureEntry, ...]


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
    "--examples",
    type=click.IntRange(1, 10_000_000),
    help=f"How many requests are drawn in all.  [{EXAMPLES}; {LIVE_EXAMPLES} where a target may cost]",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63), help="The same seed draws the same requests; default: a new one."
)
@click.option(
    "--max-calls",
    type=click.IntRange(1, 10_000_000),
    help="A hard limit on requests sent, shrinking included.  [twice --examples where a target may cost]",
)
@click.option("--out", metavar="DIR", help="Where failure files go.  [reports/fuzz-<date>-<seed>, made when needed]")
@click.option("--strict", is_flag=True, help="Findings of level should fail as those of level must do.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True, max=86_400),
    default=300.0,
    show_default=True,
    help="Seconds that one answer may take.",
)
@click.option("--rpm", type=click.FloatRange(min=0, min_open=True, max=1e6), help="Requests a minute, at most.")
@click.option("--replay-failure", metavar="FILE", help="Send the requests of a failure file again, and judge them.")
@redact_option
@format_option
def fuzz(**given: Any) -> int:
    """Draw requests and conversations, send them, judge the answers, and shrink what fails.

    Drawn are valid requests, requests that break exactly one constraint, hostile ones, and whole conversations. A
    failure is shown as the smallest request that still fails, with the nearest accepted one, and written to a file
    that --replay-failure sends again: exit 1 if it still fails, 0 if not, 3 where that cannot be told.
    """
    if given["replay_failure"] is not None:
        from conformance.cli.replaying import replay_file  # noqa: PLC0415 (only where it is asked for)

        names = ("target", "key_env", "timeout", "output", "redact")
        return replay_file(given["replay_failure"], **{name: given[name] for name in names})
    try:
        target = resolve(given["target"], key_env=given["key_env"])
    except BadTarget as error:
        raise click.UsageError(f"{error}.") from None
    from conformance.cli.hiding import hide  # noqa: PLC0415 (hypothesis with it, once the options are known good)
    from conformance.fuzzing import Fuzzed, Order  # noqa: PLC0415 (likewise)

    examples = given["examples"] or (EXAMPLES if target.embedded else LIVE_EXAMPLES)
    seed = secrets.randbelow(2**32) if given["seed"] is None else given["seed"]
    order = Order(examples=examples, seed=seed)
    if not target.embedded:
        order = Order(examples=examples, seed=seed, most_tokens=LIVE_TOKENS, shrink_calls=LIVE_SHRINK)
    most_calls = given["max_calls"] or (None if target.embedded else 2 * examples)
    protocols = [Protocol(name) for name in given["protocols"]] or list(Protocol)
    cells = [
        Cell(protocol=protocol, model=model, seed=seed)
        for protocol in Protocol
        for model in ALL
        if protocol in protocols and (not given["models"] or model in given["models"])
    ]
    limits = Limits(timeout=min(120.0, given["timeout"]), total_timeout=given["timeout"], rpm=given["rpm"])
    with serving(target) as served:
        hidden = Secrets((served.key,), given["redact"])
        unverified = preflight(served, protocols, cells[0].model)
        unverified = None if unverified is None else hidden.text(unverified)
        done = Fuzzed() if unverified else _fuzzed(served, cells, order, limits, most_calls)
        hide(done, hidden)
        decision = gate(done.verdicts, strict=given["strict"], unverified=unverified, partial=done.partial)
        out = Path(given["out"] or f"reports/fuzz-{datetime.now(UTC):%Y-%m-%d}-{seed}")
        files = _written(done, out)
        _tell(done, decision, files, order, served, output=given["output"])
    return decision.code


def _fuzzed(target: Target, cells: Sequence[Cell], order: Order, limits: Limits, most_calls: int | None) -> Fuzzed:
    from conformance.fuzzing import Bench  # noqa: PLC0415 (see above)
    from conformance.fuzzing import fuzz as hunt  # noqa: PLC0415 (likewise)

    taken: list[Exchange] = []
    player = Player(target=target, record=taken.append, limits=limits)
    benches = [Bench(player=player, taken=taken, cell=cell, most_calls=most_calls) for cell in cells]
    try:
        return hunt(benches, order, report=_progress)
    finally:
        player.close()
        _progress("")


def _progress(words: str) -> None:
    """One line on a terminal that says what is drawn; nothing elsewhere."""
    if coloured(err=True):
        click.echo(f"\r\x1b[K{words}", nl=False, err=True)


def _written(done: Fuzzed, out: Path) -> list[str]:
    from conformance.generators.failure import write_failure  # noqa: PLC0415 (see above)

    files = []
    for number, failure in enumerate(done.failures, 1):
        path = out / f"failure-{number}-{failure.rule}-{failure.protocol.value}.json"
        try:
            write_failure(path, failure)
        except OSError as error:
            raise click.UsageError(f"--out: {safe(str(path))} cannot be written: {error.strerror}.") from None
        files.append(str(path))
    return files


def _tell(done: Fuzzed, decision: Gate, files: list[str], order: Order, target: Target, *, output: str) -> None:
    from conformance.reports.failure import lines  # noqa: PLC0415 (see above)

    if output == "json":
        dump(printed(_document(done, decision, files, order, target)))
    else:
        where = f"http://127.0.0.1:{PORT}" if target.embedded else target.base_urls[0]
        for failure, file in zip(done.failures, files, strict=True):
            for line in lines(failure, base_url=where, file=file):
                click.echo(line)
            click.echo()
        if files and target.embedded:
            click.echo(f"kimi-conformance serve answers at {where} (key: {target.key})")
    counts = f"{done.examples} examples, {done.requests} requests, seed {order.seed}"
    click.echo(counts, err=output == "json")
    decided(decision, err=output == "json")


def _document(done: Fuzzed, decision: Gate, files: list[str], order: Order, target: Target) -> FuzzDocument:
    return FuzzDocument(
        target=target.name,
        seed=order.seed,
        counts=FuzzCounts(examples=done.examples, requests=done.requests, failures=len(done.failures)),
        partial=done.partial,
        decision=decision_entry(decision),
        failures=tuple(_entry(failure, file) for failure, file in zip(done.failures, files, strict=True)),
    )


def _entry(failure: Failure, file: str) -> FailureEntry:
    return FailureEntry(
        **{name: getattr(failure, name) for name in FailureEntry.__struct_fields__ if name not in _REDUCED},
        requests=len(failure.requests),
        edits_to_nearest=None if failure.nearest is None else len(failure.nearest.edits),
        file=file,
    )
