"""Every constraint of the request schema: broken alone, and at each of its allowed edges."""

from __future__ import annotations

import functools

from conformance.generators import Case, coverage
from conformance.generators import broken as make_broken
from conformance.generators import edges as make_edges
from conformance.probes.bases import bases, withheld
from conformance.probes.cell import CEILING, Cell
from conformance.probes.costs import output_limit
from conformance.probes.script import Script
from conformance.values import Intent


def broken(cell: Cell) -> Script:
    """One constraint broken a request; whatever is accepted all the same may cost a few tokens at most."""
    for case in broken_cases(cell):
        yield cell.challenge(case.body)


def allowed(cell: Cell) -> Script:
    """Valid requests that show every allowed edge; vouched for where the documents leave no doubt.

    One whose limit is large is streamed, so that the client can hang up.
    """
    for case in edge_cases(cell):
        body, ceiling = case.body, None
        about_stream = case.mark.constraint.startswith("/properties/stream")
        if output_limit(cell.protocol, body) > CEILING and not about_stream:
            body, ceiling = {**body, "stream": True}, CEILING
        yield cell.ask(body, Intent.VALID, ceiling=ceiling) if case.sure else cell.challenge(body, ceiling=ceiling)


def further(cell: Cell) -> Script:
    """More ways to break each constraint: those that schemathesis knows. Raises ``MissingSchemathesisError``."""
    for case in coverage.further(cell.protocol, cell.model, bases(cell), broken_cases(cell)):
        yield cell.challenge(case.body)


@functools.cache
def broken_cases(cell: Cell) -> tuple[Case, ...]:
    """The cases that ``broken`` sends, in its order."""
    return make_broken(cell.protocol, cell.model, bases(cell), withheld(cell))


@functools.cache
def edge_cases(cell: Cell) -> tuple[Case, ...]:
    """The cases that ``allowed`` sends, in its order."""
    return make_edges(cell.protocol, cell.model, bases(cell))
