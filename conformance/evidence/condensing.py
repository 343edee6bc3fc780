"""Very long event streams made short without loss: pieces of one text that follow each other are joined.

Two deltas become one where their events are alike byte for byte around the text, so that a client puts the same answer
together and rules see the same events in the same order, only fewer. The ids of events may differ, of which the first
stays, and so may a ``sequence_number`` that rises by one; the numbers of later events are then lowered by one, so that
gaps and steps back stay.
All else (an event with an end, an error, usage or log probabilities, a text that is no JSON string in UTF-8) stays as
it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace

from conformance.evidence.deltas import text_of
from conformance.values import Chunk

JOINED = 64 * 1024  # bytes of text that one event is given, and a little more
LEAST = 4096  # bytes that are looked ahead
END = re.compile(rb"(?:\r\n){2,}|\n{2,}|\r{2,}")
"""Where a block of an event stream ends."""

_TEXT = re.compile(
    rb'(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})++"
)
_PIECE = re.compile(
    rb'(?<!\\)"(?:content|reasoning_content|refusal|text|thinking|partial_json|arguments|delta)"\s*:\s*"((?:[^"\\]++|\\.)++)"'
)
_BEFORE = re.compile(rb"(?:(?:event|id|retry|):[^\r\n]*(?:\r\n|\n|\r))*data: ?(\{[^\r\n]*)")
_AFTER = re.compile(rb"([^\r\n]*)[\r\n]+")
_ID = re.compile(rb"(?:event:[^\r\n]*(?:\r\n|\n|\r))?(id:[^\r\n\0]*(?:\r\n|\n|\r))")
_WIDE = re.compile(rb"[\xf0-\xf4]|\\u[dD]8")
_NUMBER = re.compile(rb'(?<!\\)"sequence_number"\s*:\s*(\d{1,15}(?=[\s,}]))?')


@dataclass(kw_only=True, slots=True)
class _Run:
    """Events that differ in one text only, and in numbers that rise by one; the first number has left the bytes."""

    before: bytes
    after: bytes
    ms: float
    id: bytes  # the line of the first event's id, which has left the bytes too
    place: int  # where that stood
    number: int | None  # of the first event, as it will be written
    following: int | None = None  # the number that the next event has to have
    texts: list[bytes] = field(default_factory=list)
    size: int = 0


class Condenser:
    """Takes the bytes of a stream as they come; ``chunks`` are those of the shorter one, each with its time."""

    def __init__(self) -> None:
        self.events = 0
        """Blocks that were taken in."""
        self.kept = 0
        """Blocks that were given out."""
        self.size = 0
        """Bytes that were given out."""
        self.waiting = 0
        """Bytes of a block whose end has not come."""
        self.wide = False
        """Whether text has characters that four bytes make, such as emoji."""
        self._chunks: list[Chunk] = []
        self._parts: list[bytes] = []  # of the chunk that is being made
        self._ms = 0.0
        self._rest: list[bytes] = []
        self._run: _Run | None = None
        self._joined = 0  # numbers that later events are lowered by

    def feed(self, data: bytes, ms: float) -> None:
        """Take the next bytes, which arrived at ``ms``."""
        self._rest.append(data)
        self.waiting += len(data)
        if b"\n" not in data and b"\r" not in data:
            return
        data = b"".join(self._rest)
        start = 0
        while end := END.search(data, start):
            self._block(data[start : end.end()], ms)
            start = self._many(data, end.end(), ms)
        self._rest = [data[start:]] if start < len(data) else []
        self.waiting = len(data) - start

    def close(self, *, whole: bool = True) -> tuple[Chunk, ...]:
        """The stream so far; of a last event that came without its end, its bytes where they are ``whole``."""
        self._flush()
        if whole:
            self._put(b"".join(self._rest), self._ms)
        self._rest = []
        self._seal()
        return tuple(self._chunks)

    def _block(self, block: bytes, ms: float) -> None:
        self.events += 1
        named = _ID.match(block)
        start, name = (0, b"") if named is None else (named.start(1), named.group(1))
        bare = block[:start] + block[start + len(name) :]
        found = _NUMBER.search(bare) if b'"sequence_number"' in bare else None
        number = None if found is None or found.group(1) is None else int(found.group(1))
        if found is not None and number is not None:
            bare = bare[: found.start(1)] + bare[found.end(1) :]
        if self._continues(bare, number):
            return
        self._flush()
        parts = _parts(bare)
        run = _Run(before=bare, after=b"", ms=ms, id=name, place=start, number=number)
        if number is not None:
            run.number, run.following = number - self._joined, number + 1
        if parts is not None:
            run.before, text, run.after = parts
            run.texts.append(text)
        self._run = run
        if parts is None:
            self._flush()

    def _continues(self, bare: bytes, number: int | None) -> bool:
        """Whether an event goes on with the text of the run; its text is taken if so."""
        run = self._run
        if run is None or number != run.following or run.size > JOINED:
            return False
        if not (bare.startswith(run.before) and bare.endswith(run.after)):
            return False
        text = bare[len(run.before) : len(bare) - len(run.after)]
        if len(bare) <= len(run.before) + len(run.after) or not _is_text(text):
            return False
        run.texts.append(text)
        run.size += len(text)
        if number is not None:
            run.following = number + 1
            self._joined += 1
        return True

    def _many(self, data: bytes, start: int, ms: float) -> int:
        """Take the next events at once while they go on with the text of a run without numbers; return where it ends.

        It looks a little ahead, and further each time that it finds only events of the run there.
        """
        reach = LEAST
        while (run := self._run) and run.number is None and not run.id and data.startswith(run.before, start):
            first = start + len(run.before)
            *texts, _ = data[first : first + reach].split(run.after + run.before)
            if not texts or b"" in texts or not _is_text(b" ".join(texts)):
                break
            size = sum(map(len, texts))
            start = first + size + (len(run.after) + len(run.before)) * len(texts) - len(run.before)
            if run.size > JOINED:
                self._flush()
                self._run = run = replace(run, ms=ms, texts=[], size=0)
            run.texts += texts
            run.size += size
            self.events += len(texts)
            reach = min(2 * reach, JOINED)
        return start

    def _flush(self) -> None:
        run, self._run = self._run, None
        if run is not None:
            data = _numbered(run.before + b"".join(run.texts) + run.after, run.number)
            self._put(data[: run.place] + run.id + data[run.place :], run.ms)
            self.kept += 1

    def _put(self, data: bytes, ms: float) -> None:
        if self._parts and ms != self._ms:
            self._seal()
        self._ms = ms
        self._parts.append(data)
        self.wide = self.wide or _WIDE.search(data) is not None
        self.size += len(data)

    def _seal(self) -> None:
        if data := b"".join(self._parts):
            self._chunks.append(Chunk(ms=self._ms, data=data))
        self._parts = []


def _parts(bare: bytes) -> tuple[bytes, bytes, bytes] | None:
    """An event of one delta as what stands before its text, the text, and the rest; None for any other block."""
    found = _PIECE.search(bare)
    if found is None or not _is_text(found.group(1)):
        return None
    before, text, after = bare[: found.start(1)], found.group(1), bare[found.end(1) :]
    head, tail = _BEFORE.fullmatch(before), _AFTER.fullmatch(after)
    if head is None or tail is None or _PIECE.search(after) is not None:
        return None
    said = text_of(_numbered(head.group(1) + text + tail.group(1), 0))
    return (before, text, after) if said is not None and said == json.loads(b'"%s"' % text) else None


def _is_text(data: bytes) -> bool:
    """Whether bytes are the inside of a JSON string that is whole by itself."""
    if not _TEXT.fullmatch(data):
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _numbered(bare: bytes, number: int | None) -> bytes:
    """The event with its number put back."""
    found = _NUMBER.search(bare) if number is not None else None
    return bare if found is None or number is None else bare[: found.end()] + b"%d" % number + bare[found.end() :]
