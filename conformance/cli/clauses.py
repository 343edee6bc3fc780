"""``clauses``: how much of what the documents say is tested, and what is left out for which reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import click
import msgspec

from conformance import specs
from conformance.cli.options import OneOf, format_option
from conformance.cli.printable import dump
from conformance.cli.tables import table
from conformance.specs import Clause

DOCUMENTS = tuple(row.name for row in specs.sources())
HEADINGS = ("document", "clauses", "covered", "excluded", "uncovered")


@click.command()
@click.option(
    "--document",
    "names",
    type=OneOf("document", DOCUMENTS),
    multiple=True,
    help="Only this document; repeatable.",
)
@format_option
@click.option("--uncovered", is_flag=True, help="Only clauses with neither a rule nor a reason.")
def clauses(names: tuple[str, ...], *, output: str, uncovered: bool) -> None:
    """Show, document by document, how many clauses the rules test.

    A clause is a sentence, a keyword, a status, an example or a field of one. Each names the rules that test it, or is
    excluded for a reason.
    """
    found = [clause for name in DOCUMENTS if not names or name in names for clause in specs.clauses(name)]
    if uncovered:
        found = [clause for clause in found if _state(clause) == "uncovered"]
    if output == "json":
        dump(msgspec.to_builtins([entry(clause) for clause in found]))
    elif uncovered:
        _list(found)
    else:
        _coverage(found)


class ClauseEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One clause, as ``clauses --format json`` lists it; uncovered where there is neither a rule nor a reason."""

    document: str
    place: str
    line: int
    text: str
    rules: tuple[str, ...]
    excluded: str | None  # the reason why no rule tests it


def entry(clause: Clause) -> ClauseEntry:
    """One clause as JSON has it."""
    return ClauseEntry(**{name: getattr(clause, name) for name in ClauseEntry.__struct_fields__})


def _state(clause: Clause) -> str:
    if clause.rules:
        return "covered"
    return "uncovered" if clause.excluded is None else "excluded"


def _list(found: Iterable[Clause]) -> None:
    for clause in found:
        click.echo(f"{clause.document}:{clause.line}  {clause.place}  {clause.text}")


def _coverage(found: Sequence[Clause]) -> None:
    states = Counter((clause.document, _state(clause)) for clause in found)
    states.update(("all", _state(clause)) for clause in found)
    lines: list[tuple[str, ...]] = [HEADINGS]
    for name in (*dict.fromkeys(clause.document for clause in found), "all"):
        counts = [states[name, state] for state in HEADINGS[2:]]
        lines.append((name, str(sum(counts)), *map(str, counts)))
    for line in table(lines):
        click.echo(line)
    reasons = Counter(specs.exclusion(clause.excluded) for clause in found if clause.excluded is not None)
    click.echo("\nexcluded because of")
    for reason, count in reasons.most_common():
        click.echo(f"{count:>6}  {reason}")
