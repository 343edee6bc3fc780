"""Work counted instead of timed: the same on every machine, however slow or busy."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def calls_below(most: int) -> Iterator[None]:
    """Fail where what is done within calls functions, Python's or C's, so many times or more.

    As a measure: a fast machine makes about ten million calls a second.
    """
    count = itertools.count()
    before = sys.getprofile()
    sys.setprofile(lambda _frame, event, _argument: event in ("call", "c_call") and next(count))
    try:
        yield
    finally:
        sys.setprofile(before)
    found = next(count)
    assert found < most, f"{found:,} calls"
