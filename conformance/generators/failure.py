"""A failure of generated requests as a value and as a file: enough to send exactly the same again.

The file is JSON and holds no key: how a request authenticates stands there as a word only.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import msgspec

from conformance.generators.differences import Edit
from conformance.models import MODELS
from conformance.values import Basis, Intent, Level, Protocol, Source

FORMAT = "kimi-conformance/failure"
VERSION = 1
LARGEST = 32 * 1024 * 1024  # bytes of a file
MOST_REQUESTS = 100  # of one failure


class Sent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request of a failure: its body as text, or in base64 where it is no UTF-8."""

    text: str | None = None
    base64: str | None = None
    intents: tuple[Intent, ...] = ()
    parent: int | None = None  # the place of the request whose answer this one goes on from

    @property
    def body(self) -> bytes:
        """The bytes that are sent."""
        return self.text.encode() if self.text is not None else base64.b64decode(self.base64 or "", validate=True)


class Nearest(msgspec.Struct, frozen=True, kw_only=True):
    """The accepted request that is most like the last one of a failure, and what to edit to get there."""

    text: str
    edits: tuple[Edit, ...]


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One rule that generated requests break, with the smallest requests that were found to break it."""

    format: str = FORMAT
    version: int = VERSION
    tool: str  # the version of this package that found it
    rule: str
    level: Level
    basis: Basis
    statement: str
    source: Source
    protocol: Protocol
    model: str
    message: str
    pointer: str = ""
    expected: Any = None
    actual: Any = None
    kind: str  # valid, broken, hostile or conversation
    seed: int
    examples: int  # requests that were drawn until it showed
    tries: int  # what shrinking tried
    also: tuple[str, ...] = ()  # other rules that the same requests break
    broken: str | None = None  # the constraint that the last request breaks on purpose
    requests: tuple[Sent, ...]
    nearest: Nearest | None = None


class BrokenFailureFile(Exception):
    """The file is no failure file; the message says why."""


def sent(body: bytes, intents: tuple[Intent, ...] = (), parent: int | None = None) -> Sent:
    """A request as a failure keeps it."""
    try:
        return Sent(text=body.decode(), intents=intents, parent=parent)
    except UnicodeDecodeError:
        return Sent(base64=base64.b64encode(body).decode(), intents=intents, parent=parent)


def write_failure(path: Path, failure: Failure) -> None:
    """Write a failure as indented JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(failure), indent=1) + b"\n")


def read_failure(path: Path) -> Failure:
    """The failure in a file. Raises ``BrokenFailureFile``."""
    try:
        if path.stat().st_size > LARGEST:
            raise BrokenFailureFile(f"it is larger than {LARGEST} bytes")
        raw = path.read_bytes()
    except (OSError, ValueError) as error:
        raise BrokenFailureFile(getattr(error, "strerror", None) or "no such file") from None
    try:
        found = msgspec.json.decode(raw, type=Failure)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BrokenFailureFile(f"it is no failure file: {' '.join(str(error).split())[:200]}") from None
    _refuse_nonsense(found)
    return found


def _refuse_nonsense(found: Failure) -> None:
    """Raise for what the types alone cannot see."""
    if (found.format, found.version) != (FORMAT, VERSION):
        raise BrokenFailureFile(f"it is {found.format[:80]!r} {found.version}, expected {FORMAT!r} {VERSION}")
    if found.model not in MODELS:
        raise BrokenFailureFile(f"it names the model {found.model[:80]!r}, expected one of {', '.join(MODELS)}")
    if not 0 < len(found.requests) <= MOST_REQUESTS:
        raise BrokenFailureFile(f"it holds {len(found.requests)} requests, expected 1 to {MOST_REQUESTS}")
    for place, request in enumerate(found.requests):
        if (request.text is None) == (request.base64 is None):
            raise BrokenFailureFile(f"request {place + 1} needs either text or base64")
        if request.parent is not None and not 0 <= request.parent < place:
            raise BrokenFailureFile(
                f"request {place + 1} goes on from request {request.parent + 1}, which is not before"
            )
        try:
            request.body  # noqa: B018 (decodes)
        except ValueError:
            raise BrokenFailureFile(f"the base64 of request {place + 1} is broken") from None
