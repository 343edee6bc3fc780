"""What a fault is, and the one list of them.

A fault is one function on one stage of the server that breaks one thing. It names the rules that must catch it; the
names are plain strings, since the server knows nothing of the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from conformance.models import ALL
from conformance.reference.faults.stages import STAGES, hooks_of
from conformance.reference.hooks import Context, Hooks
from conformance.values import Protocol

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES
EVERY = (CHAT, MESSAGES, RESPONSES)
JSON, STREAM = "json", "stream"
BOTH = (JSON, STREAM)


class DuplicateFault(Exception):
    """Two functions claim one id."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One way to break the contract."""

    id: str
    sentence: str  # what the server does wrong
    stage: str
    protocols: tuple[Protocol, ...]
    modes: tuple[str, ...]  # json: requests that ask for no stream; stream: those that do
    models: tuple[str, ...]  # the models that it shows on
    caught_by: tuple[str, ...]  # ids of rules; a finding of any of them is a right diagnosis
    seen: tuple[str, ...]  # public reports, "owner/repository#number"
    needs_socket: bool  # it is in the transport, so an in-process run would not be honest
    make: Callable[[], Callable[[Context, Any], Any]]

    @property
    def combinations(self) -> tuple[tuple[Protocol, str], ...]:
        """The surfaces and modes that it can be switched on for."""
        return tuple((protocol, mode) for protocol in self.protocols for mode in self.modes)

    def hooks(self, *, protocols: tuple[Protocol, ...] | None = None, modes: tuple[str, ...] | None = None) -> Hooks:
        """Hooks that break the given surfaces and modes (default: all of the fault's), with a state of their own."""
        surfaces, ways = protocols or self.protocols, modes or self.modes

        def armed(context: Context) -> bool:
            return context.protocol in surfaces and _mode(context) in ways

        return hooks_of(self.stage, self.make(), armed)


def _mode(context: Context) -> str:
    """What a request asks for; where none has read its body, what its bytes say."""
    body = context.body
    if body is None:
        try:
            body = msgspec.json.decode(context.raw, type=dict[str, Any])
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return JSON
    return STREAM if body.get("stream") is True else JSON


FAULTS: dict[str, Fault] = {}


def fault(
    name: str,
    stage: str,
    *,
    on: tuple[Protocol, ...] = EVERY,
    modes: tuple[str, ...] = BOTH,
    models: tuple[str, ...] = ALL,
    caught_by: tuple[str, ...],
    seen: tuple[str, ...] = (),
    needs_socket: bool = False,
    stateful: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a fault; its docstring is the sentence.

    The function is the stage's hook, ``(context, value) -> value``; see ``stages.STAGES``. With ``stateful`` it takes
    nothing and returns the hook, so that each server has a state of its own.
    """
    if stage not in STAGES:
        raise ValueError(f"{name}: expected a stage among {', '.join(STAGES)}, got {stage!r}")

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if name in FAULTS:
            raise DuplicateFault(name)
        FAULTS[name] = Fault(
            id=name,
            sentence=" ".join((function.__doc__ or "").split()),
            stage=stage,
            protocols=on,
            modes=modes,
            models=models,
            caught_by=caught_by,
            seen=seen,
            needs_socket=needs_socket,
            make=function if stateful else lambda: function,
        )
        return function

    return register
