"""``serve``: the reference server, until it is interrupted."""

from __future__ import annotations

import signal
import threading

import click

from conformance.cli.faults import chosen_faults
from conformance.protocols import BUILDERS
from conformance.reference import DEFAULT_KEY, NotStartedError, PortTakenError, Settings, running
from conformance.reference.faults import merged

PORT = 8788


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: any free port.")
@click.option("--key", "keys", multiple=True, help=f"A key to accept; repeatable.  [default: {DEFAULT_KEY}]")
@click.option("--rpm", type=click.IntRange(min=1), help="Requests a key may send in 60 seconds; no limit by default.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed gives other answers.")
@click.option("--fault", "faults", multiple=True, metavar="ID", help="Break one promise; repeatable. See faults.")
def serve(*, host: str, port: int, keys: tuple[str, ...], rpm: int | None, seed: int, faults: tuple[str, ...]) -> None:
    """Serve the reference implementation of all three surfaces until Ctrl-C."""
    if not host.strip():
        raise click.UsageError("--host is empty: expected an address such as 127.0.0.1.")
    try:
        host.encode("idna")
    except UnicodeError:
        raise click.UsageError(f"--host {host[:80]!r} is no name of a host.") from None
    hooks = merged([fault.hooks() for fault in chosen_faults(faults)]) if faults else None
    accepted = frozenset(keys) or frozenset({DEFAULT_KEY})
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        settings = Settings(keys=accepted, rpm=rpm, seed=seed)
        with running(settings, hooks=hooks, addresses=1, host=host, port=port) as server:
            words = "the keys that were given" if keys else DEFAULT_KEY
            click.echo(f"serving {server.base_url} (key: {words}; Ctrl-C stops)")
            for protocol, builder in BUILDERS.items():
                click.echo(f"  {protocol.value:<10} POST {server.base_url}{builder.path}")
            for fault in faults:
                click.echo(f"  with the fault {fault}")
            stop.wait()
    except PortTakenError as error:
        raise click.UsageError(f"{error}. Choose another with --port, or 0 for any free one.") from None
    except (NotStartedError, OSError) as error:
        raise click.UsageError(f"Cannot listen on {host}: {error}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    click.echo("stopped")
