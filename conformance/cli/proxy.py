"""``proxy``: judge real traffic on its way to an upstream."""

from __future__ import annotations

import logging
import os
import signal
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from conformance.cli.configuration import configuration
from conformance.cli.options import BASIS, MODEL, format_option
from conformance.cli.patterns import redact_option
from conformance.cli.proxy_lines import Lines
from conformance.cli.selection import chosen
from conformance.client.targets import DEFAULT_KEY_ENV
from conformance.models import renamed
from conformance.proxy import BadAddress, Desk, Listen, Orders, Upstream, listen, running, upstream
from conformance.proxy.addresses import DEFAULT_LISTEN
from conformance.reports.safe import safe
from conformance.values import Basis

JOURNAL = "journal.jsonl"
JUDGING_SECONDS = 120.0  # for what still waits when the proxy stops


@click.command()
@click.option("--upstream", "target", required=True, metavar="URL", help="The base URL that all is forwarded to.")
@click.option("--listen", "address", default=DEFAULT_LISTEN, show_default=True, help="HOST:PORT; port 0: any free one.")
@click.option("--allow-remote", is_flag=True, help="Listen on an address that other machines can reach.")
@click.option("--curl", is_flag=True, help="Print a curl line below the findings of an exchange.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first finding of level must.")
@click.option(
    "--rule", "patterns", multiple=True, metavar="PATTERN", help="Only these rules; * and ** match; repeatable."
)
@click.option("--basis", type=BASIS, help="Only rules on this basis.")
@click.option("--strict", is_flag=True, help="Findings of level should fail as those of level must do.")
@click.option("--assume-model", type=MODEL, help="The model that any other name stands for.")
@click.option("--out", metavar="DIR", help="Where journal and reports go.  [reports/<time>-proxy]")
@redact_option
@format_option
@click.pass_context
def proxy(ctx: click.Context, /, **given: Any) -> None:
    """Forward to an upstream, and judge every exchange of the three endpoints beside the path.

    Point the base URL of an SDK, an agent or a tool at the proxy: it works as before, and each violation is printed as
    it is found. Ctrl-C stops; then the report is written, over everything that passed.

    Bytes pass as they are and when they come. Keys pass in memory and are written nowhere.
    """
    try:
        target, place = upstream(given["target"]), listen(given["address"])
    except BadAddress as error:
        raise click.UsageError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
    _guard(place, allowed=given["allow_remote"])
    out = Path(given["out"] or f"reports/{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}-proxy")
    rules = chosen(given["patterns"])
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / JOURNAL).touch()
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{safe(str(out))} cannot be written: {getattr(error, 'strerror', error)}.") from None
    aliases = dict(configuration().aliases)
    orders = Orders(
        journal=str(out / JOURNAL),
        keys=tuple(filter(None, [os.environ.get(DEFAULT_KEY_ENV, "").strip()])),
        redact=tuple(pattern.pattern for pattern in given["redact"]),
        rules=tuple(rule.id for rule in rules) if given["patterns"] else (),
        basis=Basis(given["basis"]) if given["basis"] else None,
        aliases=aliases,
        assumed=given["assume_model"],
        curl=given["curl"],
    )
    started = datetime.now(UTC).isoformat(timespec="seconds")
    lines = Lines(fail_fast=given["fail_fast"], err=given["output"] == "json")
    desk = _forward(target, place, orders, lines)
    from conformance.cli.proxy_report import conclude  # noqa: PLC0415 (the rules, once nobody waits for bytes)

    with renamed(aliases, given["assume_model"]):
        ctx.exit(
            conclude(
                desk,
                target,
                out,
                JOURNAL,
                started=started,
                orders=orders,
                strict=given["strict"],
                as_json=given["output"] == "json",
                stopped=lines.stopped,
            )
        )


def _guard(place: Listen, *, allowed: bool) -> None:
    """Refuse to be reached from elsewhere unless that was asked for."""
    if place.loopback:
        return
    if not allowed:
        raise click.UsageError(
            f"{safe(place.host)} can be reached from other machines: whoever reaches it can use the upstream through "
            "it. Listen on 127.0.0.1, or add --allow-remote."
        )
    click.echo(f"warning: other machines can reach {safe(place.host)} and use the upstream through it", err=True)


def _forward(target: Upstream, place: Listen, orders: Orders, lines: Lines) -> Desk:
    """Serve until a signal comes, or the first finding that ends it."""
    stop = lines.stop
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it warns of connections that break

    def interrupted(*_: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C does not wait

    numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.signal(number, interrupted) for number in numbers}
    desk = Desk(orders, lines.told)
    try:
        with running(target, place, tap=desk.tap, take=desk.take) as server:
            lines.say(f"listening on {server.base_url}, forwarding to {target.base_url} (Ctrl-C stops and reports)")
            lines.say(f"  base URL for OpenAI clients {server.base_url}/v1, for Anthropic clients {server.base_url}")
            stop.wait()
        if desk.waiting:
            lines.say(f"judging {desk.waiting} more")
    except BadAddress as error:
        raise click.UsageError(f"{str(error)[:1].upper()}{str(error)[1:]}. Choose another with --listen.") from None
    finally:
        desk.close(JUDGING_SECONDS)
        for number, handler in before.items():
            signal.signal(number, handler)
    return desk
