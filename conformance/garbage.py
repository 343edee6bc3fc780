"""Python's garbage collector, held back while evidence is read and judged."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = (50_000, 10, 10)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look for cycles seldom: what is read from evidence has none, lives on, and would be looked through each time."""
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
