"""The process that judges what the proxy forwards: exchanges in, journal on disk, findings out.

It is a process of its own so that judging never holds up the bytes. ``python -m conformance.proxy.worker`` reads frames
from standard input until it ends, and answers on standard output.
"""

from __future__ import annotations

import os
import re
import sys
from typing import BinaryIO

from conformance.evidence import Journal
from conformance.evidence.tap import Seen, evidence_of
from conformance.models import renamed
from conformance.proxy.frames import Orders, Told, read, write
from conformance.proxy.watch import Watch
from conformance.redact import Secrets, sent_keys
from conformance.reports.curl import curl
from conformance.rules import RULES

MOST_KEYS = 1_000
NICENESS = 10  # judging waits for what is in the path of the bytes


class Judge:
    """Redacts, records and judges one exchange after another."""

    def __init__(self, orders: Orders, journal: Journal) -> None:
        self._orders, self._journal = orders, journal
        self._keys = dict.fromkeys(orders.keys)
        self._patterns = tuple(map(re.compile, orders.redact))
        self._secrets = Secrets(self._keys, self._patterns)
        chosen = [RULES[name] for name in orders.rules] if orders.rules else None
        self._watch = Watch(chosen, orders.basis)

    def take(self, seen: Seen) -> Told:
        """The answer to one exchange; an error of ours becomes words, and ends nothing."""
        try:
            return self._take(seen)
        except Exception as error:  # noqa: BLE001 (the last line of defence: the next exchange is judged all the same)
            words = f"{type(error).__name__}: {self._secrets.text(str(error))}"
            return Told(id=seen.id, unjudged="an error of kimi-conformance", trouble=words[:300])

    def _take(self, seen: Seen) -> Told:
        self._learn(seen)
        found = evidence_of(seen)
        if isinstance(found, str):
            return Told(id=seen.id, unjudged=found)
        clean = self._secrets.exchange(found)
        self._journal.append(clean)
        findings, broken = self._watch.see(clean)
        shown = self._orders.curl and findings
        return Told(
            id=seen.id,
            findings=tuple(map(self._secrets.value, findings)),  # a key that came in pieces is whole in a finding
            curl=self._secrets.text(curl(clean)) if shown else None,
            trouble=None if broken is None else self._secrets.text(broken),
        )

    def _learn(self, seen: Seen) -> None:
        """Hide a key from now on wherever it turns up, also in the answer to another one's request."""
        fresh = [key for key in sent_keys(seen.request) if key not in self._keys]
        if fresh and len(self._keys) < MOST_KEYS:
            self._keys |= dict.fromkeys(fresh)
            self._secrets = Secrets(self._keys, self._patterns)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Read orders, then exchanges until the source ends; answer each. Raises ``OSError`` where the proxy is gone."""
    orders = read(source, Orders)
    if orders is None:
        return
    with renamed(orders.aliases, orders.assumed), Journal(orders.journal) as journal:
        judge = Judge(orders, journal)
        while (seen := read(source, Seen)) is not None:
            write(sink, judge.take(seen))


def main() -> None:
    """Serve on the standard streams; nothing else in this process can write to them."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, sink)
    except OSError:
        sys.exit(1)


if __name__ == "__main__":
    main()
