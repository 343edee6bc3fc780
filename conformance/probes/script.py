"""Scripted probes: what is sent, in which order, depending on what came back. They assert nothing.

A probe is a generator function over a ``Cell``: it yields a ``Step`` and gets the ``Answer`` to it. ``play`` runs one
against anything that turns steps into answers.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator
from dataclasses import dataclass, replace
from enum import StrEnum

from conformance.protocols import Answer, NoAnswerError, read
from conformance.values import Exchange, Intent, Protocol, Request

Script = Generator["Step", Answer, None]


class Credentials(StrEnum):
    """How a step authenticates."""

    KEY = "key"  # Authorization: Bearer, with the target's key
    NONE = "none"
    INVALID = "invalid"  # a bearer key that cannot be valid
    BASIC = "basic"  # the key under another scheme
    BARE = "bare"  # the key without a scheme
    X_API_KEY = "x-api-key"  # the key in Anthropic's own header only


class Place(StrEnum):
    """Where a step is sent; a place that the target lacks is skipped by the player."""

    FIRST = "first"  # the target's base URL
    SECOND = "second"  # its other documented base URL
    LIMITED = "limited"  # the embedded server's address with a rate limit
    REHEARSED = "rehearsed"  # the embedded server only: it fails when a prompt asks for that


@dataclass(frozen=True, kw_only=True)
class Step:
    """One request to send to the endpoint of the probe's surface."""

    body: bytes
    intents: tuple[Intent, ...] = ()
    credentials: Credentials = Credentials.KEY
    method: str = "POST"
    content_type: str = "application/json"
    place: Place = Place.FIRST
    parent: str | None = None  # the id of the exchange that it continues
    patient: bool = True  # transient failures are retried
    cures: bool = True  # so is a 500: the request is valid
    ceiling: int | None = None  # tokens of a stream after which the client hangs up: a far larger limit is tested
    strand: int = 0  # filled in by ``picked``: which of the script's strands it belongs to, from 1


def attempt(script: Script) -> Script:
    """The script, ended early where an answer holds no turn to go on from."""
    try:
        yield from script
    except NoAnswerError:
        return


def picked(script: Script, strands: Container[int] | None = None) -> Script:
    """The script with its steps numbered by strand, and only those strands (default: all).

    A strand is a step without a parent, with the steps that continue its answer: what is left out is answered as if
    nothing had come back, so that no other strand changes and the numbers stay the same.
    """
    strand = 0
    try:
        step = next(script)
        while True:
            strand += step.parent is None
            wanted = strands is None or strand in strands
            step = script.send((yield replace(step, strand=strand)) if wanted else _WITHHELD)
    except StopIteration:
        return


_WITHHELD = read(
    Exchange(id="withheld", protocol=Protocol.CHAT, model="", request=Request(method="POST", url="http://127.0.0.1"))
)


def play(script: Script, send: Callable[[Step], Answer]) -> int:
    """Run a script to its end; how many steps it sent."""
    sent = 0
    try:
        step = next(script)
        while True:
            sent += 1
            step = script.send(send(step))
    except StopIteration:
        return sent
