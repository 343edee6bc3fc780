"""Input tokens and the prompt cache: longest known prefix, per key and model, in blocks of 128 tokens."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator

import msgspec

from conformance.models import CONTEXT_WINDOW
from conformance.reference import tokens
from conformance.reference.problems import Problem
from conformance.reference.prompts import Media, Part, PastCall, Prompt, ToolResult
from conformance.reference.results import Result

BLOCK = 128  # tokens; a prefix is known in whole blocks
LEAST = 1024  # tokens; nothing shorter is written or read
SECONDS = {"5m": 300.0, "1h": 3600.0}
_MOST_BLOCKS = 200_000


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """The input tokens of a prompt, and each block border with a digest of everything before it."""

    total: int
    borders: tuple[tuple[int, bytes], ...]


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """How many input tokens were read from the cache, and how many were written to it."""

    read: int
    written: int


def measured(prompt: Prompt) -> Measure:
    """Count a prompt: its tools and messages decide, not the way the answer is wanted."""
    total = since = 0
    borders: list[tuple[int, bytes]] = []
    digest = hashlib.blake2b(digest_size=16)
    for unit in _units(prompt):
        if isinstance(unit, Media):
            digest.update(unit.digest.encode())
            total, since = total + unit.tokens, since + unit.tokens
            if since >= BLOCK:
                borders.append((total, digest.digest()))
                since = 0
            continue
        start = 0
        for match in tokens.matches(unit):
            total, since = total + 1, since + 1
            if since >= BLOCK:
                digest.update(unit[start : match.end()].encode())
                borders.append((total, digest.digest()))
                start, since = match.end(), 0
        digest.update(unit[start:].encode())
    return Measure(total=total, borders=tuple(borders))


def _units(prompt: Prompt) -> Iterator[str | Media]:
    """What costs tokens, in the order in which a prefix grows over the turns of a conversation."""
    for tool in prompt.tools:
        yield f"<tool>{tool.name}\n{tool.description}\n"
        yield msgspec.json.encode(tool.parameters).decode()
    if prompt.search:
        yield "<search>"
    for message in prompt.messages:
        yield f"<{message.role}>"
        for part in message.parts:
            yield from _part(part)


def _part(part: Part) -> Iterator[str | Media]:
    if isinstance(part, Media):
        yield part
    elif isinstance(part, PastCall):
        yield f"{part.name}({part.arguments})"
    elif isinstance(part, ToolResult):
        yield part.text
        yield from part.media
    else:
        yield part.text


def overflow(measure: Measure) -> Iterator[Problem]:
    """The problem of a prompt that leaves no room for an answer."""
    if measure.total >= CONTEXT_WINDOW:
        message = f"the prompt holds {measure.total} tokens; the context window is {CONTEXT_WINDOW} tokens"
        yield Problem(kind="context-exceeded", message=message, code="context_length_exceeded")


def with_usage(result: Result, prompt: Prompt, measure: Measure, share: Share) -> Result:
    """The answer with its input tokens counted."""
    usage = msgspec.structs.replace(
        result.usage,
        input=measure.total,
        cached=share.read,
        written=share.written,
        ttl=prompt.ttl,
    )
    return msgspec.structs.replace(result, usage=usage)


class Cache:
    """The blocks that are known, until their time to live has passed unread; safe between threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._blocks: OrderedDict[tuple[str, str, bytes], tuple[float, str]] = OrderedDict()

    def share(self, owner: str, prompt: Prompt, measure: Measure) -> Share:
        """Read the longest known prefix of the prompt and write the rest of it with the prompt's TTL."""
        if not measure.borders or measure.borders[-1][0] < LEAST:
            return Share(read=0, written=0)
        now = self._clock()
        keys = [(owner, prompt.model, digest) for _, digest in measure.borders]
        with self._lock:
            known = self._known(keys, now)
            if known and measure.borders[known - 1][0] < LEAST:
                known = 0
            for index, key in enumerate(keys):
                ttl = self._blocks[key][1] if index < known else prompt.ttl
                self._blocks[key] = (now + SECONDS[ttl], ttl)
                self._blocks.move_to_end(key)
            while len(self._blocks) > _MOST_BLOCKS:
                self._blocks.popitem(last=False)
        read = measure.borders[known - 1][0] if known else 0
        return Share(read=read, written=measure.borders[-1][0] - read)

    def _known(self, keys: list[tuple[str, str, bytes]], now: float) -> int:
        for index, key in enumerate(keys):
            entry = self._blocks.get(key)
            if entry is None or entry[0] <= now:
                return index
        return len(keys)
