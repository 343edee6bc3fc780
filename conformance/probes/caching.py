"""Caches: cold and warm pairs of long fresh prompts, under each lifetime, and in both modes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.values import Intent, Protocol

LONG = 2200  # words; the documents set no least size, other services cache from 1,024 tokens
TRIES = 3


def fresh(cell: Cell, salt: str, **rest: Any) -> dict[str, Any]:
    """A long prompt that begins with words of this run alone and ends with a short question."""
    user = f"{cell.words(LONG, salt)}\n\nReply with OK."
    return cell.body(user, **rest)


def cold_and_warm(cell: Cell) -> Script:
    """A fresh long prompt twice in a row, three times over, under each lifetime that the surface has."""
    for name, fields in lifetimes(cell):
        for number in range(TRIES):
            body = fresh(cell, f"warm {name} {number}", **fields)
            yield cell.ask(body, Intent.FRESH)
            yield cell.ask(body)


def streamed(cell: Cell) -> Script:
    """A fresh long prompt streamed twice in a row, under each lifetime that the surface has."""
    for name, fields in lifetimes(cell):
        body = fresh(cell, f"streamed {name}", stream=True, **fields)
        yield cell.ask(body, Intent.FRESH)
        yield cell.ask(body)


def block_markers(cell: Cell) -> Script:
    """A marker inside a block, whose lifetime is not the top level's; one request of them streamed."""
    if cell.protocol is not Protocol.MESSAGES or not cell.k31:
        return
    ways: tuple[tuple[str, dict[str, Any]], ...] = (
        ("1h", {}),
        ("1h", {"cache_control": _control("5m"), "stream": True}),
        ("5m", {"cache_control": _control("1h")}),
    )
    for ttl, top in ways:
        text = f"{cell.words(LONG, f'marker {ttl} {len(top)}')}\n\nReply with OK."
        block = {"type": "text", "text": text, "cache_control": _control(ttl)}
        yield cell.challenge(cell.body(messages=[{"role": "user", "content": [block]}], **top))


def both_modes(cell: Cell) -> Script:
    """After a warm-up, the same long prompt twice streamed and twice not, interleaved."""
    plain, streamed = cell.both(fresh(cell, "both modes"))
    yield cell.ask(plain, Intent.FRESH)
    for body in (streamed, plain, streamed, plain):
        yield cell.ask(body)


def lifetimes(cell: Cell) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and request fields of every way to set the lifetime of what is written; none is the default, 5m."""
    yield "default", {}
    if cell.row.cache_ttl and cell.protocol is not Protocol.RESPONSES:
        for ttl in ("5m", "1h"):
            if cell.protocol is Protocol.CHAT:
                yield ttl, {"prompt_cache_options": {"mode": "implicit", "ttl": ttl}}
            else:
                yield ttl, {"cache_control": _control(ttl)}


def _control(ttl: str) -> dict[str, str]:
    return {"type": "ephemeral", "ttl": ttl}
