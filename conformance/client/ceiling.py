"""Where to hang up: a stream that has gone on for more tokens than a probe is willing to pay for."""

from __future__ import annotations

import re

BYTES_A_TOKEN = 4  # of text; an event that holds more text than that counts as more than one token
_LONGEST_LINE = 64 * 1024  # bytes of an unfinished line that are kept
_TEXT = re.compile(
    rb'"(?:content|reasoning_content|text|thinking|partial_json|arguments|delta)"\s*:\s*"((?:[^"\\]|\\.)*+)'
)


class Ceiling:
    """Counts the tokens of a stream as they come: at least one for each event with text, more for long ones."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self._counted = 0
        self._rest = b""

    def reached(self, data: bytes) -> bool:
        """Whether the stream with this part of it is beyond the ceiling."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            self._counted += sum(-(-len(text) // BYTES_A_TOKEN) for text in _TEXT.findall(line))
        return self._counted > self.tokens
