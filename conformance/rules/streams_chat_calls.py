"""Tool calls in pieces: the tool_calls deltas of a Chat Completions stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.protocols.view import MISSING, Answer
from conformance.rules.payloads import brief, entries, event_pointer, is_filled, is_number, members, streamed
from conformance.rules.registry import CHAT, Findings, cite, rule
from conformance.rules.streams_chat import Piece, pieces
from conformance.values import Basis, Finding, Level, Over


def _has_fragments(answer: Answer) -> bool:
    """Tool call deltas."""
    return streamed(answer) and any(piece.holds("tool_calls") for piece in pieces(answer))


@rule(
    "stream.chat.tool-deltas",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=cite("chat-all", "#/components/schemas/ToolCall"),
    protocols=(CHAT,),
    when=_has_fragments,
)
def fragments_make_calls(answer: Answer) -> Findings:
    """Each fragment names its call by index, the first with id and name; indexes run from 0, and the strings add up."""
    calls: dict[tuple[int, int], dict[str, Any]] = {}
    told: set[str] = set()
    for piece in pieces(answer):
        if not piece.holds("tool_calls"):
            continue
        for finding in _faults(piece, calls):
            if finding.message not in told:
                told.add(finding.message)
                yield finding
    yield from _gaps(calls)


def _faults(piece: Piece, calls: dict[tuple[int, int], dict[str, Any]]) -> Iterator[Finding]:
    pointer = event_pointer(piece.number)
    fragments = piece.delta["tool_calls"]
    if not isinstance(fragments, list):
        yield Finding(message="delta.tool_calls is no array", pointer=pointer, actual=brief(fragments))
    for fragment in entries(fragments):
        index = members(fragment).get("index", MISSING)
        if not is_number(index):
            yield Finding(message="a tool call fragment without an integer index", pointer=pointer, actual=brief(index))
            continue
        function = members(fragment.get("function"))
        came = {"id": fragment.get("id"), "name": function.get("name")}
        known = calls.get((piece.index, index))
        if known is None:
            calls[piece.index, index] = {**came, "number": piece.number}
            for name, value in came.items():
                if not is_filled(value):
                    yield Finding(
                        message=f"the first fragment of call {index} has no {name}",
                        pointer=pointer,
                        expected="a string that is not empty",
                        actual=brief(value),
                    )
        else:
            for name, value in came.items():
                if value not in (None, "", known[name]):
                    yield Finding(
                        message=f"the {name} of call {index} changes",
                        pointer=pointer,
                        expected=brief(known[name]),
                        actual=brief(value),
                    )
        arguments = function.get("arguments")
        if not isinstance(arguments, str | None):
            yield Finding(
                message=f"a fragment of the arguments of call {index} is no string",
                pointer=pointer,
                expected="string",
                actual=brief(arguments),
            )


def _gaps(calls: dict[tuple[int, int], dict[str, Any]]) -> Iterator[Finding]:
    for choice in sorted({choice for choice, _ in calls}):
        indexes = sorted(index for owner, index in calls if owner == choice)
        wrong = next((index for place, index in enumerate(indexes) if index != place), None)
        if wrong is not None:
            yield Finding(
                message="the indexes of the calls do not run 0, 1, … without gaps",
                pointer=event_pointer(calls[choice, wrong]["number"]),
                expected=list(range(min(len(indexes), 20))),
                actual=indexes[:20],
            )
