"""The folder that a run writes into: made when it is claimed, held against others, gone again where nothing came."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Self

from conformance.plugin.lock import Held, Lock

LOCK = ".lock"
LEFT_BEHIND = (".journal-*.jsonl", ".journal.new", ".budget.sqlite*")
"""What a run that was killed leaves, and nobody reads any more: journals of workers, one half joined, what it spent."""


class Taken(Exception):
    """Another run writes into the folder; the message says which, and what to do."""


class Folder:
    """A folder that is there, with those above it, until ``release`` finds it empty."""

    def __init__(self, path: str | Path, *, new: bool = False) -> None:
        """Make it, and what is missing above it. Raises ``OSError``, also for a ``new`` one that is there."""
        self.path = Path(path)
        self._made: list[Path] = []
        self._lock: Lock | None = None
        try:
            for place in reversed([place for place in self.path.parents if not place.exists()]):
                place.mkdir(exist_ok=True)
                self._made.append(place)
            if new or not self.path.is_dir():
                self.path.mkdir()
                self._made.append(self.path)
        except BaseException:
            self.release()
            raise

    @classmethod
    def claim(cls, path: str | Path, *, new: bool = False) -> Self:
        """One that no other run writes into, cleared of what a killed one left. Raises ``OSError``, ``Taken``."""
        folder = cls(path, new=new)
        try:
            folder._hold()
        except BaseException:
            folder.release()
            raise
        return folder

    @classmethod
    def claim_new(cls, base: str | Path) -> Self:
        """``base``, or ``base-2``, ``base-3`` and so on: the first that is not there. Raises ``OSError``."""
        base, number, path = Path(base), 1, Path(base)
        while True:
            if not path.exists():
                with suppress(FileExistsError, Taken):  # another run was faster
                    return cls.claim(path, new=True)
            number += 1
            path = base.with_name(f"{base.name}-{number}")

    def release(self) -> None:
        """Let others have it; what was made is removed where it is empty. Once more is harmless."""
        if self._lock is not None:
            self._lock.release()
        with suppress(OSError):  # something was written
            while self._made:
                self._made[-1].rmdir()
                self._made.pop()

    def _hold(self) -> None:
        try:
            self._lock = Lock(self.path / LOCK)
        except Held as holder:
            who = f" (process {holder.process})" if holder.process else ""
            raise Taken(
                f"another run{who} writes into {self.path}: wait until it has ended, or name another folder"
            ) from None
        for pattern in LEFT_BEHIND:
            for path in self.path.glob(pattern):
                path.unlink(missing_ok=True)
