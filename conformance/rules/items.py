"""What an answer is made of: the content blocks of Messages, the output items of Responses."""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance.protocols.view import MISSING, Answer
from conformance.rules import parts
from conformance.rules.payloads import event_pointer, members, objects
from conformance.rules.registry import MESSAGES, RESPONSES, Findings, cite, rule
from conformance.values import Basis, Finding, Level

ANSWER_BLOCKS = ("text", "thinking", "tool_use", "server_tool_use", "web_search_tool_result")
REQUEST_BLOCKS = ("image", "tool_result")  # the schema that requests and answers share would allow them

_ITEM_FIELDS = {
    "message": (("role",), ("content",)),
    "function_call": (("name",), ("call_id",), ("arguments",)),
    "reasoning": (("summary", "content"),),
}
_ARRAYS = ("content", "summary")


def has_items(answer: Answer) -> bool:
    """A 200 answer with output items."""
    return answer.ok and any(parts.items(answer))


@rule(
    "body.block-types",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    source=cite("messages-k31", "#/components/schemas/ContentBlock"),
    should_on=((MESSAGES, "kimi-k3"),),
    when=lambda answer: answer.ok and "content" in (answer.body or {}),
    applies="a 200 answer with content",
)
def blocks_are_documented(answer: Answer) -> Findings:
    """The blocks of an answer are text, thinking, tool_use, server_tool_use or web_search_tool_result."""
    content = (answer.body or {})["content"]
    if not isinstance(content, list):
        yield Finding(
            message="content is no array of blocks",
            pointer="/content",
            expected="an array",
            actual=parts.shown(content),
        )
        return
    for place, block in enumerate(content):
        kind = block.get("type", MISSING) if isinstance(block, dict) else MISSING
        if kind in ANSWER_BLOCKS:
            continue
        yield Finding(
            message="a block of an answer is of a type that the documents do not give it",
            pointer=f"/content/{place}/type",
            expected=list(ANSWER_BLOCKS),
            actual=parts.shown(kind),
            level=Level.SHOULD if kind in REQUEST_BLOCKS else None,
        )


@rule(
    "body.item-ids",
    Level.SHOULD,
    Basis.PROTOCOL,
    protocols=(RESPONSES,),
    source=cite("responses", '"id": "msg_6adc72aab1f2eaaebe6b869f"'),
    when=has_items,
)
def items_have_ids(answer: Answer) -> Findings:
    """Every output item has an id that is not empty, and no two have the same."""
    ids = [(pointer, item.get("id", MISSING)) for pointer, item in parts.items(answer)]
    times = Counter(name for _, name in ids if isinstance(name, str))
    for pointer, name in ids:
        if not isinstance(name, str) or not name.strip():
            yield Finding(
                message="an output item has no id",
                pointer=f"{pointer}/id",
                expected="a string that is not empty",
                actual=parts.shown(name),
            )
        elif times[name] > 1:
            times[name] = 0  # told once
            yield Finding(
                message="two output items have the same id",
                pointer=f"{pointer}/id",
                expected="ids that differ",
                actual=parts.shown(name),
            )


@rule(
    "body.output-item-types",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(RESPONSES,),
    source=cite("responses", "may include reasoning, answer text, and tool calls"),
    when=has_items,
)
def items_are_documented(answer: Answer) -> Findings:
    """Each output item is a message, reasoning, or a call."""
    for pointer, item in parts.items(answer):
        kind = item.get("type", MISSING)
        if not (isinstance(kind, str) and (kind in ("message", "reasoning") or kind.endswith("_call"))):
            yield Finding(
                message="an output item is neither message nor reasoning nor a call",
                pointer=f"{pointer}/type",
                expected=["message", "reasoning", "…_call"],
                actual=parts.shown(kind),
            )


@rule(
    "body.item-status",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(RESPONSES,),
    source=cite("responses", '"status": "completed"'),
    when=lambda answer: has_items(answer) and answer.finish == "completed",
    applies="a completed answer with output items",
)
def items_are_completed(answer: Answer) -> Findings:
    """In a completed answer an item that has a status says completed, also as a stream says that it is done.

    A call that the server made may have failed.
    """
    kept = [(f"{pointer}/status", item) for pointer, item in parts.items(answer)]
    wrong = [place for place in kept if _is_unfinished(place[1])]
    ended = ((number, data) for number, data in objects(answer) if data.get("type") == "response.output_item.done")
    dones = ((event_pointer(number), members(data.get("item"))) for number, data in ended)
    for pointer, item in wrong or [place for place in dones if _is_unfinished(place[1])][:1]:
        yield Finding(
            message="the answer is completed and an item in it is not",
            pointer=pointer,
            expected="completed",
            actual=parts.shown(item.get("status")),
        )


def _is_unfinished(item: dict[str, Any]) -> bool:
    status = item.get("status")
    failed = status == "failed" and item.get("type") in parts.SERVER_CALLS
    return status is not None and status != "completed" and not failed


@rule(
    "body.item-fields",
    Level.SHOULD,
    Basis.PROTOCOL,
    protocols=(RESPONSES,),
    source=cite("responses", '"type": "message", "id": "msg_6adc72aab1f2eaaebe6b869f"'),
    when=has_items,
)
def items_are_whole(answer: Answer) -> Findings:
    """Messages have role and content, function calls name, call_id and arguments, reasoning a summary or content."""
    for pointer, item in parts.items(answer):
        kind = item.get("type")
        for options in _ITEM_FIELDS.get(kind, ()) if isinstance(kind, str) else ():
            if not any(_carries(item, name) for name in options):
                yield Finding(
                    message=f"a {kind} item has no {' or '.join(options)}",
                    pointer=f"{pointer}/{options[0]}",
                    expected="an array" if options[0] in _ARRAYS else "a string",
                    actual=parts.shown(item.get(options[0], MISSING)),
                )


def _carries(item: dict[str, object], name: str) -> bool:
    value = item.get(name)
    return isinstance(value, list) if name in _ARRAYS else value is not None
