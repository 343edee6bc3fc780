"""``check``: judge recorded files, each by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from msgspec.structs import replace

from conformance.cli.checked import as_json, as_text
from conformance.cli.folding import fold
from conformance.cli.options import BASIS, format_option, model_option, protocol_option
from conformance.cli.selection import chosen
from conformance.evidence import Recording, Unreadable, read
from conformance.evidence.files import STDIN, is_run_file
from conformance.gate import Exit, gate
from conformance.judge import judge
from conformance.models import ALL
from conformance.reports.safe import safe
from conformance.rules import Rule
from conformance.values import Basis, Exchange, Protocol, Verdict

SUFFIXES = (".har", ".jsonl")
NOTHING = "no exchange of the three endpoints in the evidence"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the options leave to be judged."""

    rules: tuple[Rule, ...]
    protocols: tuple[Protocol, ...]
    models: tuple[str, ...]
    basis: Basis | None

    def covers(self, exchange: Exchange) -> bool:
        """Whether an exchange counts for a cell that was asked for."""
        return exchange.protocol in self.protocols and exchange.model in self.models


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@format_option
@click.option("--together", is_flag=True, help="The files are one recording: pairs and conversations may span them.")
@click.option(
    "--rule", "patterns", multiple=True, metavar="PATTERN", help="Only these rules; * and ** match; repeatable."
)
@protocol_option
@model_option
@click.option(
    "--basis", type=BASIS, help="Only rules on this basis: documented leaves out what the format alone fixes."
)
@click.option("--strict", is_flag=True, help="Findings of level should fail as those of level must do.")
@click.pass_context
def check(
    ctx: click.Context,
    files: tuple[str, ...],
    *,
    output: str,
    together: bool,
    patterns: tuple[str, ...],
    protocols: tuple[str, ...],
    models: tuple[str, ...],
    basis: str | None,
    strict: bool,
) -> None:
    """Judge recorded exchanges: HAR 1.2 files and journals.

    A directory stands for its .har and .jsonl files, - for standard input. Each file is judged by itself. One that
    cannot be read is named, the others are judged, and the exit code is 2.
    """
    wanted = Wanted(
        rules=chosen(patterns),
        protocols=tuple(Protocol(name) for name in protocols) or tuple(Protocol),
        models=models or ALL,
        basis=Basis(basis) if basis else None,
    )
    recordings, unreadable = _read(files)
    verdicts = fold(_judged(recordings, wanted, together=together))
    judged = sum(map(wanted.covers, (e for recording in recordings for e in recording.exchanges)))
    decision = gate(
        verdicts,
        strict=strict,
        basis=wanted.basis,
        unverified=None if judged else NOTHING,
        partial=f"{len(unreadable)} of the files could not be read" if unreadable else None,
    )
    if output == "json":
        as_json(recordings, unreadable, verdicts, decision)
    else:
        as_text(recordings, verdicts, decision)
    for error in unreadable:
        click.echo(f"cannot read {safe(error.path)}: {error.reason}", err=True)
    ctx.exit(decision.code if decision.code == Exit.INTERNAL else Exit.USAGE if unreadable else decision.code)


def _judged(recordings: Sequence[Recording], wanted: Wanted, *, together: bool) -> Iterator[Iterable[Verdict]]:
    sets: list[list[Exchange]] = [list(recording.exchanges) for recording in recordings]
    if together and len(sets) > 1:
        sets = [[_renamed(exchange, place) for place, part in enumerate(sets, 1) for exchange in part]]
    for exchanges in sets or [[]]:
        verdicts = judge(exchanges, rules=wanted.rules, protocols=wanted.protocols, models=wanted.models).verdicts
        yield [v for v in verdicts if wanted.basis is None or _basis(v, wanted.rules) is wanted.basis]


def _basis(verdict: Verdict, rules: Iterable[Rule]) -> Basis:
    return next(rule for rule in rules if rule.id == verdict.rule).basis_on(verdict.protocol)


def _renamed(exchange: Exchange, place: int) -> Exchange:
    """Ids are unique within a file only: ``2:7`` is the seventh of the second file."""
    parent = None if exchange.parent is None else f"{place}:{exchange.parent}"
    return replace(exchange, id=f"{place}:{exchange.id}", parent=parent)


def _read(names: Iterable[str]) -> tuple[list[Recording], list[Unreadable]]:
    recordings: list[Recording] = []
    unreadable: list[Unreadable] = []
    seen: set[Path | str] = set()
    for name in names:
        for path in _expanded(name, unreadable):
            identity = path if path == STDIN else Path(path).resolve()
            if identity in seen:
                click.echo(f"{safe(path)} is given twice and judged once", err=True)
                continue
            seen.add(identity)
            try:
                recordings.append(read(path))
            except Unreadable as error:
                unreadable.append(error)
    return recordings, unreadable


def _expanded(name: str, unreadable: list[Unreadable]) -> list[str]:
    path = Path(name)
    try:
        if name == STDIN or not path.is_dir():
            return [name]
        inside = sorted(
            str(entry)
            for entry in path.iterdir()
            if entry.suffix.lower() in SUFFIXES and entry.is_file() and not is_run_file(entry)
        )
    except (OSError, ValueError) as error:
        unreadable.append(Unreadable(name, getattr(error, "strerror", None) or "no such file"))
        return []
    if not inside:
        unreadable.append(Unreadable(name, "a directory without .har or .jsonl files"))
    return inside
