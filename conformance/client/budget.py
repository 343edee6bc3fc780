"""A hard limit on what a run sends and costs, shared by all its processes.

The count is a SQLite file, which every process locks while it counts. Before a request is sent, the most that it can
cost is put aside; once it is answered, what it did cost takes the place of that. So the limit is never passed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from conformance.prices import Price
from conformance.probes.costs import body_worst_case
from conformance.protocols import read
from conformance.values import Exchange

NAME = ".budget.sqlite"
PATIENCE = 330.0  # seconds that a request waits for what others have put aside: longer than any answer takes
_POLL = 0.05  # seconds
_LOCKED = 30.0  # seconds to wait for the file
_TABLES = """
CREATE TABLE IF NOT EXISTS spent (requests INTEGER, tokens INTEGER, cost REAL, stopped TEXT);
CREATE TABLE IF NOT EXISTS held (id INTEGER PRIMARY KEY, tokens INTEGER, cost REAL);
INSERT INTO spent SELECT 0, 0, 0.0, NULL WHERE NOT EXISTS (SELECT 1 FROM spent);
"""


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """The most that a run may send and cost; None: no limit."""

    requests: int | None = None
    tokens: int | None = None  # output tokens
    cost: float | None = None  # in the currency of the price table


class Spent(Exception):
    """The budget does not allow another request; the message says which part of it."""


@dataclass(frozen=True, kw_only=True)
class Held:
    """What was put aside for one request."""

    number: int
    tokens: int
    cost: float


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The shared count. Raises ``KeyError`` for a model without a price where a cost is limited."""

    path: Path
    allowance: Allowance
    prices: Mapping[str, Price] = field(default_factory=dict)
    patience: float = PATIENCE

    def open(self) -> None:
        """Begin to count, from nothing."""
        self.close()
        with self._counting() as count:
            count.executescript(_TABLES)

    def close(self) -> None:
        """Take the file away."""
        for suffix in ("", "-journal", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def hold(self, draft: Exchange, ceiling: int | None = None) -> Held:
        """Put aside the most that a request can cost, waiting for others where those may leave enough.

        Raises ``Spent``, in every process from then on.
        """
        tokens = body_worst_case(draft.protocol, draft.request.body, ceiling)
        price = self.prices.get(draft.model)
        cost = price.worst(len(draft.request.body), tokens) if price else 0.0
        patient_until = time.monotonic() + self.patience
        while True:
            with self._counting() as count:
                found = self._held(count, tokens, cost, waits=time.monotonic() < patient_until)
                if found is not None:
                    return found
            time.sleep(_POLL)

    def settle(self, held: Held, exchange: Exchange) -> None:
        """Put what a request did cost in the place of what was put aside; unknown costs count in full."""
        tokens, cost = _costs(exchange, held, self.prices.get(exchange.model))
        with self._counting() as count:
            count.execute("DELETE FROM held WHERE id = ?", (held.number,))
            count.execute("UPDATE spent SET tokens = tokens + ?, cost = cost + ?", (tokens, cost))

    def _held(self, count: sqlite3.Connection, tokens: int, cost: float, *, waits: bool) -> Held | None:
        """What was put aside; None where others may leave enough. Raises ``Spent``."""
        requests, used, paid, stopped = count.execute("SELECT requests, tokens, cost, stopped FROM spent").fetchone()
        if stopped is not None:
            raise Spent(stopped)
        others, kept, kept_cost = count.execute(
            "SELECT COUNT(*), COALESCE(SUM(tokens), 0), COALESCE(SUM(cost), 0) FROM held"
        ).fetchone()
        allowed, reason = self.allowance, None
        if allowed.requests is not None and requests >= allowed.requests:
            reason = f"the budget of {allowed.requests} requests is spent"
        for most, so_far, aside, more, unit in (
            (allowed.tokens, used, kept, tokens, "output tokens"),
            (allowed.cost, paid, kept_cost, cost, "in cost"),
        ):
            if reason is None and most is not None and so_far + aside + more > most:
                if others and waits and so_far + more <= most:
                    return None
                reason = f"the budget of {most:g} {unit} is spent: {so_far:g} used, the next request may take {more:g}"
        if reason is not None:
            count.execute("UPDATE spent SET stopped = ?", (reason,))
            count.commit()
            raise Spent(reason)
        count.execute("UPDATE spent SET requests = requests + 1")
        number = count.execute("INSERT INTO held (tokens, cost) VALUES (?, ?)", (tokens, cost)).lastrowid
        return Held(number=number or 0, tokens=tokens, cost=cost)

    @contextmanager
    def _counting(self) -> Iterator[sqlite3.Connection]:
        count = sqlite3.connect(self.path, timeout=_LOCKED, isolation_level=None)
        try:
            count.execute("BEGIN IMMEDIATE")
            yield count
            if count.in_transaction:
                count.commit()
        finally:
            count.close()


def _costs(exchange: Exchange, held: Held, price: Price | None) -> tuple[int, float]:
    """The output tokens and the cost of one attempt, as far as they are known."""
    if exchange.response is None and exchange.failure is not None and exchange.failure.kind == "refused":
        return 0, 0.0
    if exchange.response is not None and exchange.response.status >= 400:
        return 0, 0.0
    usage = read(exchange).usage
    if usage is None or usage.output is None:
        return held.tokens, held.cost
    cost = held.cost
    if price is not None and usage.input is not None:
        cost = price.of(usage.input, usage.output, usage.cached or 0)
    return usage.output, cost
