"""What a reference server is started with."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

DEFAULT_KEY = "sk-reference"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A reference server's keys, rate, seed and clock.

    ``keys`` are the accepted bearer keys; None accepts every key that is not empty and does not start with
    ``invalid``. ``rpm`` is the number of requests a key may send in any 60 seconds; None sets no limit. ``clock``
    gives Unix seconds and drives ``created``, the Date header, the rate limit and the cache. ``chunk_delay`` is the
    pause between two events of a stream, in seconds.
    """

    keys: frozenset[str] | None = frozenset({DEFAULT_KEY})
    rpm: int | None = None
    seed: int = 0
    clock: Callable[[], float] = time.time
    chunk_delay: float = 0.0
