"""Faults in what an answer is made of: the content blocks of Messages, the output items of Responses."""

from __future__ import annotations

from typing import Any

from conformance.reference.faults.edits import Events, of
from conformance.reference.faults.registry import JSON, MESSAGES, RESPONSES, STREAM, fault
from conformance.reference.hooks import Context

_BLOCKS, _IDS, _TYPES = "body.block-types", "body.item-ids", "body.output-item-types"
_STATUS, _FIELDS = "body.item-status", "body.item-fields"


@fault("block-type-reasoning", "block", on=(MESSAGES,), caught_by=(_BLOCKS,))
def block_type_reasoning(_: Context, block: dict[str, Any]) -> dict[str, Any]:
    """Thinking comes in blocks of type reasoning."""
    return block | {"type": "reasoning"} if block["type"] == "thinking" else block


@fault("block-type-output-text", "block", on=(MESSAGES,), caught_by=(_BLOCKS,))
def block_type_output_text(_: Context, block: dict[str, Any]) -> dict[str, Any]:
    """Text comes in blocks of type output_text, as on Responses."""
    return block | {"type": "output_text"} if block["type"] == "text" else block


@fault("block-type-missing", "block", on=(MESSAGES,), modes=(JSON,), caught_by=(_BLOCKS,))
def block_type_missing(_: Context, block: dict[str, Any]) -> dict[str, Any]:
    """A text block has no type."""
    return {"text": block["text"]} if block["type"] == "text" else block


@fault("block-image-in-answer", "body", on=(MESSAGES,), modes=(JSON,), caught_by=(_BLOCKS,))
def block_image_in_answer(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """An answer ends in an image block, which only requests have."""
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    return answer | {"content": [*answer["content"], {"type": "image", "source": source}]}


@fault("content-string", "body", on=(MESSAGES,), modes=(JSON,), caught_by=(_BLOCKS, "body.schema"))
def content_string(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The content is a string and no array of blocks."""
    return answer | {"content": "".join(block.get("text", "") for block in answer["content"])}


@fault("content-single-block", "body", on=(MESSAGES,), modes=(JSON,), caught_by=(_BLOCKS, "body.schema"))
def content_single_block(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The content is the last block itself and no array."""
    return answer | {"content": answer["content"][-1]}


@fault("item-id-empty", "item", on=(RESPONSES,), caught_by=(_IDS,))
def item_id_empty(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """The ids of output items are empty strings."""
    return item | {"id": ""}


@fault("item-id-missing", "item", on=(RESPONSES,), caught_by=(_IDS,))
def item_id_missing(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """Reasoning items have no id."""
    if item["type"] == "reasoning":
        item.pop("id")
    return item


@fault("item-id-shared", "ending", on=(RESPONSES,), caught_by=(_IDS,))
def item_id_shared(_: Context, response: dict[str, Any]) -> dict[str, Any]:
    """All items of an answer have the id of the first."""
    for item in response["output"]:
        item["id"] = response["output"][0]["id"]
    return response


@fault("item-type-thinking", "item", on=(RESPONSES,), caught_by=(_TYPES,))
def item_type_thinking(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """Reasoning comes in items of type thinking."""
    return item | {"type": "thinking"} if item["type"] == "reasoning" else item


@fault("item-type-missing", "item", on=(RESPONSES,), caught_by=(_TYPES, "body.schema"))
def item_type_missing(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """Reasoning items do not say their type."""
    if item["type"] == "reasoning":
        item.pop("type")
    return item


@fault("item-type-tool-use", "item", on=(RESPONSES,), caught_by=(_TYPES,))
def item_type_tool_use(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """Function calls come in items of type tool_use, as blocks on Messages do."""
    return item | {"type": "tool_use"} if item["type"] == "function_call" else item


@fault("item-status-in-progress", "ending", on=(RESPONSES,), caught_by=(_STATUS,))
def item_status_in_progress(_: Context, response: dict[str, Any]) -> dict[str, Any]:
    """In the finished response the message item is still in_progress."""
    for item in response["output"]:
        if item["type"] == "message":
            item["status"] = "in_progress"
    return response


@fault("item-status-in-progress-when-done", "events", on=(RESPONSES,), modes=(STREAM,), caught_by=(_STATUS,))
def item_in_progress_when_done(_: Context, events: Events) -> Events:
    """An output item that is done says that it is in progress."""
    for each in of(events, "response.output_item.done"):
        each["item"]["status"] = "in_progress"
    return events


@fault("item-status-incomplete", "ending", on=(RESPONSES,), caught_by=(_STATUS,))
def item_status_incomplete(_: Context, response: dict[str, Any]) -> dict[str, Any]:
    """In a completed response the reasoning item says incomplete."""
    if response["status"] == "completed":
        response["output"][0]["status"] = "incomplete"
    return response


@fault("item-message-without-role", "item", on=(RESPONSES,), caught_by=(_FIELDS,))
def item_message_without_role(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """The message item has no role."""
    item.pop("role", None)
    return item


@fault("item-message-without-content", "item", on=(RESPONSES,), caught_by=(_FIELDS, "body.answer-findable"))
def item_message_without_content(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """The message item has its text directly and no content."""
    if item["type"] == "message":
        item["text"] = "".join(part["text"] for part in item.pop("content"))
    return item


@fault("item-reasoning-without-parts", "item", on=(RESPONSES,), caught_by=(_FIELDS,))
def item_reasoning_without_parts(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """The reasoning item has its text directly, and neither summary nor content."""
    if item["type"] == "reasoning":
        item["text"] = "".join(part["text"] for part in item.pop("summary"))
    return item


@fault("item-call-without-call-id", "item", on=(RESPONSES,), caught_by=(_FIELDS, "tool.ids"))
def item_call_without_call_id(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """A function call has an id and no call_id."""
    item.pop("call_id", None)
    return item


@fault("item-call-without-arguments", "item", on=(RESPONSES,), caught_by=(_FIELDS, "tool.arguments-json"))
def item_call_without_arguments(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """A function call has its arguments under input, as on Messages."""
    if item["type"] == "function_call":
        item["input"] = item.pop("arguments")
    return item


@fault("item-call-without-name", "item", on=(RESPONSES,), caught_by=(_FIELDS, "tool.declared-only"))
def item_call_without_name(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """A function call does not say which function."""
    item.pop("name", None)
    return item
