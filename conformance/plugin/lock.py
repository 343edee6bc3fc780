"""A lock of the operating system on a file: held by one process, and given back when that ends, however it ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    _BYTE = 2**30  # beyond the words of the holder, which others are to read

    def _hold(descriptor: int) -> None:
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
else:
    import fcntl

    def _hold(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Held(Exception):
    """Another process holds the lock; ``process`` is its number as it wrote it down, empty where it has not yet."""

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.process = process


class Lock:
    """A file that is locked, and holds the number of the process, until ``release``. Raises ``Held``, ``OSError``.

    Where the file system knows no locks, nothing is held.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = _locked(path)

    def release(self) -> None:
        """Take the file away and let others have the lock; once more is harmless."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        with suppress(OSError):  # Windows removes no open file
            self.path.unlink()
        os.close(descriptor)
        if sys.platform == "win32":
            with suppress(OSError):
                self.path.unlink()


def _locked(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if _first(descriptor) and not _is_at(descriptor, path):  # its holder has just removed it
                os.close(descriptor)
                continue
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor


def _first(descriptor: int) -> bool:
    """Whether the lock is held now; not where there are no locks. Raises ``Held``."""
    try:
        _hold(descriptor)
    except (BlockingIOError, PermissionError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        words = os.read(descriptor, 20).decode("ascii", "replace")
        raise Held(words if words.isdecimal() else "") from None
    except OSError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
