"""What makes a request unacceptable, as a value that hooks may add to or take from."""

from __future__ import annotations

import msgspec

OWN_KINDS = frozenset(
    {
        "stop-sequence-bytes",
        "stop-sequence-empty",
        "k3-temperature",
        "k3-top-p",
        "k3-effort",
        "k3-stop-sequences",
        "k3-cache-control",
        "k3-prompt-cache-options",
        "k3-output-format",
        "orphan-result",
        "context-exceeded",
    },
)
_MOST_OF_A_NAME = 100  # characters


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that makes a request unacceptable.

    ``kind`` is one of OWN_KINDS, else the schema keyword that is broken (``type``, ``enum``, ``maximum`` …). ``path``
    leads into the body.
    """

    kind: str
    path: tuple[str | int, ...] = ()
    message: str
    code: str | None = None

    @property
    def pointer(self) -> str:
        """The path as a JSON pointer, long names cut."""
        parts = (str(part).replace("~", "~0").replace("/", "~1") for part in self.path)
        return "".join(f"/{part[:_MOST_OF_A_NAME]}" for part in parts)


def joined(problems: list[Problem]) -> str:
    """One message for all of them."""
    return "; ".join(f"{each.pointer or 'body'}: {each.message}" for each in problems)
