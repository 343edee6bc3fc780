"""Work counted, or compared, instead of timed: the same on every machine, however slow or busy."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

TRIES = 10


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


def takes_linear_time(made: Callable[[int], Any], work: Callable[[Any], object], size: int) -> None:
    """Fail where ``work`` on a thing of this size takes far more than four times the processor time of a quarter of it.

    Work that grows with the square takes 16 times as long. Whatever disturbs a measurement disturbs some of several.
    """
    for _ in range(TRIES):
        spent = []
        for thing in (made(size // 4), made(size)):
            begun = time.thread_time()
            work(thing)
            spent.append(time.thread_time() - begun)
        if spent[1] < 8 * spent[0] + 0.01:
            return
    raise AssertionError(
        f"a quarter took {spent[0]:.3f} seconds, the whole {spent[1]:.3f}, and no less in {TRIES} tries"
    )
