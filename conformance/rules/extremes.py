"""What is extreme in a request: how deep it nests, its longest string, characters that break careless servers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conformance.protocols.view import Asked

DEEP = 200  # levels of arrays and objects
LONG = 2**20  # characters of one string
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class Extremes:
    """What one request holds."""

    depth: int
    longest: int
    surrogates: bool
    nul: bool

    @property
    def kinds(self) -> tuple[str, ...]:
        """What of it is extreme, in words."""
        found = {
            f"nesting of {self.depth} levels": self.depth >= DEEP,
            f"a string of {self.longest} characters": self.longest >= LONG,
            "a lone surrogate": self.surrogates,
            "U+0000": self.nul,
        }
        return tuple(words for words, met in found.items() if met)


def extremes(asked: Asked) -> Extremes:
    """Measure the body of a request, without recursion."""
    depth = longest = 0
    surrogates = nul = False
    stack: list[tuple[object, int]] = [(asked.body, 0)]
    while stack:
        value, level = stack.pop()
        if isinstance(value, dict):
            depth = max(depth, level + 1)
            stack += [(child, level + 1) for pair in value.items() for child in pair]
        elif isinstance(value, list):
            depth = max(depth, level + 1)
            stack += [(child, level + 1) for child in value]
        elif isinstance(value, str):
            longest = max(longest, len(value))
            surrogates = surrogates or not (value.isascii() or _SURROGATE.search(value) is None)
            nul = nul or "\0" in value
    return Extremes(depth=depth, longest=longest, surrogates=surrogates, nul=nul)
