"""``cassettes``: what a folder of recorded runs holds, whether it is sound, and what in it is no longer used."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec

from conformance.cli.options import format_option
from conformance.cli.printable import dump
from conformance.client.targets import DEFAULT_KEY_ENV
from conformance.evidence import Unreadable, beside
from conformance.gate import Exit
from conformance.models import ALL
from conformance.recording.cassette import Provenance
from conformance.recording.library import DEFAULT, Library, committed
from conformance.recording.verification import Use, problems, unused
from conformance.redact import address
from conformance.reports.safe import safe
from conformance.values import Protocol


class CassetteEntry(Provenance, frozen=True, kw_only=True):
    """One cassette, as ``cassettes list --format json`` lists it."""

    path: str
    bytes: int


class ProblemEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, as ``cassettes verify --format json`` lists it."""

    path: str
    reason: str


HEADINGS = ("cassette", "exchanges from", "seed", "recorded", "bytes")


@click.group()
def cassettes() -> None:
    """List, verify or prune the cassettes of recorded runs."""


def folder_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """The folder: that of the working directory, or the one that comes with the package, where none is named."""
    return click.argument("folder", required=False, metavar=f"[DIR={DEFAULT}]")(function)


def library_of(folder: str | None) -> Library:
    """The cassettes of a folder; a usage error where there is none."""
    path = Path(folder) if folder else Path(DEFAULT) if Path(DEFAULT).is_dir() else committed()
    if not path.is_dir():
        raise click.UsageError(f"{safe(str(path))} is no folder. Cassettes are made by run --record [DIR].")
    return Library(path)


@cassettes.command("list")
@folder_argument
@format_option
def listed(folder: str | None, *, output: str) -> None:
    """List cassettes, with where they come from."""
    library = library_of(folder)
    try:
        rows = [
            CassetteEntry(
                **msgspec.structs.asdict(row), path=path.relative_to(library.folder).as_posix(), bytes=_size(path)
            )
            for path, row in library.provenances.items()
        ]
    except Unreadable as error:
        raise click.UsageError(safe(str(error))) from None
    if output == "json":
        dump(msgspec.to_builtins(rows))
        return
    table = [HEADINGS, *((row.path, _origin(row), str(row.seed), row.recorded, str(row.bytes)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        shown = (safe(cell).ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(shown).rstrip())
    click.echo(f"{len(rows)} cassettes, {sum(row.bytes for row in rows)} bytes")


@cassettes.command("verify")
@folder_argument
@format_option
@click.pass_context
def verified(ctx: click.Context, folder: str | None, *, output: str) -> None:
    """Read every cassette again: whether it parses, is used, fits the documents of today and holds no secret."""
    library = library_of(folder)
    key = os.environ.get(DEFAULT_KEY_ENV, "").strip()
    wrong = problems(library, _used(), (key,) if key else ())
    found = [ProblemEntry(path=str(one.path), reason=one.reason) for one in wrong]
    if output == "json":
        dump(msgspec.to_builtins(found))
    else:
        for one in found:
            click.echo(f"{safe(one.path)}: {safe(one.reason)}")
        count = sum(1 for _ in library.paths())
        click.echo(f"{count} cassettes, {len(found)} problem{'s' * (len(found) != 1)}")
    ctx.exit(Exit.FAILED if found else Exit.CONFORMING)


@cassettes.command("prune")
@folder_argument
@click.option("--yes", is_flag=True, help="Delete them; without it they are only named.")
def pruned(folder: str | None, *, yes: bool) -> None:
    """Delete the cassettes that no probe of the suite plays any more."""
    library = library_of(folder)
    try:
        paths = list(unused(library, _used()))
        for path in paths:
            click.echo(safe(str(path)))
            if yes:
                library.remove(path)
    except (Unreadable, OSError) as error:
        raise click.UsageError(safe(str(error))) from None
    done = "deleted" if yes else "unused; --yes deletes them" if paths else "unused"
    click.echo(f"{len(paths)} {done}")


def _used() -> frozenset[Use]:
    """Every probe of the suite with the surfaces and models that it covers."""
    from conformance.selftest.probes import probes  # noqa: PLC0415 (the suite, which listing does not need)

    return frozenset(
        (probe.name, protocol, model)
        for probe in probes()
        for protocol in Protocol
        for model in ALL
        if probe.covers(protocol, model)
    )


def _origin(row: Provenance) -> str:
    target = address(row.target)
    return f"{target} (reference server)" if row.reference else target


def _size(path: Path) -> int:
    near = beside.path_of(path)
    return path.stat().st_size + (near.stat().st_size if near.is_file() else 0)
