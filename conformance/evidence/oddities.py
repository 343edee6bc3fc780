"""The legal oddities: unusual exchanges that are correct, so that no rule may find anything above info in them.

They lie in fixtures/oddities, one file a topic, as changes to the exchanges of fixtures/bases; ``wire`` then rewrites
the bytes of a stream without changing what a conforming parser reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from conformance.evidence import fixtures
from conformance.evidence.pairs import BadPair, changed
from conformance.values import Chunk, Exchange


@dataclass(frozen=True, kw_only=True)
class Oddity:
    """One unusual and correct recording."""

    topic: str
    name: str
    exchanges: tuple[Exchange, ...]


def _each_event(prefix: bytes) -> Callable[[bytes], bytes]:
    return lambda data: prefix + data.replace(b"\n\n", b"\n\n" + prefix)


WIRES: dict[str, Callable[[bytes], bytes]] = {
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "cr": lambda data: data.replace(b"\n", b"\r"),
    "bom": lambda data: b"\xef\xbb\xbf" + data,
    "comments": _each_event(b": still here\n\n"),
    "named-keep-alive": _each_event(b"event: keep-alive\n\n"),
    "ids": _each_event(b"id: 7\nretry: 3000\n"),
    "blank-lines": lambda data: data.replace(b"\n\n", b"\n\n\n\n"),
    "no-space": lambda data: data.replace(b"data: ", b"data:").replace(b"event: ", b"event:"),
}


def oddities(*, root: Path | None = None) -> Iterator[Oddity]:
    """Every legal oddity, topic by topic. Raises ``BadPair``, naming file and entry."""
    root = root or fixtures.root()
    for path in sorted((root / "oddities").glob("*.yaml")):
        for entry in fixtures.load(path):
            try:
                found = changed(entry["base"], entry.get("change") or [], root)
                wire = entry.get("wire")
                exchanges = tuple(_rewritten(each, WIRES[wire]) for each in found) if wire else found
            except (BadPair, KeyError) as error:
                raise BadPair(f"{path.name}: {entry.get('name')}: {error}") from None
            yield Oddity(topic=path.stem, name=entry["name"], exchanges=exchanges)


def _rewritten(exchange: Exchange, rewrite: Callable[[bytes], bytes]) -> Exchange:
    if exchange.response is None:
        return exchange
    whole = b"".join(chunk.data for chunk in exchange.response.chunks)
    chunks = (Chunk(ms=1.0, data=rewrite(whole)),)
    return replace(exchange, response=replace(exchange.response, chunks=chunks))
