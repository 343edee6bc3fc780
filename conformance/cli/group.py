"""The group: what commands there are, and how each way of ending becomes an exit code.

Nothing heavy is imported here, so that ``--help`` and a mistyped command answer at once.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn, cast

import click

import conformance
from conformance.garbage import seldom_collected
from conformance.gate import Exit

DEBUG = "KIMI_CONFORMANCE_DEBUG"
"""Set to 1, an internal error prints its traceback."""

COMMANDS = {  # in the order of the help; the module of each is conformance.cli.NAME and holds a command of that name
    "run": "Run the suite against a server and write a report.",
    "plan": "Say what run would send and what it may cost; sends nothing.",
    "check": "Judge recorded exchanges: HAR, cassettes, journals, JSONL logs, curl -i.",
    "proxy": "Judge real traffic on its way to an upstream.",
    "fuzz": "Draw requests and conversations, judge the answers, and shrink what fails.",
    "cassettes": "List, verify or prune the cassettes of recorded runs.",
    "constraints": "Send a request for every constraint of the request schemas, and say how each was decided.",
    "rules": "List the rules, as a table or as JSON.",
    "explain": "Say what one rule demands, where a document says it, and what passes and fails.",
    "clauses": "Show which sentences of the documents the rules test.",
    "spec": "Show the effective OpenAPI documents and their sources.",
    "schema": "Print the JSON Schema of an output that programs read.",
    "serve": "Serve the reference implementation on this machine.",
    "faults": "List the faults that the reference server can be given.",
    "selftest": "Run every fault against the rules that must catch it: the kill matrix.",
}


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # a disk's faults, none of ours


class _Unread(Exception):
    """Whoever read standard output has gone."""


class Lazy(click.Group):
    """A group that lists its commands from a table, imports the one that is asked for, and never shows a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (the signature is click's)
        """All commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (likewise)
        """Import a command; None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        return cast("click.Command", getattr(import_module(f"conformance.cli.{cmd_name}"), cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, naming the nearest command where there is none of that name."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"Did you mean {close[0]}?" if close else f"Commands: {', '.join(COMMANDS)}."
            raise click.UsageError(f"No command {args[0]!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (likewise)
        """The table, without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """As click does; a reader that goes away is told apart, because click would exit with 1 for it."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise _Unread from None
            raise

    def main(  # type: ignore[override]  # never returns, in any mode
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run and exit: 2 for a usage error, 3 when interrupted, 4 for an error of ours, else what the command says."""
        extra["standalone_mode"] = False
        if sys.stdout is None or sys.stderr is None:  # closed by the caller, who wants no words
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open as long as the process runs)
            sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        atexit.register(gc.freeze)  # as a process ends, Python looks through all that is left for garbage
        try:
            with seldom_collected():
                code = super().main(args, prog_name, **extra)
            sys.stdout.flush()
        except click.ClickException as error:
            said = StringIO()
            error.show(said)
            click.echo(_harmless(said.getvalue()), err=True, nl=False)
            sys.exit(Exit.USAGE)
        except (click.Abort, KeyboardInterrupt):
            click.echo("interrupted: nothing was verified", err=True)
            sys.exit(Exit.NOT_VERIFIED)
        except _Unread:
            _silence()
            sys.exit(Exit.NOT_VERIFIED)
        except Exception as error:  # noqa: BLE001 (the last line of defence: one line instead of a traceback)
            _fail(error)
        sys.exit(code if isinstance(code, int) else Exit.CONFORMING)


def _harmless(text: str) -> str:
    """Words that may quote what was typed or read, without characters that a terminal would obey."""
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


def _silence() -> None:
    """Lead standard output nowhere, so that the flush at the end does not raise once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: Exception) -> NoReturn:
    if isinstance(error, OSError) and error.errno == errno.EPIPE:
        _silence()
        sys.exit(Exit.NOT_VERIFIED)
    if isinstance(error, OSError) and error.errno in _FULL:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        with suppress(OSError, ValueError):
            _silence()
        click.echo(f"cannot write: {error.strerror}", err=True)
        sys.exit(Exit.NOT_VERIFIED)
    if os.environ.get(DEBUG) == "1":
        traceback.print_exception(error)
    text = _harmless(" ".join(str(error).split())[:300])
    click.echo(f"internal error: {type(error).__name__}: {text}", err=True)
    click.echo(f"This is a fault of kimi-conformance; {DEBUG}=1 prints where.", err=True)
    sys.exit(Exit.INTERNAL)


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(conformance.__version__, "--version", prog_name="kimi-conformance")
def main() -> None:
    """Conformance and contract tests for the Kimi API: Chat Completions, Responses and Messages.

    Exit codes: 0 conforming, 1 a must rule failed, 2 usage error, 3 not verified, 4 internal error.
    """
