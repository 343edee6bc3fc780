"""Faults in the text of an answer: it is not there, or not where clients look for it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.reference.encoding.frame import Event
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, RESPONSES, STREAM, fault
from conformance.reference.hooks import Context
from conformance.reference.results import Finish, Result

_NOT_EMPTY = "body.text-not-empty"
_FINDABLE = "body.answer-findable"


@fault("text-null", "message", on=(CHAT,), caught_by=(_NOT_EMPTY,))
def text_null(_: Context, message: dict[str, Any]) -> dict[str, Any]:
    """The content is null in an answer that calls nothing, in JSON and in each delta."""
    return message | {"content": None} if "content" in message else message


@fault("text-empty", "result", caught_by=(_NOT_EMPTY, "reasoning.not-the-answer"))
def text_empty(_: Context, result: Result) -> Result:
    """An answer that ended normally has an empty text."""
    return replace(result, text="") if result.finish is Finish.STOP else result


@fault("text-blank", "result", caught_by=(_NOT_EMPTY,))
def text_blank(_: Context, result: Result) -> Result:
    """An answer that ended normally has a text of white space."""
    return replace(result, text=" \n") if result.finish is Finish.STOP else result


@fault("text-lost-for-cjk", "result", caught_by=(_NOT_EMPTY,))
def text_lost_for_cjk(_: Context, result: Result) -> Result:
    """A text with a CJK character in it gets lost."""
    held = any("\u4e00" <= character <= "\u9fff" for character in result.text)
    return replace(result, text="") if held and result.finish is Finish.STOP else result


@fault("text-block-missing", "body", on=(MESSAGES,), modes=(JSON,), caught_by=(_NOT_EMPTY,))
def text_block_missing(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """An answer that ended normally has no text block."""
    return answer | {"content": [block for block in answer["content"] if block["type"] != "text"]}


@fault("text-block-never-streamed", "events", on=(MESSAGES,), modes=(STREAM,), caught_by=(_NOT_EMPTY,))
def text_block_never_streamed(_: Context, events: list[Event]) -> list[Event]:
    """The stream leaves out the text block, from its start to its stop."""
    blocks = [event.data for event in events if isinstance(event.data, dict) and "content_block" in event.data]
    gone = {data["index"] for data in blocks if data["content_block"]["type"] == "text"}
    return [event for event in events if not (isinstance(event.data, dict) and event.data.get("index") in gone)]


@fault("text-deltas-lost", "events", on=(CHAT, MESSAGES), modes=(STREAM,), caught_by=(_NOT_EMPTY,))
def text_deltas_lost(context: Context, events: list[Event]) -> list[Event]:
    """The stream has all its events but those that carry text."""

    def carries_text(event: Event) -> bool:
        if not isinstance(event.data, dict):
            return False
        if context.protocol is MESSAGES:
            return bool(event.data.get("delta", {}).get("type") == "text_delta")
        return any(bool(choice["delta"].get("content")) for choice in event.data.get("choices", []))

    return [event for event in events if not carries_text(event)]


@fault(
    "answer-in-reasoning",
    "result",
    on=(CHAT, MESSAGES),
    caught_by=("reasoning.not-the-answer", _NOT_EMPTY),
    seen=("modelship-ai/modelship#130",),
)
def answer_in_reasoning(_: Context, result: Result) -> Result:
    """The whole answer stands in the reasoning, and the text is empty."""
    if result.finish is not Finish.STOP:
        return result
    return replace(result, reasoning=f"{result.reasoning}\n{result.text}", text="")


@fault("answer-in-text-part", "item", on=(RESPONSES,), caught_by=(_FINDABLE, _NOT_EMPTY))
def answer_in_text_part(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """The part that holds the answer is of type text and not output_text."""
    for part in item.get("content", []):
        part["type"] = "text"
    return item


@fault("answer-outside-message", "item", on=(RESPONSES,), caught_by=(_FINDABLE,))
def answer_outside_message(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """The output holds output_text itself and no message item."""
    if item["type"] != "message":
        return item
    text = "".join(part["text"] for part in item["content"])
    return {"type": "output_text", "id": item["id"], "status": item["status"], "text": text}


@fault("answer-as-content-string", "item", on=(RESPONSES,), caught_by=(_FINDABLE, "body.item-fields", "body.schema"))
def answer_as_content_string(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """The content of the message item is a string, as on chat."""
    if item["type"] == "message":
        item["content"] = "".join(part["text"] for part in item["content"])
    return item


@fault("answer-only-in-output-text", "ending", on=(RESPONSES,), caught_by=(_FINDABLE,))
def answer_only_in_output_text(_: Context, response: dict[str, Any]) -> dict[str, Any]:
    """The answer stands in a top-level output_text, which only client libraries have, and in no message item."""
    messages = [item for item in response["output"] if item["type"] == "message"]
    text = "".join(part["text"] for item in messages for part in item["content"])
    kept = [item for item in response["output"] if item["type"] != "message"]
    return response | {"output": kept, "output_text": text}


@fault("answer-text-object", "item", on=(RESPONSES,), caught_by=(_FINDABLE, "body.schema"))
def answer_text_object(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """The text of the output_text part is an object with the value in it, as in another API of the same maker."""
    for part in item.get("content", []):
        part["text"] = {"value": part["text"], "annotations": []}
    return item
