"""What a conversation goes on with, and the helpers that put it into a request body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

New = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""The next turn: the user's text, tool results by call id, or messages (input items) in the surface's own form."""


class NoAnswerError(ValueError):
    """A body has no assistant turn that a request could go on from."""


def without_none(**fields: Any) -> dict[str, Any]:
    """The fields that are set, in order."""
    return {name: value for name, value in fields.items() if value is not None}
