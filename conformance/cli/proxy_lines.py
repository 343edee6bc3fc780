"""What ``proxy`` prints while it runs: one line a finding, as it is found."""

from __future__ import annotations

import threading

import click

from conformance.cli.printable import coloured
from conformance.proxy import Told
from conformance.reports.order import ordered
from conformance.reports.safe import safe, told
from conformance.values import Finding, Level

COLOURS = {Level.MUST: "red", Level.SHOULD: "yellow", Level.INFO: "cyan"}


class Lines:
    """Prints what the judge tells; ``stop`` is set where the proxy is to end."""

    def __init__(self, *, fail_fast: bool, err: bool) -> None:
        self.stop = threading.Event()
        self.stopped: str | None = None  # why the proxy ended by itself
        self._fail_fast, self._err = fail_fast, err
        self._troubles: set[str] = set()

    def told(self, told: Told) -> None:
        """Print the findings of one exchange; called from a thread, so it never raises."""
        for finding in ordered(told.findings, {}):
            self.say(self._line(finding))
        if told.curl is not None:
            self.say(f"        {safe(told.curl, 40_000)}")
        if told.trouble is not None and told.trouble not in self._troubles and len(self._troubles) < 100:
            self._troubles.add(told.trouble)
            self.say(f"internal error, exchange {told.id}: {safe(told.trouble)}")
        must = next((finding for finding in told.findings if finding.level is Level.MUST), None)
        if self._fail_fast and must is not None and self.stopped is None:
            self.stopped = f"stopped at {must.rule}"
            self.stop.set()

    def say(self, line: str) -> None:
        """Print a line; where nobody reads any more, end."""
        try:
            click.echo(line, err=self._err)
        except (OSError, ValueError):
            self.stop.set()

    def _line(self, finding: Finding) -> str:
        level = finding.level or Level.INFO
        shown = f"{level.value:<6}"
        if coloured(err=self._err):
            shown = click.style(shown, fg=COLOURS[level])
        where = f"{finding.protocol.value if finding.protocol else ''} {finding.model}, exchange {finding.exchange}"
        if finding.pointer:
            where += f", {safe(finding.pointer)}"
        values = ", ".join(f"{name} {value}" for name, value in told(finding, 120))
        return f"{shown}  {finding.rule}: {safe(finding.message)} [{where}]" + (f" {values}" if values else "")
