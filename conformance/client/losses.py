"""Requests that came to nothing, although they were tried again: what a run must not pass over in silence.

A rate limit, a proxy's own error and a missing answer say nothing of the service, so no rule counts them against it. A
run that lost requests to them is not whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from conformance.probes.script import Credentials, Place, Step
from conformance.values import Exchange, Intent

LIMITED = 429
UNPAID = frozenset({401, 402})  # to the key that the run was given
AWAY = frozenset({502, 503, 504, 529, *range(520, 528)})  # what stands before the service, or its load
_KINDS = {"timeout": "no answer in time", "reset": "closed without an answer", "refused": "no connection"}
_HINTS = {
    "rate limited (HTTP 429)": "send more slowly with --rpm, or run again later",
    **{f"HTTP {status}": "look at the key and what it may still spend" for status in UNPAID},
}


class Losses(msgspec.Struct, kw_only=True):
    """What a player counted; the counts of several are added."""

    requests: int = 0  # that an answer was expected to
    lost: dict[str, int] = {}  # by why
    refused: dict[str, dict[str, int]] = {}  # by surface and model, and by status: valid requests
    accepted: dict[str, int] = {}  # by surface and model: any requests

    def count(self, step: Step, exchange: Exchange) -> None:
        """Take in the last attempt of a step."""
        if not step.patient or step.place is Place.LIMITED:
            return
        self.requests += 1
        cell = f"{exchange.protocol.value}/{exchange.model}"
        status = exchange.response.status if exchange.response is not None else None
        why = _why(step, exchange, status)
        if why is not None:
            self.lost[why] = self.lost.get(why, 0) + 1
        if status is not None and status < 400:
            self.accepted[cell] = self.accepted.get(cell, 0) + 1
        elif status is not None and status != 400 and step.cures and step.credentials is Credentials.KEY:
            statuses = self.refused.setdefault(cell, {})
            statuses[str(status)] = statuses.get(str(status), 0) + 1


def told(counted: Iterable[Losses]) -> str | None:
    """Why a run is not whole, in one line; None where nothing that matters was lost."""
    requests, lost = 0, Counter[str]()
    accepted: set[str] = set()
    refused: dict[str, Counter[str]] = {}
    for one in counted:
        requests += one.requests
        lost.update(one.lost)
        accepted.update(one.accepted)
        for cell, statuses in one.refused.items():
            refused.setdefault(cell, Counter()).update(statuses)
    if lost:
        reasons = lost.most_common()
        words = ", ".join(f"{count} {why}" for why, count in reasons)
        hint = _HINTS.get(reasons[0][0], "run again when the target is well")
        return f"{lost.total()} of {requests} requests came to nothing: {words}; {hint}"
    empty = [(cell, statuses) for cell, statuses in refused.items() if cell not in accepted]
    if not empty:
        return None
    cell, statuses = empty[0]
    others = f", nor on {len(empty) - 1} more" if len(empty) > 1 else ""
    return f"no valid request was accepted on {cell} (HTTP {statuses.most_common(1)[0][0]}){others}"


def _why(step: Step, exchange: Exchange, status: int | None) -> str | None:
    """Why an exchange shows nothing of the service; None where it does."""
    if status == LIMITED:
        return f"rate limited (HTTP {status})"
    if exchange.failure is not None and exchange.failure.kind == "refused":
        return _KINDS["refused"]
    if {Intent.HOSTILE, Intent.OVERSIZED} & set(step.intents):  # the service's own answer to them is judged
        return None
    if status is None:
        return _KINDS.get(exchange.failure.kind if exchange.failure else "", "no answer in HTTP")
    unpaid = status in UNPAID and step.cures and step.credentials is Credentials.KEY
    return f"HTTP {status}" if unpaid or status in AWAY else None
