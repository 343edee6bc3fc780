"""Plays the scripts of probes against a target, and hands on every exchange, redacted."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Protocol

from conformance.client.budget import Spent
from conformance.client.losses import LIMITED, Losses
from conformance.client.sender import Client, Limits
from conformance.client.targets import Target
from conformance.probes.cell import Cell
from conformance.probes.script import Credentials, Place, Script, Step, picked, play
from conformance.protocols import BUILDERS, Answer, read
from conformance.redact import redact
from conformance.values import Exchange, Intent, Request

INVALID_KEY = "invalid-key-of-kimi-conformance-0000000000000000"
MOST_SILENCES = 3  # time-outs in a row, after which the target counts as gone; so it does after one endless answer
MOST_BREAKS = 6  # broken connections in a row
MOST_ERRORS = 24  # answers 429, or 5xx to valid requests, in a row
LONG = 1024 * 1024  # bytes of a body; no probe asks for more
EXCESS = 8  # bytes that one beyond counts as
MOST_IN_VAIN = 120.0  # seconds spent on such answers in a row, after which nothing is tried again


class Sender(Protocol):
    """What a player sends through; ``Client`` is one."""

    base_url: str
    requests: int

    def send(
        self, draft: Exchange, *, retry: bool = True, retry_server_error: bool = False, ceiling: int | None = None
    ) -> tuple[Exchange, ...]:
        """Send the draft's request; every attempt, the last one last."""

    def close(self) -> None:
        """Give back what it holds."""


class Stopped(Exception):
    """The target is gone or the budget spent: nothing more is sent. The message says why."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """A step that was sent, and what came back at the last attempt."""

    step: Step
    exchange: Exchange


@dataclass
class Player:
    """One worker's clients and counts; not to be shared between threads."""

    target: Target
    record: Callable[[Exchange], None]
    limits: Limits = field(default_factory=Limits)
    connect: Callable[[str, str | None, Limits], Sender] = Client  # another one reaches a server without a network
    hide: Callable[[Exchange], Exchange] | None = None  # what ``record`` may not see; None: the target's key
    watchful: bool = True  # whether to stop where the target is gone; what was recorded cannot be
    output_tokens: int = 0
    stopped: str | None = None
    losses: Losses = field(default_factory=Losses)

    def __post_init__(self) -> None:
        self._clients: dict[str, Sender] = {}
        self._silent = self._broken = self._errors = self._limited = 0
        self._in_vain = 0.0
        self._received = 0  # bytes of bodies

    @property
    def requests(self) -> int:
        """How many requests were sent, retries included."""
        return sum(client.requests for client in self._clients.values())

    def play(
        self,
        probe: str,
        cell: Cell,
        script: Script,
        *,
        strands: Container[int] | None = None,
        trial: int = 1,
        after: int = 0,
    ) -> tuple[Played, ...]:
        """Play one script, or some strands of it; what was sent.

        A further ``trial`` of a probe counts on ``after`` the requests that it has sent. Raises ``Stopped`` when the
        target is gone or the budget spent.
        """
        sent: list[Played] = []

        def send(step: Step) -> Answer:
            name = f"{probe}/{cell.protocol}/{cell.model}/{after + len(sent) + 1}"
            answer = self._send(step, cell, probe, name, trial)
            sent.append(Played(step=step, exchange=answer.exchange))
            return answer

        play(self._reachable(picked(script, strands)), send)
        return tuple(sent)

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            client.close()

    def _base_url(self, place: Place) -> str | None:
        if place is Place.LIMITED:
            return self.target.limited
        if place is Place.REHEARSED and self.target.limited is None:
            return None
        if place is Place.SECOND:
            return self.target.base_urls[1] if len(self.target.base_urls) > 1 else None
        return self.target.base_urls[0]

    def _reachable(self, script: Script) -> Script:
        """The script without the steps for a place that the target lacks, which end it."""
        step = next(script, None)
        while step is not None and self._base_url(step.place) is not None:
            answer = yield step
            try:
                step = script.send(answer)
            except StopIteration:
                return

    def _client(self, place: Place) -> Sender:
        url = self._base_url(place) or self.target.base_urls[0]
        if url not in self._clients:
            self._clients[url] = self.connect(url, self.target.key, self.limits)
        return self._clients[url]

    def _send(self, step: Step, cell: Cell, probe: str, name: str, trial: int) -> Answer:
        if self.stopped is not None:
            raise Stopped(self.stopped)
        client = self._client(step.place)
        draft = Exchange(
            id=name,
            protocol=cell.protocol,
            model=cell.model,
            request=self._request(client, step, BUILDERS[cell.protocol].path),
            probe=probe,
            intents=tuple(i for i in step.intents if trial == 1 or i is not Intent.FRESH),  # no cache is cold twice
            parent=step.parent,
            trial=trial,
        )
        exchange, begun = draft, time.monotonic()
        for exchange in self._attempts(client, step, draft):
            self.record(self.hide(exchange) if self.hide is not None else redact(exchange, (self.target.key,)))
            self._weigh(exchange)
        self.losses.count(step, exchange)
        answer = read(exchange)
        if answer.usage is not None and answer.usage.output is not None:
            self.output_tokens += answer.usage.output
        telling = step.patient and step.ceiling is None and not {Intent.HOSTILE, Intent.OVERSIZED} & set(step.intents)
        if telling and self.watchful:
            self._watch(exchange, valid=step.cures)
            self._in_vain = self._in_vain + time.monotonic() - begun if self._errors else 0.0
        return answer

    def _attempts(self, client: Sender, step: Step, draft: Exchange) -> tuple[Exchange, ...]:
        retry = step.patient and self._in_vain < MOST_IN_VAIN
        try:
            return client.send(draft, retry=retry, retry_server_error=step.cures, ceiling=step.ceiling)
        except Spent as reason:
            self.stopped = str(reason)
            raise Stopped(self.stopped) from None

    def _request(self, client: Sender, step: Step, path: str) -> Request:
        key = self.target.key
        ways: dict[Credentials, tuple[str, str] | None] = {
            Credentials.KEY: ("Authorization", f"Bearer {key}"),
            Credentials.NONE: None,
            Credentials.INVALID: ("Authorization", f"Bearer {INVALID_KEY}"),
            Credentials.BASIC: ("Authorization", "Basic " + base64.b64encode(f"user:{key}".encode()).decode()),
            Credentials.BARE: ("Authorization", key),
            Credentials.X_API_KEY: ("x-api-key", key),
        }
        header = ways[step.credentials]
        headers = (*((header,) if header else ()), ("Content-Type", step.content_type))
        return Request(method=step.method, url=client.base_url + path, headers=headers, body=step.body)

    def _weigh(self, exchange: Exchange) -> None:
        """Stop where the answers are more than can be judged together, those that are far too long first."""
        chunks = exchange.response.chunks if exchange.response is not None else ()
        size = sum(len(chunk.data) for chunk in chunks)
        self._received += size + (EXCESS - 1) * max(0, size - LONG)
        if self._received > self.limits.largest_run:
            self.stopped = "the answers of the target are too long to be judged together"

    def _watch(self, exchange: Exchange, *, valid: bool) -> None:
        """Stop where the target is gone, so that no run lasts for hours without an answer.

        A server error on a request that may be refused is a finding, and says nothing of whether the target is there.
        """
        kind = exchange.failure.kind if exchange.failure else None
        status = exchange.response.status if exchange.response else 0
        self._silent = self._silent + 1 if kind == "timeout" else 0
        self._broken = self._broken + 1 if kind is not None else 0
        self._limited = self._limited + 1 if status == LIMITED else 0
        if kind is not None or not (status >= 500 or status == 429):
            self._errors = 0
        elif valid or status == 429:
            self._errors += 1
        if kind == "cut" and exchange.failure is not None:
            self.stopped = f"the target does not end its answers ({exchange.failure.message})"
        elif self._silent >= MOST_SILENCES:
            self.stopped = f"the target did not finish an answer {MOST_SILENCES} times in a row"
        elif self._broken >= MOST_BREAKS:
            words = exchange.failure.message if exchange.failure else ""
            self.stopped = f"the target stopped answering ({words})"
        elif self._limited >= MOST_ERRORS:
            hint = "send more slowly with --rpm, or run again later"
            self.stopped = f"the target rate limited {MOST_ERRORS} requests in a row (HTTP {LIMITED}); {hint}"
        elif self._errors >= MOST_ERRORS:
            self.stopped = f"the target answered {MOST_ERRORS} requests in a row with 429 or a server error"
