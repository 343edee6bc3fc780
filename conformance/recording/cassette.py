"""One cassette: what one probe sent and got on one surface and model, and where that came from.

The file is a cassette of vcrpy, version 1, with our facts under ``metadata`` and beside each request and response; the
streams' parts and times are in a file beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

import msgspec

from conformance.evidence import Unreadable, beside, cassettes, literals, replayable
from conformance.evidence.replayable import Interaction
from conformance.values import Exchange, Protocol

LARGEST = 64 * 1024**2  # bytes of a file
_HEAD = 16_384  # bytes that hold the metadata
_INTERACTIONS = "\ninteractions:"


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a cassette comes from; no credentials. It stands under ``metadata``."""

    format: str = replayable.FORMAT
    version: int = replayable.VERSION
    probe: str
    protocol: Protocol
    model: str
    target: str
    reference: bool  # recorded from the embedded reference server, so it says nothing about the API
    base_urls: tuple[str, ...]
    limited: str | None
    recorded: str  # ISO 8601, UTC: when the run began
    suite: str  # version of this package
    profile: str
    night: str  # ISO 8601: the date by which a nightly run chose what it played
    seed: int
    specs: dict[str, str]  # name to sha256 of the documents of the surface


class Cassette(msgspec.Struct, frozen=True, kw_only=True):
    """What one file holds."""

    path: str
    provenance: Provenance
    interactions: tuple[Interaction, ...]

    def step(self, number: int) -> tuple[Interaction, ...]:
        """The attempts of one step, in order; none where it was not recorded."""
        found = (one for one in self.interactions if one.step == number)
        return tuple(sorted(found, key=lambda one: one.attempt))


def name_of(probe: str, protocol: Protocol, model: str) -> str:
    """The path of a cassette below its folder."""
    return f"{protocol.value}/{probe}.{model}.yaml"


def save(path: Path, provenance: Provenance, exchanges: Sequence[tuple[int, Exchange]]) -> None:
    """Write a cassette, and the file beside it where a stream has parts.

    Exchanges come with the number of their step and are redacted already. Raises ``OSError``.
    """
    items, lines = [], []
    for number, (step, exchange) in enumerate(exchanges, 1):
        item, kept = replayable.item(exchange, number, step)
        items.append(item)
        if kept is not None:
            lines.append(kept)
    text = literals.document({"version": 1, "metadata": msgspec.to_builtins(provenance), "interactions": items})
    path.parent.mkdir(parents=True, exist_ok=True)
    if lines:
        beside.path_of(path).write_bytes(beside.written(lines))
    else:
        beside.path_of(path).unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def load(path: Path) -> Cassette:
    """Read a cassette. Raises ``Unreadable``, also for one that another recorder wrote."""
    document, cut = cassettes.load(_bytes(path), str(path))
    if cut is not None:
        raise Unreadable(str(path), cut)
    provenance = _provenance(document.get("metadata"), path)
    kept = replayable.kept_beside(document, str(path))
    found: list[Interaction] = []
    for number, item in enumerate(document["interactions"], 1):
        one = replayable.interaction(item, kept.get(number))
        if isinstance(one, str):
            raise Unreadable(str(path), f"interaction {number}: {one}")
        found.append(one)
    fault = _unordered(found)
    if fault is not None:
        raise Unreadable(str(path), fault)
    return Cassette(path=str(path), provenance=provenance, interactions=tuple(found))


def provenance_of(path: Path) -> Provenance:
    """Where a cassette comes from, without reading the rest of it. Raises ``Unreadable``."""
    head = _bytes(path, _HEAD).decode("utf-8", "replace").partition(_INTERACTIONS)[0]
    document, _ = cassettes.load(
        f"{head}\ninteractions:\n- request: {{}}\n  response: {{status: 0}}\n".encode(), str(path)
    )
    return _provenance(document.get("metadata"), path)


def _provenance(metadata: object, path: Path) -> Provenance:
    if not isinstance(metadata, dict) or metadata.get("format") != replayable.FORMAT:
        raise Unreadable(str(path), "a cassette that kimi-conformance did not record")
    if metadata.get("version") != replayable.VERSION:
        raise Unreadable(str(path), f"a cassette of another version than {replayable.VERSION}; record it again")
    try:
        row = msgspec.convert(metadata, Provenance)
        date.fromisoformat(row.night)
    except ValueError as error:
        raise Unreadable(str(path), f"broken metadata ({str(error)[:160]})") from None
    if not row.base_urls:
        raise Unreadable(str(path), "broken metadata (expected an address in base_urls)")
    return row


def _unordered(interactions: Iterable[Interaction]) -> str | None:
    """What is wrong with the attempts of a step: one is there twice, or lacks those before it."""
    attempts: dict[int, list[int]] = {}
    for one in interactions:
        attempts.setdefault(one.step, []).append(one.attempt)
    for step, numbers in attempts.items():
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            told = ", ".join(map(str, sorted(numbers)[:10]))
            return f"step {step} has the attempts {told}; expected each once, from 1"
    return None


def _bytes(path: Path, most: int | None = None) -> bytes:
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise Unreadable(str(path), "no regular file")
        if path.stat().st_size > LARGEST:
            raise Unreadable(str(path), f"larger than {LARGEST} bytes")
        with path.open("rb") as file:
            return file.read() if most is None else file.read(most)
    except OSError as error:
        raise Unreadable(str(path), error.strerror or str(error)) from None
