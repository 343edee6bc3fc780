"""Chunks of a Chat Completions stream: their shape, what stays the same, how they begin and end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.protocols.view import MISSING, Answer
from conformance.rules.payloads import (
    DONE,
    brief,
    entries,
    event_pointer,
    is_done,
    is_number,
    members,
    objects,
    streamed,
    unfailed,
)
from conformance.rules.registry import CHAT, Findings, Inconclusive, cite, rule
from conformance.rules.streams import FORMAT
from conformance.values import Basis, Finding, Level, Over

_SAME = ("id", "model", "created")
_CONTENT = ("content", "reasoning_content", "tool_calls")


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One choice of one chunk."""

    number: int  # of the event
    index: int  # of the choice
    choice: dict[str, Any]
    delta: dict[str, Any]

    @property
    def finish(self) -> object:
        """The finish_reason; None where it is null or absent."""
        return self.choice.get("finish_reason")

    def holds(self, name: str) -> bool:
        """Whether the delta has a field that is neither null nor empty."""
        return self.delta.get(name) not in (None, "", [])


def chunks(answer: Answer) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number and the data of each chunk that is no error."""
    return ((number, data) for number, data in objects(answer) if not data.get("error"))


def pieces(answer: Answer) -> Iterator[Piece]:
    """Every choice of every chunk, in order; a choice without an index counts as the first."""
    for number, chunk in chunks(answer):
        for choice in entries(chunk.get("choices")):
            if isinstance(choice, dict):
                index = choice.get("index")
                yield Piece(
                    number=number,
                    index=index if isinstance(index, int) else 0,
                    choice=choice,
                    delta=members(choice.get("delta")),
                )


def _has_chunks(answer: Answer) -> bool:
    """A chunk that is no error."""
    return streamed(answer) and next(chunks(answer), None) is not None


def _has_choices(answer: Answer) -> bool:
    """A stream without an error that has a choice."""
    return unfailed(answer) and next(pieces(answer), None) is not None


def _only_ends(answer: Answer) -> bool:
    """A stream of nothing but its end mark."""
    return unfailed(answer) and bool(answer.events) and all(map(is_done, answer.events))


@rule(
    "stream.chat.chunk-shape",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[CHAT],
    protocols=(CHAT,),
    when=_has_chunks,
)
def chunks_are_shaped(answer: Answer) -> Findings:
    """Every chunk has an array of choices, and each choice an integer index and a delta object of strings."""
    told: set[str] = set()
    for number, chunk in chunks(answer):
        for finding in _shape_faults(number, chunk):
            if finding.message not in told:
                told.add(finding.message)
                yield finding


def _shape_faults(number: int, chunk: dict[str, Any]) -> Iterator[Finding]:
    choices, pointer = chunk.get("choices", MISSING), event_pointer(number)
    if not isinstance(choices, list):
        yield Finding(message="a chunk without an array of choices", pointer=pointer, actual=brief(choices))
        return
    for choice in choices:
        if not isinstance(choice, dict):
            yield Finding(message="a choice that is no object", pointer=pointer, actual=brief(choice))
            continue
        index, delta = choice.get("index", MISSING), choice.get("delta", MISSING)
        if not is_number(index):
            yield Finding(message="a choice without an integer index", pointer=pointer, actual=brief(index))
        if isinstance(delta, dict):
            for name in ("content", "reasoning_content"):
                if not isinstance(delta.get(name), str | None):
                    yield Finding(
                        message=f"delta.{name} is no string",
                        pointer=pointer,
                        expected="string",
                        actual=brief(delta[name]),
                    )
        elif not delta and choice.get("finish_reason") is not None:
            yield Finding(message="a finishing choice without a delta", pointer=pointer, level=Level.SHOULD)
        else:
            yield Finding(message="a choice without a delta object", pointer=pointer, actual=brief(delta))


@rule(
    "stream.chat.done",
    Level.MUST,
    Basis.DOCUMENTED,
    over=Over.STREAM,
    source=cite("chat-all", "ending with `data: [DONE]`"),
    protocols=(CHAT,),
    when=unfailed,
)
def done_ends_the_stream(answer: Answer) -> Findings:
    """data: [DONE] comes exactly once, and nothing after it."""
    marks = [place for place, event in enumerate(answer.events) if is_done(event)]
    if not marks:
        if answer.broken is not None:
            raise Inconclusive(f"the transport broke off: {answer.broken}")
        yield Finding(
            message="the stream ends without [DONE]",
            expected=DONE,
            pointer=event_pointer(max(len(answer.events) - 1, 0)),
        )
    elif len(marks) > 1:
        yield Finding(
            message=f"[DONE] comes {len(marks)} times",
            pointer=event_pointer(answer.events[marks[1]].number),
            expected=1,
            actual=len(marks),
        )
    elif marks[0] != len(answer.events) - 1:
        after = answer.events[marks[0] + 1]
        yield Finding(message="an event after [DONE]", pointer=event_pointer(after.number), actual=brief(after.data))


@rule(
    "stream.chat.constant-fields",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[CHAT],
    protocols=(CHAT,),
    when=_has_chunks,
)
def fields_stay_the_same(answer: Answer) -> Findings:
    """id, model and created are the same in every chunk."""
    for name in _SAME:
        first: object = MISSING
        lacking: int | None = None
        for number, chunk in chunks(answer):
            value = chunk.get(name)
            if value is None:
                lacking = number if lacking is None else lacking
            elif first is MISSING:
                first = value
            elif value != first or type(value) is not type(first):
                yield Finding(
                    message=f"{name} changes within the stream",
                    pointer=event_pointer(number),
                    expected=brief(first),
                    actual=brief(value),
                )
                break
        else:
            if lacking is not None:
                level = Level.SHOULD if first is MISSING else None  # lacking everywhere, it is the same everywhere
                yield Finding(message=f"a chunk without {name}", pointer=event_pointer(lacking), level=level)


@rule(
    "stream.chat.one-finish",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[CHAT],
    protocols=(CHAT,),
    when=lambda answer: _has_choices(answer) or _only_ends(answer),
    applies="a stream without an error that has a choice, or nothing but its end mark",
)
def each_choice_finishes_once(answer: Answer) -> Findings:
    """Each choice has exactly one finish_reason that is not null; no content, reasoning or tool fragment follows it."""
    if _only_ends(answer):
        yield Finding(message="the stream ends before any chunk", pointer=event_pointer(0), expected="a choice")
        return
    finished: dict[int, Piece] = {}
    told: set[tuple[int, str]] = set()
    indexes: dict[int, int] = {}
    for piece in pieces(answer):
        indexes[piece.index] = piece.number
        before = finished.get(piece.index)
        if before is not None:
            late = next((name for name in _CONTENT if piece.holds(name)), None)
            if late and (piece.index, "late") not in told:
                told.add((piece.index, "late"))
                yield Finding(
                    message=f"{late} after the finish_reason of choice {piece.index}",
                    pointer=event_pointer(piece.number),
                    actual=brief(piece.delta[late]),
                )
        if piece.finish is not None:
            if before is not None and (piece.index, "twice") not in told:
                told.add((piece.index, "twice"))
                yield Finding(
                    message=f"a second finish_reason in choice {piece.index}",
                    pointer=event_pointer(piece.number),
                    expected=brief(before.finish),
                    actual=brief(piece.finish),
                )
            finished.setdefault(piece.index, piece)
    if answer.broken is None:
        for index, number in indexes.items():
            if index not in finished:
                yield Finding(message=f"choice {index} never gets a finish_reason", pointer=event_pointer(number))


@rule(
    "stream.chat.role-first",
    Level.SHOULD,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[CHAT],
    protocols=(CHAT,),
    when=_has_choices,
)
def role_comes_first(answer: Answer) -> Findings:
    """The first delta of a choice has role assistant, and no delta another role."""
    begun: set[int] = set()
    for piece in pieces(answer):
        role = piece.delta.get("role")
        if piece.index not in begun and role is None:
            yield Finding(
                message=f"the first delta of choice {piece.index} has no role",
                pointer=event_pointer(piece.number),
                expected="assistant",
            )
        elif role is not None and role != "assistant":
            yield Finding(
                message="a delta of another role",
                pointer=event_pointer(piece.number),
                expected="assistant",
                actual=brief(role),
            )
            return
        begun.add(piece.index)


@rule(
    "stream.chat.reasoning-first",
    Level.SHOULD,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[CHAT],
    protocols=(CHAT,),
    when=_has_choices,
)
def reasoning_comes_before_content(answer: Answer) -> Findings:
    """Within a choice no reasoning_content comes after content has begun."""
    begun: set[int] = set()
    for piece in pieces(answer):
        if piece.index in begun and piece.holds("reasoning_content"):
            yield Finding(
                message="reasoning_content after content has begun",
                pointer=event_pointer(piece.number),
                actual=brief(piece.delta["reasoning_content"]),
            )
            return
        if piece.holds("content"):
            begun.add(piece.index)


@rule(
    "stream.chat.usage",
    Level.INFO,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=cite("chat-all", "#/components/schemas/ChatUsage"),
    protocols=(CHAT,),
    when=_has_choices,
)
def usage_is_reported_in_one_chunk(answer: Answer) -> Findings:
    """A stream reports usage in exactly one chunk."""
    reports = [number for number, chunk in chunks(answer) if chunk.get("usage") is not None]
    if not reports:
        yield Finding(message="the stream reports no usage", expected=1, actual=0)
    elif len(reports) > 1:
        yield Finding(
            message=f"usage is reported in {len(reports)} chunks",
            pointer=event_pointer(reports[1]),
            expected=1,
            actual=len(reports),
        )
