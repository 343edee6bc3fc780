"""Clauses: everything the vendored documents say, place by place, and the rules that test it.

The map is openapi/clauses.toml: each clause belongs to exactly one entry, which names rules or gives a reason why none
tests it.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import msgspec

from conformance.specs import documents
from conformance.specs.openapi_places import openapi_places
from conformance.specs.page_places import page_places
from conformance.specs.places import Place, line_of

_BEGINNING = " …"


class Clause(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a document says: a sentence, a keyword, a status, an example or a field of one."""

    document: str
    place: str  # a JSON pointer into the OpenAPI part (``#/…``), or the section and field of the page: Body/max_tokens
    line: int  # 1-based
    text: str  # sentences without Markdown, keywords as ``minimum: 1``
    rules: tuple[str, ...] = ()  # the rules that test it
    excluded: str | None = None  # why none does; with neither rules nor this it is uncovered
    start: int = 0  # offsets into the document, in characters
    end: int = 0


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the map: which clauses it stands for, and what becomes of them."""

    text: tuple[str, ...]  # whole texts; one that ends in `` …`` is a beginning
    document: tuple[str, ...] = ()  # empty: every document
    place: tuple[str, ...] = ()  # patterns: * is within a step, ** any steps or none; empty: every place
    rules: tuple[str, ...] = ()
    excluded: str | None = None  # a reason of the map's vocabulary, after a colon perhaps more words


class ClauseMapError(Exception):
    """The map cannot be read, or an entry is none; the message names it."""


class ClauseMap(msgspec.Struct, frozen=True, kw_only=True):
    """The whole map."""

    reasons: dict[str, str]  # the vocabulary: reason to what it means
    entries: tuple[Entry, ...]


def parsed(text: str) -> ClauseMap:
    """Read a map; ClauseMapError names an entry without exactly one of rules and excluded, or with another reason."""
    try:
        table = tomllib.loads(text)
        reasons = msgspec.convert(table.get("reasons", {}), dict[str, str], strict=True)
        entries = tuple(_entry(row) for row in table.get("clause", []))
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ClauseMapError(f"clauses.toml: {error}") from None
    for number, entry in enumerate(entries, start=1):
        named = f"clauses.toml: entry {number} ({entry.text[0] if entry.text else 'without text'!r})"
        if not entry.text or bool(entry.rules) == (entry.excluded is not None):
            raise ClauseMapError(f"{named} needs a text, and either rules or excluded")
        if entry.excluded is not None and exclusion(entry.excluded) not in reasons:
            raise ClauseMapError(f"{named} gives the reason {entry.excluded!r}; there are {', '.join(reasons)}")
    return ClauseMap(reasons=reasons, entries=entries)


def _entry(row: dict[str, Any]) -> Entry:
    lists = {key: [row[key]] for key in ("text", "document", "place") if isinstance(row.get(key), str)}
    return msgspec.convert(row | lists, Entry, strict=True)


def exclusion(excluded: str) -> str:
    """The reason by itself, without what an entry adds after a colon."""
    return excluded.split(":", 1)[0]


@functools.cache
def clause_map() -> ClauseMap:
    """The map of openapi/clauses.toml."""
    return parsed((documents.root() / "clauses.toml").read_text(encoding="utf-8"))


@functools.cache
def places(name: str) -> tuple[Place, ...]:
    """Everything that a document says, in its order."""
    return tuple(sorted((*page_places(name), *openapi_places(name)), key=lambda place: place.start))


@functools.cache
def _pattern(place: str) -> re.Pattern[str]:
    steps = re.split(r"(/\*\*/|\*\*|\*)", place)
    known = {"/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*"}
    return re.compile("".join(known.get(step, re.escape(step)) for step in steps))


def matches(entry: Entry, document: str, place: Place) -> bool:
    """Whether an entry stands for what a document says at a place."""
    return (
        any(
            place.text.startswith(text.removesuffix(_BEGINNING)) if text.endswith(_BEGINNING) else place.text == text
            for text in entry.text
        )
        and (not entry.document or document in entry.document)
        and (not entry.place or any(_pattern(pattern).fullmatch(place.place) for pattern in entry.place))
    )


@functools.cache
def _by_text() -> tuple[dict[str, list[Entry]], list[tuple[str, Entry]]]:
    """The entries of the map by their whole texts, and those with a beginning."""
    whole: dict[str, list[Entry]] = {}
    beginnings: list[tuple[str, Entry]] = []
    for entry in clause_map().entries:
        for text in entry.text:
            if text.endswith(_BEGINNING):
                beginnings.append((text.removesuffix(_BEGINNING), entry))
            else:
                whole.setdefault(text, []).append(entry)
    return whole, beginnings


def _named(text: str) -> Iterator[Entry]:
    """The entries that name a text: one of them at most is for its document and place."""
    whole, beginnings = _by_text()
    yield from whole.get(text, ())
    yield from (entry for beginning, entry in beginnings if text.startswith(beginning))


@functools.cache
def clauses(document: str | None = None) -> tuple[Clause, ...]:
    """Every clause of one document, or of all in the order of sources.toml; LookupError for an unknown document."""
    if document is None:
        return tuple(clause for row in documents.sources() for clause in clauses(row.name))
    documents.document(document)
    return tuple(_clause(document, place) for place in places(document))


def _clause(document: str, place: Place) -> Clause:
    entry = next((entry for entry in _named(place.text) if matches(entry, document, place)), None)
    return Clause(
        document=document,
        place=place.place,
        line=line_of(document, place.start),
        text=place.text,
        rules=entry.rules if entry else (),
        excluded=entry.excluded if entry else None,
        start=place.start,
        end=place.end,
    )
