"""``serve``: the reference server, until it is interrupted."""

from __future__ import annotations

import signal
import threading

import click

from conformance.protocols import BUILDERS
from conformance.reference import DEFAULT_KEY, NotStartedError, PortTakenError, Settings, running

PORT = 8788


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: any free port.")
@click.option("--key", "keys", multiple=True, help=f"A key to accept; repeatable.  [default: {DEFAULT_KEY}]")
@click.option("--rpm", type=click.IntRange(min=1), help="Requests a key may send in 60 seconds; no limit by default.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed gives other answers.")
def serve(*, host: str, port: int, keys: tuple[str, ...], rpm: int | None, seed: int) -> None:
    """Serve the reference implementation of all three surfaces until Ctrl-C."""
    accepted = frozenset(keys) or frozenset({DEFAULT_KEY})
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with running(Settings(keys=accepted, rpm=rpm, seed=seed), addresses=1, host=host, port=port) as server:
            words = "the keys that were given" if keys else DEFAULT_KEY
            click.echo(f"serving {server.base_url} (key: {words}; Ctrl-C stops)")
            for protocol, builder in BUILDERS.items():
                click.echo(f"  {protocol.value:<10} POST {server.base_url}{builder.path}")
            stop.wait()
    except PortTakenError as error:
        raise click.UsageError(f"{error}. Choose another with --port, or 0 for any free one.") from None
    except (NotStartedError, OSError) as error:
        raise click.UsageError(f"Cannot listen on {host}: {error}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    click.echo("stopped")
