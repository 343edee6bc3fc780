"""What secrets look like, wherever they stand, and text without what looks like one."""

from __future__ import annotations

import re
from collections.abc import Iterator

SHAPES = {
    "a key": r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}",
    "a bearer token": r"\bBearer\s+(?!REDACTED)[A-Za-z0-9._~+/-]{16,}",
    "basic credentials": r"\bBasic\s+[A-Za-z0-9+/]{12,}={0,2}",
    "a JSON web token": r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    "an access key of AWS": r"\bAKIA[0-9A-Z]{16}\b",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
}
_IN_BYTES = {kind: re.compile(shape.encode()) for kind, shape in SHAPES.items()}
_IN_TEXT = re.compile("|".join(SHAPES.values()), re.ASCII)


def shapes_in(data: bytes) -> Iterator[str]:
    """The kinds of secrets that data seems to hold."""
    return (kind for kind, shape in _IN_BYTES.items() if shape.search(data))


def hidden(text: str) -> str:
    """The text without what looks like a secret."""
    return _IN_TEXT.sub("[hidden]", text)
