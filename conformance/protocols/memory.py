"""Keeps what was read last, so that a value is read once however many ask for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Memory(Generic[T]):
    """The results of the last keys, as many as ``size`` and ``weight`` allow, but always the very last.

    The objects that a key names by identity are kept alive with their results.
    """

    def __init__(self, *, size: int, weight: int, weigh: Callable[[T], int]) -> None:
        self._size, self._limit, self._weigh = size, weight, weigh
        self._weight = 0
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, tuple[object, T]] = OrderedDict()

    def recall(self, key: Hashable, alive: object, make: Callable[[], T]) -> T:
        """The result under a key, made now where it is not known."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][1]
        result = make()
        with self._lock:
            if key not in self._kept:
                self._weight += self._weigh(result)
                self._kept[key] = (alive, result)
            while len(self._kept) > 1 and (len(self._kept) > self._size or self._weight > self._limit):
                self._weight -= self._weigh(self._kept.popitem(last=False)[1][1])
        return result
