"""Patterns over rule ids and case ids: ``*`` stays within a segment, ``**`` crosses segments.

A rule id has segments between dots (``usage.total-is-sum``). A case id is rule, surface and model between slashes; dots
part segments in its rule only, since model ids hold dots themselves (``usage.*/chat/kimi-*``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache


class NoMatch(Exception):
    """A pattern matches no rule; ``nearest`` holds valid ones that the author may have meant."""

    def __init__(self, pattern: str, nearest: tuple[str, ...]) -> None:
        super().__init__(f"{pattern!r} matches no rule")
        self.pattern = pattern
        self.nearest = nearest


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern covers a whole id; one without a slash covers every case of the rules that it names."""
    if "/" in name and "/" not in pattern and not pattern.endswith("**"):
        pattern += "/**"
    return _compiled(pattern).fullmatch(name) is not None


def select(patterns: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """The ids that any of the patterns matches, in their own order. Raises ``NoMatch`` for one that matches none."""
    names = tuple(names)
    chosen: set[str] = set()
    for pattern in patterns:
        found = {name for name in names if matches(pattern, name)}
        if not found:
            raise NoMatch(pattern, nearest(pattern, names))
        chosen |= found
    return tuple(name for name in names if name in chosen)


def nearest(name: str, names: Iterable[str], *, most: int = 3) -> tuple[str, ...]:
    """The ids, or the pattern of a family, that a name is closest to; empty when it is close to none."""
    names = tuple(names)
    bare = name.strip().rstrip("*").rstrip(".").lower()
    if bare and any(other.startswith(f"{bare}.") for other in names):
        return (f"{bare}.**",)
    close = get_close_matches(bare, names, n=most, cutoff=0.5)
    if close or not bare:
        return tuple(close)
    families = sorted({other.split(".", 1)[0] for other in names})
    tails = [other for other in names if other.split(".", 1)[-1] == bare.split(".", 1)[-1]]
    return tuple(tails[:most]) or tuple(f"{family}.**" for family in get_close_matches(bare, families, n=1))


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts: list[str] = []
    segment = "[^./]*"
    for piece in re.findall(r"\*+|/|[^*/]+", pattern):
        if piece == "/":
            segment = "[^/]*"
            parts.append("/")
        elif piece.startswith("*"):
            parts.append(segment if piece == "*" else ".*")
        else:
            parts.append(re.escape(piece))
    return re.compile("".join(parts))
