"""What a file of evidence holds once it is read, and the error that says why it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

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

    @property
    def count(self) -> int:
        """How many exchanges the file holds."""
        return len(self.exchanges)


def opened(name: str) -> BinaryIO:
    """A file open for reading bytes. Raises ``Unreadable``."""
    try:
        if not Path(name).is_file():
            raise Unreadable(name, _absent(Path(name)))
        return Path(name).open("rb")
    except OSError as error:
        raise Unreadable(name, error.strerror or str(error)) from None
    except ValueError:
        raise Unreadable(name, "no such file") from None


def _absent(path: Path) -> str:
    if path.is_dir():
        return "a directory"
    return "no regular file" if path.exists() else "no such file"
