"""``plan``: what ``run`` would send and what it may cost; nothing is sent."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click
import msgspec

from conformance.cli.configuration import configuration
from conformance.cli.options import OneOf, format_option, model_option, protocol_option
from conformance.cli.printable import dump
from conformance.cli.selection import chosen
from conformance.models import ALL
from conformance.planning.plan import Amount, Plan, PlannedCell
from conformance.planning.plan import plan as planned
from conformance.planning.selection import PROFILES
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


def _show(found: Plan) -> None:
    click.echo(f"profile {found.profile}, {found.date}: nothing is sent")
    heads = ("surface/model", "requests", "may cost", "tokens at most", "expected", "must rules", "constraints", "cost")
    rows = [_row(cell) for cell in found.cells]
    totals = found.totals
    rows.append(
        (
            f"all, with {found.look} to look",
            str(totals["requests"]),
            str(totals["able_to_cost"]),
            f"{totals['output_tokens_worst_case']:,}",
            f"{totals['output_tokens_expected']:,}",
            f"{totals['must_rules_exercised']}/{totals['must_rules']}",
            f"{totals['constraints_exercised']}/{totals['constraints']}",
            _cost(totals["cost"], totals["cost_expected"]),
        )
    )
    widths = [max(len(row[place]) for row in (heads, *rows)) for place in range(len(heads))]
    for row in (heads, *rows):
        first, *rest = (
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        click.echo("  ".join((first, *rest)).rstrip())
    if found.not_exercised:
        click.echo(f"{len(found.not_exercised)} must rules of the cells above are not exercised")


def _row(cell: PlannedCell) -> tuple[str, ...]:
    amount: Amount = cell.amount
    return (
        f"{cell.protocol.value}/{cell.model}",
        str(amount.requests),
        str(amount.able_to_cost),
        f"{amount.output_tokens_worst_case:,}",
        f"{amount.output_tokens_expected:,}",
        f"{cell.must_rules.exercised}/{cell.must_rules.total}",
        f"{cell.constraints.exercised}/{cell.constraints.total}",
        _cost(amount.cost, amount.cost_expected),
    )


def _cost(worst: Any, expected: Any) -> str:
    return "no price" if worst is None or expected is None else f"{expected:.4f} to {worst:.4f}"
