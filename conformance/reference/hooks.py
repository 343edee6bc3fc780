"""The seam for faults: one optional function at every stage of an answer.

Each hook gets the context of the request and the stage's value, and returns the value to go on with. A fault is a few
lines, for instance a total that is off by one::

    def off_by_one(context, body):
        return body | {"usage": body["usage"] | {"total_tokens": body["usage"]["total_tokens"] + 1}}

    app(hooks=Hooks(body=off_by_one))
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from conformance.reference.encoding.frame import Event
from conformance.reference.problems import Problem
from conformance.reference.prompts import Prompt
from conformance.reference.refusals import Layer, Refusal
from conformance.reference.results import Result
from conformance.values import Protocol

T = TypeVar("T")


@dataclass(kw_only=True)
class Context:
    """One request on its way through the server; each stage fills in what it learned.

    ``body`` is the parsed JSON object, ``prompt`` the neutral reading, ``id`` what the server calls it, ``refused`` the
    layer that refused it, ``facts`` a place for a hook's own notes.
    """

    protocol: Protocol
    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes = b""
    key: str | None = None
    body: dict[str, Any] | None = None
    prompt: Prompt | None = None
    id: str = field(default_factory=lambda: f"req_{secrets.token_hex(12)}")
    refused: Layer | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def stream(self) -> bool:
        """Whether the request asks for an event stream."""
        return self.body is not None and self.body.get("stream") is True

    @property
    def model(self) -> str | None:
        """The model as the request names it."""
        return None if self.body is None else self.body.get("model")


@dataclass(frozen=True, kw_only=True)
class Head:
    """Status and headers of an answer, in order; a name may occur more than once."""

    status: int
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Pause:
    """In a wire: wait that many seconds before what follows."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """In a wire: break the connection off here."""


Wire = list[bytes | Pause | Cut]
Hook = Callable[[Context, T], T]


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Optional functions ``(context, value) -> value``, named after the value that they may replace.

    In order: ``admission`` (None lets a request in), ``body_read`` (the parsed request), ``problems`` (those of the
    body, then once more those of the conversation; an empty list accepts), ``prompt``, ``result``, then ``body`` or
    ``events``. A refused request goes through ``refusal`` and ``envelope`` instead; its layer says where it was
    refused. ``head`` and ``wire`` see every answer last: the wire is the body in chunks as they are sent; ``sent``
    sees both together.
    """

    admission: Hook[Refusal | None] | None = None
    body_read: Hook[dict[str, Any]] | None = None
    problems: Hook[list[Problem]] | None = None
    prompt: Hook[Prompt] | None = None
    result: Hook[Result] | None = None
    body: Hook[dict[str, Any]] | None = None
    events: Hook[list[Event]] | None = None
    refusal: Hook[Refusal] | None = None
    envelope: Hook[dict[str, Any]] | None = None
    head: Hook[Head] | None = None
    wire: Hook[Wire] | None = None
    sent: Hook[tuple[Head, Wire]] | None = None


def applied(hook: Hook[T] | None, context: Context, value: T) -> T:
    """The value as the hook returns it; unchanged without a hook."""
    return value if hook is None else hook(context, value)
