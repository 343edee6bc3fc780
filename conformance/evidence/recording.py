"""What a file of evidence holds once it is read, and the error that says why it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.values import Exchange

LARGEST = 2 * 1024**3
"""Bytes that a file of evidence may have; a larger one is refused before it is read."""


class Unreadable(Exception):
    """A file is broken, empty, foreign or out of reach; ``reason`` says which, and where in the file."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Recording:
    """The exchanges of one file, in its order, and how many of its entries were left out, by reason."""

    path: str
    format: str  # har, journal, vcrpy, go-vcr, jsonl or curl
    exchanges: tuple[Exchange, ...]
    skipped: Mapping[str, int] = field(default_factory=dict)
    cut: str | None = None  # where the file breaks off, when what stands before was read; never conforming
