"""Output limits: answers that they cut off, their edges and alias, and the context window."""

from __future__ import annotations

import functools
import random

from conformance.probes.cell import CEILING, Cell
from conformance.probes.script import Script
from conformance.probes.tools import LIST_CITIES
from conformance.values import Intent, Protocol

ENDLESS = "Count from 1 to 20000, separated by spaces."
OVERSIZED_BYTES = 8 * 1024 * 1024
_LETTERS = bytes(ord("a") + number % 26 for number in range(256))


def cut_off(cell: Cell) -> Script:
    """Far more asked for than the limit allows: within the reasoning, and within the text."""
    for limit in (16, 256, 1024):
        for body in cell.both(cell.body(ENDLESS, limit=limit)):
            yield cell.ask(body, Intent.CUT_OFF)


def cut_off_call(cell: Cell) -> Script:
    """A forced call with long arguments, cut off at several places."""
    for limit in (256, 512, 1024):
        body = cell.body(
            "Call list_cities with the 400 largest cities of the world.",
            limit=limit,
            tools=[LIST_CITIES.on(cell)],
            choice=cell.builder.choice("required"),
        )
        for mode in cell.both(body):
            yield cell.ask(mode)


def alias(cell: Cell) -> Script:
    """max_tokens instead of max_completion_tokens: ample, cut off in both modes, and both names at once."""
    if cell.protocol is not Protocol.CHAT:
        return
    yield cell.ask(cell.body("Reply with OK.", limit=None, max_tokens=cell.ample), Intent.VALID)
    for body in cell.both(cell.body(ENDLESS, limit=None, max_tokens=128)):
        yield cell.ask(body, Intent.CUT_OFF)
    yield cell.challenge(cell.body("Reply with OK.", limit=1024, max_tokens=2048))


def edges(cell: Cell) -> Script:
    """The smallest and the largest limit that the schema allows."""
    for limit in (1, 1_048_576):
        for body in cell.both(cell.body("Reply with OK.", limit=limit)):
            yield cell.ask(body, Intent.VALID, ceiling=CEILING)


def oversized(cell: Cell) -> Script:
    """A prompt certain to hold more tokens than the context window, with a limit of 1."""
    yield cell.challenge(cell.body(_oversized_words(), limit=1), Intent.OVERSIZED, patient=False)


@functools.cache
def _oversized_words() -> str:
    """8 MiB of random words of six letters, always the same."""
    source = random.Random("oversized")  # noqa: S311 (prompt text)
    text = bytearray(source.randbytes(OVERSIZED_BYTES).translate(_LETTERS))
    text[6::7] = b" " * len(text[6::7])
    return text.decode()
