"""What tokens cost: a price table, in whatever currency its owner counts."""

from __future__ import annotations

import msgspec

MILLION = 1_000_000
BYTES_A_TOKEN = 2  # of a request's body, in the worst case: prose has about four


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The price of a million tokens of one model; cached input costs as much as other input unless it is given."""

    input: float
    output: float
    cached: float | None = None

    def of(self, input_tokens: int, output_tokens: int, cached: int = 0) -> float:
        """The cost of one answer; ``cached`` of its input tokens were read from a cache."""
        kept = min(cached, input_tokens)
        each = self.input if self.cached is None else self.cached
        return ((input_tokens - kept) * self.input + kept * each + output_tokens * self.output) / MILLION

    def worst(self, size: int, output_tokens: int) -> float:
        """The most that a request with a body of so many bytes costs."""
        return self.of(-(-size // BYTES_A_TOKEN), output_tokens)
