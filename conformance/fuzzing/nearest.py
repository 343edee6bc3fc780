"""The accepted request that is most like one that fails: among those seen, and a few made by taking a field away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from conformance.fuzzing.bench import Bench
from conformance.generators.differences import Edit, distance, edits
from conformance.generators.failure import Nearest, sent
from conformance.probes.cell import encode
from conformance.specs import request_schema

MOST_MADE = 16  # requests that are sent only to find a nearer one


def nearest(bench: Bench, body: bytes, base: Any) -> Nearest | None:
    """The accepted request with the smallest edit to ``body``; None where none was accepted or the body is no JSON.

    ``base`` is the valid body that a broken one was made from. Sends at most 16 requests.
    """
    try:
        failing = json.loads(body)
    except (ValueError, RecursionError):
        return None
    bench.shrinking = MOST_MADE
    for made in _made(bench, failing, base):
        bench.findings((sent(encode(made)),))
    best: tuple[tuple[int, int], bytes, tuple[Edit, ...]] | None = None
    for candidate in bench.accepted:
        found = edits(failing, json.loads(candidate))
        if found and (best is None or distance(found) < best[0]):
            best = (distance(found), candidate, found)
    return None if best is None else Nearest(text=best[1].decode(), edits=best[2])


def _made(bench: Bench, failing: Any, base: Any) -> Iterator[Any]:
    if base is not None:
        yield base
    if not isinstance(failing, dict):
        return
    required = request_schema(bench.cell.protocol, bench.cell.model)["required"]
    for name in failing:
        if name not in required:
            yield {key: value for key, value in failing.items() if key != name}
