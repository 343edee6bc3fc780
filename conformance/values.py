"""The values that every layer passes on: frozen, keyword-only, JSON in and out, no behaviour.

Times are milliseconds or ISO 8601 strings as each field says. Bodies are bytes, which JSON carries as base64.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Protocol(StrEnum):
    """One of the three formats that the API speaks."""

    CHAT = "chat"
    MESSAGES = "messages"
    RESPONSES = "responses"


class Level(StrEnum):
    """How much a finding weighs; ``RANK`` orders the three."""

    INFO = "info"
    SHOULD = "should"
    MUST = "must"


RANK: dict[Level, int] = {Level.INFO: 0, Level.SHOULD: 1, Level.MUST: 2}


class Basis(StrEnum):
    """Why a rule may be demanded: a document says it, or the format that a document names fixes it."""

    DOCUMENTED = "documented"
    PROTOCOL = "protocol"


class Over(StrEnum):
    """What one verdict of a rule is reached from."""

    EXCHANGE = "exchange"
    STREAM = "stream"
    PAIR = "pair"
    CONVERSATION = "conversation"


class Outcome(StrEnum):
    """What is known of one rule on one surface and model."""

    ERROR = "error"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    PASS = "pass"  # noqa: S105 (an outcome, not a password)
    NOT_EXERCISED = "not exercised"
    NOT_APPLICABLE = "not applicable"


class Intent(StrEnum):
    """What a probe declares beyond the bytes that it sends; recorded traffic has none.

    A rule that needs one says nothing about traffic without it.
    """

    INVALID_KEY = "invalid-key"  # the bearer key cannot be valid
    VALID = "valid"  # built from a documented example or an allowed edge: must be accepted
    CUT_OFF = "cut-off"  # asks for far more than its small limit allows
    REPEAT = "repeat"  # asks to repeat a text word for word
    FRESH = "fresh"  # a long prompt that starts with text no cache can hold
    DOCUMENTED_SEARCH = "documented-search"  # the documented web search example
    OVERSIZED = "oversized"  # a prompt certain to exceed the context window
    HOSTILE = "hostile"  # deep nesting, 1 MiB strings, lone surrogates, U+0000
    CONTROL = "control"  # the same request without the thing under test


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a vendored document: a JSON pointer (``#/…``) into its OpenAPI part, or words quoted from it."""

    document: str  # messages-all, responses, chat-k31, messages-k31 or chat-all
    anchor: str


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it was sent; header names keep their spelling and order."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Chunk(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One read from the network, ``ms`` milliseconds after the request was sent."""

    ms: float
    data: bytes


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A response as it arrived, content decoded (gzip undone) but not interpreted."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    chunks: tuple[Chunk, ...] = ()


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why no response, or not all of it, arrived."""

    kind: str  # refused, timeout, reset, protocol, cut (the recording itself ends early)
    message: str


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One request and what came back: the unit of evidence.

    A response together with a failure means that the body broke off.
    """

    id: str
    protocol: Protocol
    model: str  # the model whose cell it counts for: one of the three ids
    request: Request
    response: Response | None = None
    failure: Failure | None = None
    probe: str | None = None
    intents: tuple[Intent, ...] = ()
    parent: str | None = None  # the id of the exchange whose answer this one continues or compares with
    started: str | None = None  # ISO 8601, UTC
    attempt: int = 1
    trial: int = 1  # above 1: asked again, since a failure may have been the model's choice
    live: bool = False  # times and clocks are real: rules about speed may judge
    file: str | None = None  # the source file, for recorded evidence


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One breach of one rule. Rules fill the upper half, the judge the lower."""

    message: str
    pointer: str = ""  # a JSON pointer into the answer, "event N", or "header NAME"
    expected: Any = None
    actual: Any = None
    level: Level | None = None  # None: the rule's own; never above it
    exchange: str | None = None  # the exchange at fault; None: the last one judged

    rule: str = ""
    basis: Basis | None = None
    protocol: Protocol | None = None
    model: str = ""
    exchanges: tuple[str, ...] = ()  # every exchange that the finding was reached from
    file: str | None = None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the evidence says of one rule on one surface and model."""

    rule: str
    protocol: Protocol
    model: str
    outcome: Outcome
    level: Level
    findings: tuple[Finding, ...] = ()
    exercised: int = 0  # how often the guard was met
    tries: int = 1  # how often the probe asked, where the model's choice can break the rule
    reason: str | None = None  # for inconclusive, not applicable and error
    known: str | None = None  # the pattern of the known deviation that covers it


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What was run, where and when: the header of a run file."""

    version: str
    target: str
    models: tuple[str, ...]
    protocols: tuple[Protocol, ...]
    seed: int
    profile: str
    started: str
    finished: str | None = None
    specs: dict[str, str] = {}  # document name to sha256
    rules: tuple[str, ...] = ()  # the patterns that selected rules; empty: all
    requests: int = 0
    output_tokens: int = 0
    cost: float | None = None  # in the currency of the price table; None without prices for every model that answered
    partial: str | None = None  # why it is not whole
    unverified: str | None = None  # why the target could not be verified at all
