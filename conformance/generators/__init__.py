"""Requests made from the effective schemas: each constraint broken alone, each of its edges met.

Everything here is deterministic and sends nothing. What a request has to mean is not in a schema: the valid requests
that others are made from are handed in.
"""

from __future__ import annotations

from conformance.generators.constraints import (
    Base,
    Case,
    Mark,
    Side,
    UnreachableError,
    broken,
    demanded,
    edges,
    marks,
)

__all__ = ["Base", "Case", "Mark", "Side", "UnreachableError", "broken", "demanded", "edges", "marks"]
