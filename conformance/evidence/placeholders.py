"""Exchanges whose prompts and answers are replaced by placeholders of the same length, so that they can be shared.

What is replaced are the words of texts, reasoning, tool arguments and results, descriptions, and the data of pictures.
The structure of the JSON, the framing of streams and every byte outside such strings stay, and so do ids, names, usage,
error messages, and the words that a schema or a stop sequence fixes. A text that comes in pieces is replaced as a
whole. A verdict can change only where a rule reads what words mean.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from msgspec.structs import replace

from conformance.evidence.words import Words
from conformance.redact import KEY_MARK, PATTERN_MARK, PLACEHOLDER
from conformance.values import Chunk, Exchange

TEXTS = re.compile(
    "arguments|cited_text|content|delta|description|input|instructions|output|partial_json|prompt|query"
    "|reasoning|reasoning_content|refusal|snippet|suffix|summary|system|text|thinking|title"
)
"""The keys whose strings are content, wherever they stand."""

TREES = frozenset({"arguments", "input"})
"""The keys of objects in which every string is content."""

MOST_KEPT = 2_000  # literals of each kind
_ALWAYS = (KEY_MARK, PATTERN_MARK, PLACEHOLDER, "Use web search to find the official Kimi homepage URL.")
"""The marks of what is hidden already, and the documented example of a search, whose words are nobody's."""

PICTURE = 256  # characters of a picture's data that stay: its type and its size
_INDICES = ("type", "index", "output_index", "content_index", "summary_index", "item_id")
_LEXEME = re.compile(r'"((?:[^"\\]++|\\.)*+)"|([{}\[\]:,])|[^\s{}\[\]:,"]+', re.DOTALL)
_PIECE = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)|([^\\]+)", re.DOTALL)
_DATA_LINE = re.compile(r"(?:\A|(?<=[\r\n]))(?:\ufeff)?data:[ \t]?([^\r\n]*)")
_IN_PATTERN = re.compile(r"(?<!\\)[A-Za-z0-9]{2,100}")  # the words that a pattern spells out
_LONGEST_PATTERN = 1_000  # characters
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
Path = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True)
class _Leaf:
    """A string of a JSON text: where its characters stand, and under which keys."""

    start: int
    end: int
    path: Path


class Placeholders:
    """Replaces content in one exchange after another, everywhere in the same way."""

    def __init__(self) -> None:
        self._words = Words()
        self._names: dict[str, None] = dict.fromkeys(_ALWAYS)
        self._stops: dict[str, None] = {}
        self._words.keep(self._names, self._stops)

    def learn(self, exchanges: Iterable[Exchange]) -> None:
        """Find the words that requests fix: first in all exchanges that belong together, and then replace."""
        before = len(self._names) + len(self._stops)
        for exchange in exchanges:
            document = _loaded(exchange.request.body.decode("utf-8", "surrogateescape"))
            if isinstance(document, dict):
                for found, kept in ((_names(document), self._names), (_stops(document), self._stops)):
                    kept.update(dict.fromkeys(islice(found, max(0, MOST_KEPT - len(kept)))))
        if len(self._names) + len(self._stops) != before:
            self._words.keep(self._names, self._stops)

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange with placeholders; its bytes have the same lengths, and its chunks the same borders."""
        request = replace(exchange.request, body=self._body(exchange.request.body))
        response = exchange.response
        if response is not None:
            clean = self._body(b"".join(chunk.data for chunk in response.chunks))
            chunks: list[Chunk] = []
            start = 0
            for chunk in response.chunks:
                chunks.append(Chunk(ms=chunk.ms, data=clean[start : start + len(chunk.data)]))
                start += len(chunk.data)
            response = replace(response, chunks=tuple(chunks))
        return replace(exchange, request=request, response=response)

    def _body(self, data: bytes) -> bytes:
        text = data.decode("utf-8", "surrogateescape")
        lines = list(_DATA_LINE.finditer(text))
        if lines and not text.lstrip().startswith(("{", "[")):
            spans = [(match.start(1), match.end(1)) for match in lines]
        else:
            spans = [(0, len(text))]
        changes = self._changes(text, spans)
        parts: list[str] = []
        end = 0
        for start, stop, new in sorted(changes):
            parts += [text[end:start], new]
            end = stop
        parts.append(text[end:])
        return "".join(parts).encode("utf-8", "surrogateescape")

    def _changes(self, text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int, str]]:
        """The strings of the JSON texts at the spans that are content, with what replaces each."""
        channels: dict[Any, list[tuple[_Leaf, list[tuple[str, str]]]]] = defaultdict(list)
        changes: list[tuple[int, int, str]] = []
        for number, (start, end) in enumerate(spans):
            leaves = [leaf for leaf in _leaves(text, start, end) if leaf.start < leaf.end]
            document = _loaded(text[start:end]) if leaves else None
            for leaf in leaves:
                raw = text[leaf.start : leaf.end]
                if _is_text(leaf.path):
                    key = (number, leaf.start) if document is None else _channel(document, leaf.path)
                    channels[key].append((leaf, _pieces(raw)))
                elif leaf.path and leaf.path[-1] in ("data", "url") and len(raw) > PICTURE:
                    changes.append((leaf.start, leaf.end, _picture(raw)))
        for members in channels.values():
            whole = "".join(char for _, pieces in members for _, char in pieces)
            clean = self._words.replaced(whole)
            place = 0
            for leaf, pieces in members:
                size = sum(len(char) for _, char in pieces)
                changes.append((leaf.start, leaf.end, _spelled(pieces, clean[place : place + size])))
                place += size
        return changes


def _leaves(text: str, start: int, end: int) -> Iterator[_Leaf]:
    """The string values of a JSON text, in any state; nothing is demanded of its structure."""
    path: list[str | int | None] = []  # the key or the index within each open object and array
    key_next: list[bool] = []
    for match in _LEXEME.finditer(text, start, end):
        mark = match.group(2)
        if match.group(1) is not None:
            if key_next and key_next[-1]:
                path[-1] = match.group(1)
            else:
                yield _Leaf(
                    start=match.start(1), end=match.end(1), path=tuple(step for step in path if step is not None)
                )
        elif mark in ("{", "["):
            path.append(None if mark == "{" else 0)
            key_next.append(mark == "{")
        elif mark in ("}", "]"):
            if path:
                path.pop()
                key_next.pop()
        elif mark == ":" and key_next:
            key_next[-1] = False
        elif mark == "," and path:
            step = path[-1]
            if isinstance(step, int):
                path[-1] = step + 1
            else:
                key_next[-1] = True


def _is_text(path: Path) -> bool:
    names = [step for step in path if isinstance(step, str)]
    if not names or "error" in names:
        return False
    if any(step in TREES and isinstance(path[place + 1], str) for place, step in enumerate(path[:-1])):
        return True
    return TEXTS.fullmatch(names[-1]) is not None


def _channel(document: Any, path: Path) -> Any:
    """What the pieces of one text have in common: the keys above them, and the indices that the event names."""
    node, steps = document, []
    marks = tuple(str(document.get(name)) for name in _INDICES) if isinstance(document, dict) else ()
    for step in path:
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            return (marks, path)
        index = node.get("index") if isinstance(node, dict) else None
        steps.append(("index", index) if isinstance(index, int) else step)
    return (marks, tuple(steps))


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _pieces(raw: str) -> list[tuple[str, str]]:
    """The characters of a string as they are written, and what they mean; surrogate pairs stay two."""
    found: list[tuple[str, str]] = []
    for match in _PIECE.finditer(raw):
        code, simple, plain = match.groups()
        meaning = chr(int(code, 16)) if code else _SIMPLE.get(simple, simple) if simple else plain
        found.append((match.group(), meaning))
    return found


def _spelled(pieces: list[tuple[str, str]], clean: str) -> str:
    """New characters, written as the old ones were: a letter that was an escape is one again."""
    parts: list[str] = []
    place = 0
    for raw, meaning in pieces:
        new = clean[place : place + len(meaning)]
        place += len(meaning)
        if new == meaning or not raw.startswith("\\"):
            parts.append(raw if new == meaning else new)
        else:
            parts.append(f"\\u{ord(new):04x}" if raw.startswith("\\u") else raw)
    return "".join(parts)


def _picture(raw: str) -> str:
    """The data of a picture without what it shows; an ordinary address stays."""
    if raw.startswith(("http:", "https:")):
        return raw
    return raw[:PICTURE] + re.sub(r"[A-Za-z0-9+/_-]", "A", raw[PICTURE:])


def _stops(document: dict[str, Any]) -> Iterator[str]:
    """The stop sequences of a request, and what almost is one."""
    for key in ("stop_sequences", "stop"):
        value = document.get(key)
        for sequence in value if isinstance(value, list) else [value]:
            if isinstance(sequence, str) and 0 < len(sequence) <= 200:
                yield sequence
                yield from (near for near in (sequence[:-1], sequence[1:]) if len(near) > 2)


def _names(document: dict[str, Any]) -> Iterator[str]:
    """The literals that a request fixes for its answer: names and values of its tools and schemas."""
    for key in ("tools", "tool_choice", "response_format", "text", "output_format", "output_config"):
        yield from _declared(document.get(key))


def _declared(tree: Any) -> Iterator[str]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            for key, value in node.items():
                if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping):
                    yield from (name for name in value if 1 < len(name) <= 100)
                if key in ("name", "const", "default", "enum", "required", "examples"):
                    values = value if isinstance(value, list) else [value]
                    yield from (item for item in values if isinstance(item, str) and 0 < len(item) <= 100)
                elif key == "pattern" and isinstance(value, str):
                    yield from _IN_PATTERN.findall(value[:_LONGEST_PATTERN])
                stack.append(value)
        elif isinstance(node, list):
            stack += node
