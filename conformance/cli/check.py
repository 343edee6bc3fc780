"""``check``: judge recorded files, each by itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import click

from conformance.cli.check_files import Source, expanded, opened
from conformance.cli.check_verdicts import File, Judged, Wanted
from conformance.cli.checked import as_json, closing, sections
from conformance.cli.configuration import configuration
from conformance.cli.options import BASIS, MODEL, format_option, model_option, protocol_option
from conformance.cli.patterns import redact_option
from conformance.cli.selection import chosen
from conformance.client.targets import DEFAULT_KEY_ENV
from conformance.evidence import BadMap, FieldMap, Journal, Large, Reading, Unreadable, field_map
from conformance.evidence.placeholders import Placeholders
from conformance.gate import Exit, gate
from conformance.models import ALL, renamed
from conformance.redact import Secrets
from conformance.reports.safe import safe
from conformance.values import Basis, Exchange, Protocol

NOTHING = "no exchange of the three endpoints in the evidence"


class Mapping(click.ParamType):  # type: ignore[type-arg]  # not generic at run time in every release of click
    """``PART=PATH,…``, as in ``request=req.body,response=res.body``."""

    name = "map"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> FieldMap:
        """The map of fields."""
        try:
            return field_map([str(value)])
        except BadMap as error:
            self.fail(f"{error}.", param, ctx)


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
@click.option(
    "--map",
    "fields",
    type=Mapping(),
    default=None,
    metavar="PART=PATH,…",
    help="Where JSONL lines keep request, response, status, url, method, headers, request_headers, started, ms.",
)
@click.option("--request", metavar="FILE", help="The request that the output of curl -i answers: its command or body.")
@click.option(
    "--assume-model", type=MODEL, help="The model that any other name stands for. [aliases] name single ones."
)
@click.option("--info", is_flag=True, help="List findings of level info in the text too; they are always counted.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Name clean files in the text too; in JSON, give verdicts of idle rules too."
)
@redact_option
@click.option("--redact-content", is_flag=True, help="Replace prompts and answers by words of the same length.")
@click.option("--journal", "journal", metavar="FILE", help="Write what was judged, redacted, as a journal.")
@click.pass_context
def check(ctx: click.Context, /, **given: Any) -> None:
    """Judge recorded exchanges, whatever their format, which the content tells.

    HAR 1.2, cassettes of vcrpy and go-vcr (YAML, JSON), journals, JSONL logs, and the output of curl -i. Calls of
    other endpoints are counted and skipped.

    A directory stands for the .har and .jsonl files and the cassettes in it and below (links to folders are not
    followed), - for standard input. Each file is judged by itself. One that cannot be read is named, the others are
    judged, and the exit code is 2. One that breaks off is judged up to there, and is never conforming.

    A log of more than 32 MiB, or a journal of more than 256 MiB (or of more than 32 MiB and 16,000 lines), is judged in
    windows, so that it needs no more memory than a small one. Pairs and conversations are then found among exchanges
    that open alike; what only others show (ids that repeat, a prompt lengthened at its beginning) may be missed.
    """
    with renamed(configuration().aliases, given["assume_model"]):
        code = _check(given)
    ctx.exit(code)


def _check(given: dict[str, Any]) -> int:
    wanted = Wanted(
        rules=chosen(given["patterns"]),
        protocols=tuple(Protocol(name) for name in given["protocols"]) or tuple(Protocol),
        models=given["models"] or ALL,
        basis=Basis(given["basis"]) if given["basis"] else None,
    )
    key = os.environ.get(DEFAULT_KEY_ENV, "")
    secrets = Secrets((key,), given["redact"])
    hidden = Placeholders() if given["redact_content"] else None

    def clean(exchanges: Iterable[Exchange]) -> list[Exchange]:
        found = [secrets.exchange(exchange) for exchange in exchanges]
        if hidden is None:
            return found
        hidden.learn(found)
        return [hidden.exchange(exchange) for exchange in found]

    paths, unreadable = expanded(given["files"])
    if given["journal"] and any(_same(given["journal"], path) for path in paths):
        raise click.UsageError(f"--journal {safe(given['journal'])} would overwrite a file that is judged.")
    reading = Reading(fields=given["fields"] or FieldMap(), request=given["request"], clean=secrets.exchange)
    with _Kept(given["journal"], clean) as kept:
        judged = Judged(wanted, clean, secrets, kept.take)
        verdicts = judged.verdicts(opened(paths, reading, unreadable), together=given["together"])
    sources = judged.files
    unreadable = [Unreadable(each.path, secrets.text(each.reason)) for each in (*unreadable, *judged.unreadable)]
    if given["request"] and not unreadable and all(source.format != "curl" for source in sources):
        raise click.UsageError("--request is for the output of curl -i, and no file is one.")
    decision = gate(
        verdicts,
        strict=given["strict"],
        basis=wanted.basis,
        unverified=None if judged.counted else NOTHING,
        partial=_partial(sources, unreadable),
    )
    if given["output"] == "json":
        as_json(judged, unreadable, verdicts, decision, verbose=given["verbose"])
        _warn(sources, unreadable)
    else:
        sections(judged, verdicts, info=given["info"], verbose=given["verbose"])
        _warn(sources, unreadable)
        closing(judged, unreadable, verdicts, decision, info=given["info"])
    return decision.code if decision.code == Exit.INTERNAL or not unreadable else Exit.USAGE


def _warn(sources: Sequence[File], unreadable: Sequence[Unreadable]) -> None:
    """Name what was not read, or not to its end, on standard error."""
    for source in sources:
        if source.cut is not None:
            click.echo(f"judged in part {safe(source.path)}: {safe(source.cut)}", err=True)
    for error in unreadable:
        click.echo(f"cannot read {safe(error.path)}: {safe(error.reason)}", err=True)


def _same(one: str, two: str) -> bool:
    try:
        return Path(one).exists() and Path(two).exists() and Path(one).samefile(two)
    except (OSError, ValueError):
        return False


class _Kept:
    """The journal of what was judged, where one was asked for, and nothing else; ``clean`` hides what it may not hold.

    Raises ``click.UsageError`` where it cannot be written.
    """

    def __init__(self, name: str | None, clean: Callable[[Iterable[Exchange]], list[Exchange]]) -> None:
        self._name, self._clean = name, clean
        self._journal: Journal | None = None

    def __enter__(self) -> Self:
        if self._name is not None:
            with self._told():
                self._journal = Journal(self._name)
        return self

    def __exit__(self, *_: object) -> None:
        if self._journal is not None:
            self._journal.close()

    def take(self, source: Source) -> None:
        """Write the exchanges of a source, in the order of its file."""
        if self._journal is None:
            return
        parts = ([one] for one in source.exchanges()) if isinstance(source, Large) else [source.exchanges]
        for part in parts:
            found = self._clean(part)
            with self._told():
                self._journal.extend(found)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise click.UsageError(f"{safe(self._name)} cannot be written: {reason}.") from None


def _partial(sources: Sequence[File], unreadable: Sequence[Unreadable]) -> str | None:
    """Why not all of the evidence was judged."""
    reasons = []
    if unreadable:
        reasons.append(f"{len(unreadable)} of the files could not be read")
    if cut := sum(source.cut is not None for source in sources):
        reasons.append(f"{cut} of the files {'was' if cut == 1 else 'were'} judged in part")
    return ", ".join(reasons) or None
