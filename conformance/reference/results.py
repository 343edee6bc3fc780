"""The protocol-neutral answer that the engine gives and the encoders write."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Finish(StrEnum):
    """How an answer ended."""

    STOP = "stop"
    LENGTH = "length"
    CALLS = "calls"


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A call that the client is asked to run; cut off, ``arguments`` is the beginning of a JSON text."""

    id: str  # without the surface's prefix
    name: str
    arguments: str
    builtin: bool = False  # $web_search on chat


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """A web search that the server ran itself."""

    id: str
    query: str
    results: tuple[dict[str, Any], ...]


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Token counts; ``input`` includes what was read from and written to the cache, ``output`` the reasoning."""

    input: int
    cached: int = 0
    written: int = 0
    ttl: str = "5m"
    output: int
    reasoning: int
    searches: int = 0


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One answer: what was generated, in order of its fields, how it ended and what it cost."""

    reasoning: str
    searches: tuple[Search, ...] = ()
    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: Finish
    usage: Usage
