"""``plan``: what ``run`` would send and what it may cost; nothing is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import click
import msgspec

from conformance.cli.configuration import configuration
from conformance.cli.options import OneOf, format_option, model_option, protocol_option
from conformance.cli.printable import dump
from conformance.cli.selection import chosen
from conformance.cli.tables import table
from conformance.models import ALL
from conformance.planning.plan import Plan, PlannedCell
from conformance.planning.plan import plan as planned
from conformance.planning.selection import PROFILES
from conformance.reports.words import counted
from conformance.values import Protocol

PROFILE = OneOf("profile", PROFILES)
TARGETS = {"embedded": (2, True), "direct": (2, False), "api": (2, False), "other": (1, False)}  # addresses, rate limit
TARGET = OneOf(
    "target", tuple(TARGETS), read=lambda text: text if text in TARGETS else "other" if "://" in text else None
)


@click.command()
@click.option("--target", type=TARGET, default="embedded", show_default=True, help="What run would be given, or a URL.")
@model_option
@protocol_option
@click.option("--rule", "patterns", multiple=True, metavar="PATTERN", help="Only these rules, and the probes for them.")
@click.option("--profile", type=PROFILE, default="full", show_default=True, help="As for run.")
@click.option(
    "--date", "night", type=click.DateTime(["%Y-%m-%d"]), metavar="YYYY-MM-DD", help="Of a nightly run. [today]"
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="As for run; it changes no count.")
@format_option
def plan(**given: Any) -> None:
    """Say what run would send: requests, tokens, cost, and what they exercise. Sends nothing.

    The scripts are played against the reference server inside this process. The worst case counts the output limit of
    each request that is not sure to be refused; what a run asks again, after a failure that the model's choice may
    have brought about, comes on top. Costs need [prices] in kimi-conformance.toml.
    """
    addresses, limited = TARGETS[given["target"]]
    protocols, models, patterns = given["protocols"], given["models"], given["patterns"]
    found = planned(
        given["profile"],
        protocols=[protocol for protocol in Protocol if not protocols or protocol.value in protocols],
        models=[model for model in ALL if not models or model in models],
        rules=[rule.id for rule in chosen(patterns)] if patterns else (),
        night=(given["night"] or datetime.now(UTC)).date(),
        prices=configuration().prices,
        addresses=addresses,
        limited=limited,
        seed=given["seed"],
    )
    if given["output"] == "json":
        dump(msgspec.to_builtins(found))
    else:
        _show(found)


SENT = ("sends", "requests", "may cost", "tokens at most", "expected")
SHOWN = ("exercises and costs", "must rules", "constraints", "cost")


def _show(found: Plan) -> None:
    """Two tables, each within 80 columns: what is sent, and what it exercises and costs."""
    click.echo(f"profile {found.profile}, {found.date}: nothing is sent")
    for rows in (
        (SENT, *map(_sent, found.cells), _all_sent(found)),
        (SHOWN, *map(_shown, found.cells), _all_shown(found)),
    ):
        click.echo()
        for line in table(rows):
            click.echo(line)
    if found.not_exercised:
        click.echo(f"\n{counted(len(found.not_exercised), 'must rule')} of the cells above are not exercised")


def _sent(cell: PlannedCell) -> tuple[str, ...]:
    return _name(cell), *_amounts(msgspec.structs.asdict(cell.amount))


def _all_sent(found: Plan) -> tuple[str, ...]:
    return f"all, with {found.look} to look", *_amounts(found.totals)


def _amounts(amount: Mapping[str, Any]) -> Iterator[str]:
    names = ("requests", "able_to_cost", "output_tokens_worst_case", "output_tokens_expected")
    return (f"{amount[name]:,}" for name in names)


def _shown(cell: PlannedCell) -> tuple[str, ...]:
    shares = (f"{share.exercised}/{share.total}" for share in (cell.must_rules, cell.constraints))
    return _name(cell), *shares, _cost(cell.amount.cost, cell.amount.cost_expected)


def _all_shown(found: Plan) -> tuple[str, ...]:
    totals = found.totals
    shares = (f"{totals[f'{name}_exercised']}/{totals[name]}" for name in ("must_rules", "constraints"))
    return "all", *shares, _cost(totals["cost"], totals["cost_expected"])


def _name(cell: PlannedCell) -> str:
    return f"{cell.protocol.value}/{cell.model}"


def _cost(worst: Any, expected: Any) -> str:
    return "no price" if worst is None or expected is None else f"{expected:.4f} to {worst:.4f}"
