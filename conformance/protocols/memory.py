"""Keeps what was read last, so that a value is read once however many ask for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Memory(Generic[T]):
    """The results of the last ``size`` keys; the objects that a key names by identity are kept alive with them."""

    def __init__(self, size: int) -> None:
        self._size = size
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
            self._kept[key] = (alive, result)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return result
