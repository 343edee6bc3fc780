"""Function calls of a Responses stream: announced with name and call_id, their arguments the same everywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from conformance.protocols.view import MISSING, Answer
from conformance.rules.payloads import brief, event_pointer, is_filled, is_number, streamed, words
from conformance.rules.registry import RESPONSES, Findings, cite, rule
from conformance.rules.streams_responses import steps, terminal
from conformance.rules.streams_responses_items import Item, final_output, items, kept
from conformance.values import Basis, Finding, Level, Over

_ARGUMENTS = "response.function_call_arguments"


def _has_calls(answer: Answer) -> bool:
    """A function call in a stream."""
    return streamed(answer) and any(item.type == "function_call" for item in items(answer))


@rule(
    "stream.responses.calls",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.STREAM,
    source=cite("responses", "may include reasoning, answer text, and tool calls"),
    protocols=(RESPONSES,),
    when=_has_calls,
)
def calls_are_streamed_whole(answer: Answer) -> Findings:
    """A call is added with name and call_id; its argument deltas add up to the done event's and the final item's."""
    deltas: dict[int, list[tuple[int, object]]] = defaultdict(list)
    dones: dict[int, tuple[int, dict[str, Any]]] = {}
    for number, kind, data in steps(answer):
        index = data.get("output_index")
        if is_number(index) and kind == f"{_ARGUMENTS}.delta":
            deltas[index].append((number, data.get("delta", MISSING)))
        elif is_number(index) and kind == f"{_ARGUMENTS}.done":
            if index in dones:
                yield Finding(message=f"a second {kind} of one call", pointer=event_pointer(number), level=Level.SHOULD)
            dones.setdefault(index, (number, data))
    output, end = final_output(answer), terminal(answer)
    for item in items(answer):
        if item.type != "function_call":
            continue
        stages = list(_stages(item, output, end[0] if end else 0))
        done = dones.get(item.index)
        naming = [(done[0], f"{_ARGUMENTS}.done", done[1])] if done and is_filled(done[1].get("name")) else []
        yield from _identity(item, "name", [*naming, *stages])
        yield from _identity(item, "call_id", stages)
        yield from _arguments(deltas[item.index], done, stages, item)


def _stages(item: Item, output: list[Any] | None, end: int) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The call when it is done and in the final response: event, who says so, the item."""
    if item.done is not None:
        yield item.done_number, "response.output_item.done", item.done
    last = kept(item, output) if output is not None else None
    if last is not None:
        yield end, "the final response", last


def _identity(item: Item, name: str, stages: list[tuple[int, str, dict[str, Any]]]) -> Iterator[Finding]:
    first = item.added.get(name, MISSING)
    if not is_filled(first):
        yield Finding(
            message=f"a call is added without {name}",
            pointer=event_pointer(item.number),
            expected="a string that is not empty",
            actual=brief(first),
        )
        return
    wrong = next((stage for stage in stages if stage[2].get(name, MISSING) != first), None)
    if wrong is not None:
        yield Finding(
            message=f"a call has another {name} in {wrong[1]} than when it was added",
            pointer=event_pointer(wrong[0]),
            expected=brief(first),
            actual=brief(wrong[2].get(name, MISSING)),
        )


def _arguments(
    deltas: list[tuple[int, object]],
    done: tuple[int, dict[str, Any]] | None,
    stages: list[tuple[int, str, dict[str, Any]]],
    item: Item,
) -> Iterator[Finding]:
    wrong = next((piece for piece in deltas if not isinstance(piece[1], str)), None)
    if wrong is not None:
        yield Finding(
            message="a delta of the arguments is no string",
            pointer=event_pointer(wrong[0]),
            expected="string",
            actual=brief(wrong[1]),
        )
        return
    joined = "".join(words(piece) for _, piece in deltas)
    claims = [(number, speaker, call.get("arguments", MISSING)) for number, speaker, call in stages]
    if done is not None:
        claims.insert(0, (done[0], f"{_ARGUMENTS}.done", done[1].get("arguments", MISSING)))
    elif item.done is not None:
        yield Finding(
            message=f"a call without {_ARGUMENTS}.done",
            pointer=event_pointer(item.done_number),
            level=Level.SHOULD if is_filled(item.done.get("arguments")) else None,
        )
    differs = next((claim for claim in claims if claim[2] != joined), None)
    if differs is not None:
        yield Finding(
            message=f"the argument deltas do not add up to what {differs[1]} says"
            if deltas
            else "a call without argument deltas",
            pointer=event_pointer(differs[0]),
            expected=brief(joined),
            actual=brief(differs[2]),
        )
