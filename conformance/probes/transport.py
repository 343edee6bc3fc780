"""What surrounds the body: content types, the two base URLs, the rate limit."""

from __future__ import annotations

from conformance.probes.cell import Cell, encode
from conformance.probes.refusals import LIMIT_NAMES
from conformance.probes.script import Place, Script, Step

CONTENT_TYPES = ("application/json", "application/json; charset=utf-8", "Application/JSON")


def content_types(cell: Cell) -> Script:
    """The same request under application/json in three spellings, in both modes."""
    for spelling in CONTENT_TYPES:
        for body in cell.both(cell.body("Reply with exactly: content type")):
            yield Step(body=encode(body), content_type=spelling)


def base_urls(cell: Cell) -> Script:
    """A valid and an invalid request in both modes, each to both base URLs."""
    valid = cell.body("Reply with exactly: two addresses")
    for body in (valid, {**valid, LIMIT_NAMES[cell.protocol]: 0}):
        for mode in cell.both(body):
            for place in (Place.FIRST, Place.SECOND):
                yield cell.challenge(mode, place=place)


def rate_limit(cell: Cell) -> Script:
    """Two requests more than a server allows that takes one a minute."""
    for _ in range(2):
        yield cell.challenge(b"", place=Place.LIMITED, patient=False)
