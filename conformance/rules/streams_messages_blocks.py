"""Content blocks of a Messages stream: their indexes, their deltas, the JSON of tool inputs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from conformance.protocols.view import MISSING, Answer
from conformance.rules.payloads import brief, event_pointer, is_number, members, streamed, words
from conformance.rules.registry import MESSAGES, Findings, cite, rule
from conformance.rules.streams import FORMAT
from conformance.rules.streams_messages import steps
from conformance.values import Basis, Finding, Level, Over

_DELTAS = {
    "text": ("text_delta", "citations_delta"),
    "thinking": ("thinking_delta", "signature_delta"),
    "tool_use": ("input_json_delta",),
    "server_tool_use": ("input_json_delta",),
}
_FIELDS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
_TOOLS = ("tool_use", "server_tool_use")


@dataclass
class _Block:
    number: int  # of the event that opened it
    index: object
    type: object
    input: object  # as the block opens
    deltas: list[tuple[int, object]] = field(default_factory=list)  # event number and the delta
    closed: bool = False


def _has_blocks(answer: Answer) -> bool:
    """A content block event."""
    return streamed(answer) and any(kind.startswith("content_block_") for _, kind, _ in steps(answer))


def _blocks(answer: Answer) -> list[_Block]:
    """The blocks in opening order, each with the deltas that name it while it is open."""
    blocks: list[_Block] = []
    live: dict[int, _Block] = {}
    for number, kind, data in steps(answer):
        index = data.get("index", MISSING)
        if kind == "content_block_start":
            start = members(data.get("content_block"))
            blocks.append(_Block(number, index, start.get("type", MISSING), start.get("input")))
        if not is_number(index):
            continue
        if kind == "content_block_start":
            live[index] = blocks[-1]
        elif index in live and kind == "content_block_delta":
            live[index].deltas.append((number, data.get("delta", MISSING)))
        elif index in live and kind == "content_block_stop":
            live.pop(index).closed = True
    return blocks


@rule(
    "stream.messages.block-index",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[MESSAGES],
    protocols=(MESSAGES,),
    when=_has_blocks,
)
def blocks_are_numbered(answer: Answer) -> Findings:
    """Indexes count 0, 1, … in opening order, and each delta and stop names an open block."""
    live: set[int] = set()
    opened = 0
    told: set[str] = set()
    for number, kind, data in steps(answer):
        if not kind.startswith("content_block_"):
            continue
        index = data.get("index", MISSING)
        fault = _index_fault(kind, index, opened, live)
        if fault is not None and fault.message not in told:
            told.add(fault.message)
            yield replace(fault, pointer=event_pointer(number), actual=brief(index))
        if kind == "content_block_start":
            opened += 1
            live.update([index] if is_number(index) else ())
        elif kind == "content_block_stop" and is_number(index):
            live.discard(index)


def _index_fault(kind: str, index: object, opened: int, live: set[int]) -> Finding | None:
    if not is_number(index):
        return Finding(message=f"{kind} without an integer index", expected="an integer")
    if kind == "content_block_start":
        wrong = index != opened
        return Finding(message="a block opens with another index than the next one", expected=opened) if wrong else None
    if index not in live:
        return Finding(message=f"{kind} names a block that is not open", expected=sorted(live)[:20])
    return None


@rule(
    "stream.messages.delta-type",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[MESSAGES],
    protocols=(MESSAGES,),
    when=lambda answer: streamed(answer) and any(block.deltas for block in _blocks(answer)),
    applies="a delta of an open block",
)
def deltas_fit_their_block(answer: Answer) -> Findings:
    """Text takes text_delta, thinking takes thinking_delta and signature_delta, tool blocks take input_json_delta."""
    told: set[str] = set()
    for block in _blocks(answer):
        for number, delta in block.deltas:
            kind = members(delta).get("type", MISSING)
            fitting = _DELTAS.get(words(block.type), ())
            if kind not in fitting:
                fault, expected, actual = "a delta of a type that its block does not take", " or ".join(fitting), kind
            elif kind in _FIELDS and not isinstance(members(delta).get(_FIELDS[words(kind)]), str):
                name = _FIELDS[words(kind)]
                fault, expected, actual = f"{name} of a delta is no string", "string", members(delta).get(name, MISSING)
            else:
                continue
            if fault not in told:
                told.add(fault)
                yield Finding(
                    message=f"{fault}: block {brief(block.index)} is of type {brief(block.type)}",
                    pointer=event_pointer(number),
                    expected=expected or "no delta",
                    actual=brief(actual),
                )


def _has_inputs(answer: Answer) -> bool:
    """A tool_use or server_tool_use block."""
    return streamed(answer) and any(block.type in _TOOLS for block in _blocks(answer))


@rule(
    "stream.messages.tool-json",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=cite("messages-k31", "#/components/schemas/ToolUseBlock/properties/input"),
    protocols=(MESSAGES,),
    when=_has_inputs,
)
def inputs_are_objects(answer: Answer) -> Findings:
    """The partial_json pieces of a block add up to one JSON object; none at all mean an empty one."""
    blocks = _blocks(answer)
    for block in blocks:
        if block.type not in _TOOLS:
            continue
        if not isinstance(block.input, dict | None):
            yield Finding(
                message=f"block {brief(block.index)} opens with an input that is no object",
                pointer=event_pointer(block.number),
                expected={},
                actual=brief(block.input),
                level=Level.SHOULD,
            )
        if block is blocks[-1] and (answer.truncated or not block.closed):
            continue
        pieces = list(_partial_json(block))
        odd = next(((number, piece) for number, piece in pieces if not isinstance(piece, str)), None)
        joined = "".join(words(piece) for _, piece in pieces)
        if odd is not None:
            yield Finding(
                message=f"a piece of the input of block {brief(block.index)} is no string",
                pointer=event_pointer(odd[0]),
                expected="string",
                actual=brief(odd[1]),
            )
        elif joined.strip() and not isinstance(_value(joined), dict):
            yield Finding(
                message=f"the input of block {brief(block.index)} is no JSON object",
                pointer=event_pointer(block.deltas[-1][0]),
                expected="a JSON object",
                actual=brief(joined),
            )


def _partial_json(block: _Block) -> Iterator[tuple[int, object]]:
    """The pieces of a tool's input, with the numbers of their events."""
    for number, delta in block.deltas:
        piece = members(delta).get("partial_json", MISSING)
        if piece is not MISSING:
            yield number, piece


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return MISSING
