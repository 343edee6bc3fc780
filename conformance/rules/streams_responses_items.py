"""Output items of a Responses stream: one identity from added to the final response, and none lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.protocols.view import MISSING, Answer
from conformance.rules.payloads import brief, entries, event_pointer, is_filled, is_number, members, streamed
from conformance.rules.registry import RESPONSES, Findings, cite, rule
from conformance.rules.streams import FORMAT
from conformance.rules.streams_responses import WITHIN_ITEM, steps, terminal
from conformance.values import Basis, Finding, Level, Over

MOST_ITEMS = 500  # of a stream that are compared with the final response: more come from a hostile server only
OUTPUT = cite("responses", "Output items, usually reasoning followed by message.")


@dataclass
class Item:
    """An output item as the stream tells of it."""

    number: int  # of the event that tells of it first
    index: int
    added: dict[str, Any]  # as it was added; empty where it never was
    done: dict[str, Any] | None = None  # as it was when done
    done_number: int = 0

    @property
    def id(self) -> object:
        """Its id when it was added, else when it was done."""
        return (self.added or self.done or {}).get("id", MISSING)

    @property
    def type(self) -> object:
        """Its type when it was added, else when it was done."""
        return (self.added or self.done or {}).get("type", MISSING)


def items(answer: Answer) -> list[Item]:
    """The first items of a stream in order of their first event; an index that is used again starts another item."""
    found: list[Item] = []
    latest: dict[int, Item] = {}
    for number, kind, data in steps(answer):
        index, item = data.get("output_index"), members(data.get("item"))
        if not is_number(index) or len(found) > MOST_ITEMS:
            continue
        if kind == "response.output_item.added":
            latest[index] = Item(number, index, item)
            found.append(latest[index])
        elif kind == "response.output_item.done":
            if index not in latest or latest[index].done is not None:
                latest[index] = Item(number, index, {})
                found.append(latest[index])
            latest[index].done, latest[index].done_number = item, number
    return found


def final_output(answer: Answer) -> list[Any] | None:
    """The output of the response that the terminal event carries; None where there is no such array."""
    found = terminal(answer)
    output = members(found[2].get("response")).get("output") if found else None
    return output if isinstance(output, list) else None


def kept(item: Item, output: list[Any]) -> dict[str, Any] | None:
    """The item in the final response: the one of its id, else the one of its type at its place."""
    if is_filled(item.id):
        same = next((entry for entry in output if members(entry).get("id") == item.id), None)
        if same is not None:
            return members(same)
    place = members(output[item.index]) if 0 <= item.index < len(output) else {}
    return place if place.get("type") == item.type else None


def _has_items(answer: Answer) -> bool:
    """An output item, streamed or in the final response."""
    return streamed(answer) and (bool(items(answer)) or bool(final_output(answer)))


@rule(
    "stream.responses.items",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=OUTPUT,
    protocols=(RESPONSES,),
    when=_has_items,
)
def items_keep_their_identity(answer: Answer) -> Findings:
    """Item ids and output_index agree between added, delta and done events, and with the final response."""
    found = items(answer)
    told: set[str] = set()
    for finding in (*_numbering(answer), *_references(answer), *_dones(found), *_finals(answer, found)):
        if finding.message not in told:
            told.add(finding.message)
            yield finding


def _numbering(answer: Answer) -> Iterator[Finding]:
    used: dict[int, object] = {}
    for number, kind, data in steps(answer):
        if kind != "response.output_item.added":
            continue
        index, item, pointer = data.get("output_index", MISSING), data.get("item", MISSING), event_pointer(number)
        if not isinstance(item, dict):
            yield Finding(message="output_item.added without an item", pointer=pointer, actual=brief(item))
        if not is_number(index):
            yield Finding(
                message="output_item.added without an integer output_index", pointer=pointer, actual=brief(index)
            )
        elif index in used:
            yield Finding(
                message="two output items have the same output_index", pointer=pointer, expected=len(used), actual=index
            )
        else:
            if index != len(used):
                yield Finding(
                    message="output_index does not count 0, 1, … in the order of the items",
                    pointer=pointer,
                    expected=len(used),
                    actual=index,
                    level=Level.SHOULD,
                )
            used[index] = members(item).get("id")


def _references(answer: Answer) -> Iterator[Finding]:
    """Events within an item name it by both id and index."""
    ids: dict[int, object] = {}
    for number, kind, data in steps(answer):
        index, pointer = data.get("output_index"), event_pointer(number)
        if kind == "response.output_item.added":
            if is_number(index):
                ids[index] = members(data.get("item")).get("id", MISSING)
            continue
        done = kind == "response.output_item.done"
        name = members(data.get("item")).get("id", MISSING) if done else data.get("item_id", MISSING)
        if is_number(index) and index not in ids and is_filled(name) and name in ids.values():
            yield Finding(
                message="output_index is not that of the item with this id",
                pointer=pointer,
                expected=next(place for place, known in ids.items() if known == name),
                actual=index,
            )
        elif done or not (kind.startswith(WITHIN_ITEM) or "item_id" in data or "output_index" in data):
            continue
        elif not is_number(index):
            yield Finding(message="an event names its item without output_index", pointer=pointer)
        elif name is MISSING:
            yield Finding(message="an event names its item without item_id", pointer=pointer)
        elif index in ids and ids[index] != name:
            yield Finding(
                message="item_id is not the id of the item at this output_index",
                pointer=pointer,
                expected=brief(ids[index]),
                actual=brief(name),
            )


def _dones(found: list[Item]) -> Iterator[Finding]:
    for item in found:
        if not item.added or item.done is None:
            continue
        for name in ("id", "type"):
            before, after = item.added.get(name, MISSING), item.done.get(name, MISSING)
            if before != after:
                yield Finding(
                    message=f"an item has another {name} when it is done than when it was added",
                    pointer=event_pointer(item.done_number),
                    expected=brief(before),
                    actual=brief(after),
                )


def _finals(answer: Answer, found: list[Item]) -> Iterator[Finding]:
    output = final_output(answer)
    end = terminal(answer)
    if output is None or end is None:
        return
    pointer = event_pointer(end[0])
    for item in found:
        last = kept(item, output)
        place = output[item.index] if 0 <= item.index < len(output) else MISSING
        if last is not None and is_filled(item.id) and last.get("id") != item.id:
            yield Finding(
                message="an item has another id in the final response",
                pointer=pointer,
                expected=brief(item.id),
                actual=brief(last.get("id", MISSING)),
            )
        elif last is not None and last is not place and len(output) >= len(found):
            yield Finding(
                message="an item stands at another place in the final response than its output_index",
                pointer=pointer,
                expected=item.index,
                actual=next(number for number, entry in enumerate(output) if entry is last),
            )
    if len(output) > len({item.index for item in found}):
        streamed_ids = [item.id for item in found]
        extra = next((e for e in output if members(e).get("id", MISSING) not in streamed_ids), output[-1])
        yield Finding(
            message="the final response holds an item that was never streamed",
            pointer=pointer,
            expected=len(found),
            actual=brief(members(extra).get("type", MISSING)),
        )


def _ends_with_items(answer: Answer) -> bool:
    """A streamed output item, and a terminal event that reports no failure."""
    end = terminal(answer)
    return streamed(answer) and end is not None and end[1] != "response.failed" and bool(items(answer))


@rule(
    "stream.responses.output-kept",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=FORMAT[RESPONSES],
    protocols=(RESPONSES,),
    when=_ends_with_items,
)
def final_response_keeps_every_item(answer: Answer) -> Findings:
    """The output of the final response holds every item that was streamed."""
    end, output, found = terminal(answer), final_output(answer), items(answer)
    if end is None:
        return
    pointer = event_pointer(end[0])
    if output is None:
        yield Finding(
            message="the final response has no array of output",
            pointer=pointer,
            expected=f"{len(found)} items",
            actual=brief(members(end[2].get("response")).get("output", MISSING)),
        )
        return
    lost = [item for item in found if kept(item, output) is None]
    if lost:
        yield Finding(
            message=f"the final response lacks {len(lost)} of {len(found)} streamed items",
            pointer=pointer,
            expected=[brief(item.type) for item in found][:20],
            actual=[brief(members(entry).get("type", MISSING)) for entry in entries(output)][:20],
        )
