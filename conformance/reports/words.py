"""Words that commands and reports share."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and its noun: ``1 file``, ``2 files``, ``2 entries``."""
    return f"{number} {one if number == 1 else many or one + 's'}"
