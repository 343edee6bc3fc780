"""Text parts of a Responses stream: deltas, done events and the final response say the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.protocols.view import MISSING, Answer
from conformance.rules.payloads import brief, entries, event_pointer, is_number, members, streamed, unfailed, words
from conformance.rules.registry import RESPONSES, Findings, cite, rule
from conformance.rules.streams import FORMAT
from conformance.rules.streams_responses import steps, terminal
from conformance.rules.streams_responses_items import Item, final_output, items, kept
from conformance.values import Basis, Finding, Level, Over

_TEXT = "response.output_text"
_MARKS = ("response.content_part.added", f"{_TEXT}.done", "response.content_part.done")
_CHANNELS = {  # prefix of the events to the index of the part, the array of the item, and the field of text
    _TEXT: ("content_index", "content", "text"),
    "response.refusal": ("content_index", "content", "refusal"),
    "response.reasoning_text": ("content_index", "content", "text"),
    "response.reasoning_summary_text": ("summary_index", "summary", "text"),
}
_PART_DONE = {
    "response.content_part.done": ("content_index", "content"),
    "response.reasoning_summary_part.done": ("summary_index", "summary"),
}
Place = tuple[int, str, int]  # output index, array of the item, index of the part


@dataclass
class _Part:
    channel: str
    pieces: list[tuple[int, object]] = field(default_factory=list)  # event number and delta
    claims: list[tuple[int, str, object]] = field(default_factory=list)  # event number, what says so, the text

    @property
    def text(self) -> str:
        return "".join(words(piece) for _, piece in self.pieces)


def _place(data: dict[str, Any], index_name: str, array: str) -> Place | None:
    output, part = data.get("output_index"), data.get(index_name, 0)
    return (output, array, part) if is_number(output) and is_number(part) else None


def _parts(answer: Answer) -> dict[Place, _Part]:
    """The parts that have text events, by place."""
    parts: dict[Place, _Part] = {}
    for number, kind, data in steps(answer):
        channel, _, action = kind.rpartition(".")
        if channel in _CHANNELS and action in ("delta", "done"):
            index_name, array, name = _CHANNELS[channel]
            place = _place(data, index_name, array)
            if place is None:
                continue
            part = parts.setdefault(place, _Part(channel))
            if action == "delta":
                part.pieces.append((number, data.get("delta", MISSING)))
            else:
                part.claims.append((number, kind, data.get(name, MISSING)))
        elif kind in _PART_DONE and (place := _place(data, *_PART_DONE[kind])) in parts:
            part = parts[place]
            part.claims.append((number, kind, members(data.get("part")).get(_CHANNELS[part.channel][2], MISSING)))
    return parts


def _has_text(answer: Answer) -> bool:
    """Text, refusal or reasoning that is streamed, or a message in the final response."""
    return streamed(answer) and (bool(_parts(answer)) or any(_final_texts(final_output(answer) or [])))


def _final_texts(output: list[Any]) -> Iterator[tuple[int, int, str]]:
    """Output index, content index and text of each output_text part that is not empty."""
    for place, item in enumerate(output):
        if members(item).get("type") == "message":
            for number, part in enumerate(entries(item.get("content"))):
                text = words(members(part).get("text"))
                if members(part).get("type") == "output_text" and text:
                    yield place, number, text


@rule(
    "stream.responses.text",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=cite("responses", "Iterate over the output_text content blocks"),
    protocols=(RESPONSES,),
    when=_has_text,
)
def deltas_make_the_text(answer: Answer) -> Findings:
    """The deltas of a part are strings that add up to its done text and to the final response's."""
    parts, found, output, end = _parts(answer), items(answer), final_output(answer), terminal(answer)
    by_index: dict[int, list[Item]] = defaultdict(list)
    for item in found:
        by_index[item.index].append(item)
    for (index, array, number), part in parts.items():
        wrong = next(((at, piece) for at, piece in part.pieces if not isinstance(piece, str)), None)
        if wrong is not None:
            yield Finding(
                message=f"a delta of {part.channel} is no string",
                pointer=event_pointer(wrong[0]),
                expected="string",
                actual=brief(wrong[1]),
            )
            continue
        claims = list(part.claims)
        for item in by_index[index]:
            claims += _item_claims(item, array, number, part)
            if output is not None and end is not None and end[1] != "response.failed":
                claims += _final_claims(item, output, end[0], (array, number), part)
        yield from _disagreement(part, claims)
    if output is not None and end is not None:
        yield from _unstreamed(parts, found, output, end[0])


def _item_claims(item: Item, array: str, number: int, part: _Part) -> Iterator[tuple[int, str, object]]:
    if item.done is None:
        return
    texts = entries(item.done.get(array))
    held = members(texts[number]) if number < len(texts) else {}
    said = held.get(_CHANNELS[part.channel][2], MISSING) if held or part.text else ""
    yield item.done_number, "response.output_item.done", said


def _final_claims(
    item: Item, output: list[Any], event: int, at: tuple[str, int], part: _Part
) -> Iterator[tuple[int, str, object]]:
    last = kept(item, output)
    if last is None:
        return
    texts = entries(last.get(at[0]))
    held = members(texts[at[1]]) if at[1] < len(texts) else {}
    yield event, "the final response", held.get(_CHANNELS[part.channel][2], MISSING) if held or part.text else ""
    if part.channel == _TEXT and held and held.get("type") != "output_text":
        yield event, "the type of the part in the final response", MISSING


def _disagreement(part: _Part, claims: list[tuple[int, str, object]]) -> Iterator[Finding]:
    text = part.text
    wrong = next((claim for claim in claims if claim[2] != text), None)
    if wrong is not None:
        event, speaker, said = wrong
        place = next((n for n, (a, b) in enumerate(zip(text, words(said), strict=False)) if a != b), None)
        place = min(len(text), len(words(said))) if place is None else place
        yield Finding(
            message=f"the deltas of {part.channel} do not add up to what {speaker} says, from character {place} on",
            pointer=event_pointer(event),
            expected=brief(text[max(place - 20, 0) : place + 80]),
            actual=brief(said[max(place - 20, 0) : place + 80] if isinstance(said, str) else said),
        )


def _unstreamed(parts: dict[Place, _Part], found: list[Item], output: list[Any], event: int) -> Iterator[Finding]:
    """Text of the final response that no delta brought."""
    indexes = {id(last): item.index for item in found if (last := kept(item, output)) is not None}
    for place, number, text in _final_texts(output):
        part = parts.get((indexes.get(id(output[place]), place), "content", number))
        if part is None:
            yield Finding(
                message="the final response has a text that was never streamed",
                pointer=event_pointer(event),
                expected="",
                actual=brief(text),
            )
            return


def _whole(answer: Answer) -> bool:
    """A text delta in a whole stream without an error."""
    return unfailed(answer) and answer.complete and any(kind == f"{_TEXT}.delta" for _, kind, _ in steps(answer))


@rule(
    "stream.responses.parts",
    Level.SHOULD,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[RESPONSES],
    protocols=(RESPONSES,),
    when=_whole,
)
def parts_open_and_close(answer: Answer) -> Findings:
    """A part is added before its first text delta; output_text.done and content_part.done follow the last, once."""
    yield from _strays(answer)
    first: dict[Place, int] = {}
    last: dict[Place, int] = {}
    marks: dict[str, dict[Place, int]] = {kind: {} for kind in _MARKS}
    for number, kind, place in _part_events(answer):
        if place is not None and kind == f"{_TEXT}.delta":
            first.setdefault(place, number)
            last[place] = number
        elif place is not None:
            marks[kind].setdefault(place, number)
    for kind, seen in marks.items():
        for place, begin in first.items():
            opens = kind.endswith(".added")
            if place in seen and (seen[place] < begin if opens else seen[place] > last[place]):
                continue
            if not opens and answer.truncated and place not in seen:
                continue
            yield Finding(
                message=f"no {kind} {'before the first' if opens else 'after the last'} delta of a text part",
                pointer=event_pointer(begin if opens else last[place]),
                expected=kind,
                actual=event_pointer(seen[place]) if place in seen else None,
            )
            break


def _strays(answer: Answer) -> Findings:
    """Events that say nothing of their part, and those that open or close a part a second time."""
    told: set[str] = set()
    seen: set[tuple[str, Place]] = set()
    for number, kind, place in _part_events(answer):
        if place is None:
            fault = f"{kind} without its indexes"
        elif (kind, place) in seen and kind in _MARKS:
            fault = f"a second {kind} of one part"
        else:
            seen.add((kind, place))
            continue
        if fault not in told:
            told.add(fault)
            yield Finding(message=fault, pointer=event_pointer(number))


def _part_events(answer: Answer) -> Iterator[tuple[int, str, Place | None]]:
    """Number, type and place of each event of a text part; no place where it lacks an index."""
    for number, kind, data in steps(answer):
        if kind == f"{_TEXT}.delta" or kind in _MARKS:
            whole = is_number(data.get("content_index"))
            yield number, kind, _place(data, "content_index", "content") if whole else None
