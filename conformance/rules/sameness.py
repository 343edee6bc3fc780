"""Requests, compared: what two requests share once a field, the words or the images are left out."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from conformance.protocols.view import Answer
from conformance.values import Intent, Protocol

MESSAGES_FIELD = {Protocol.CHAT: "messages", Protocol.MESSAGES: "messages", Protocol.RESPONSES: "input"}


def canonical(answer: Answer, *leave_out: str, effort: bool = True) -> str:
    """The request body as one string, keys sorted, without the named fields (and without the effort)."""
    key = f"{effort} {' '.join(sorted(leave_out))}"
    known = answer.asked.forms.get(key)
    if known is None:
        known = answer.asked.forms[key] = _canonical(answer, leave_out, effort=effort)
    return known


def _canonical(answer: Answer, leave_out: tuple[str, ...], *, effort: bool) -> str:
    body = without(answer, *leave_out)
    if not effort:
        body.pop("reasoning_effort", None)
        for name in ("output_config", "reasoning"):
            if isinstance(body.get(name), dict):
                body[name] = {key: value for key, value in body[name].items() if key != "effort"}
    return dump(body)


def without(answer: Answer, *names: str) -> dict[str, Any]:
    """The request body without the named fields."""
    return {key: value for key, value in answer.asked.body.items() if key not in names}


def dump(value: object) -> str:
    """One string for one JSON value, keys sorted: equal strings for equal values."""
    try:
        return msgspec.json.encode(value, order="sorted").decode()
    except (ValueError, OverflowError):  # lone surrogates, integers beyond 64 bits
        return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def host(answer: Answer) -> str:
    """The URL without its query: base URL and path."""
    return answer.asked.url.partition("?")[0]


def cell_model(answer: Answer) -> str:
    """The model whose cell the exchange counts for."""
    return answer.model


def mode(answer: Answer) -> str:
    """What was asked for: a stream, or JSON."""
    return "stream" if answer.asked.stream else "json"


def credentials(answer: Answer) -> str:
    """What a request says beside its body: the scheme of its key, whether that cannot be valid, its content type."""
    return dump([answer.asked.scheme, answer.intends(Intent.INVALID_KEY), answer.asked.header("content-type")])


def settings(answer: Answer) -> str:
    """Every field but the messages and ``stream``."""
    return dump(without(answer, "stream", MESSAGES_FIELD[answer.protocol]))


def items(answer: Answer) -> list[Any] | None:
    """The messages (on responses the input array); None where there is no array."""
    value = answer.asked.body.get(MESSAGES_FIELD[answer.protocol])
    return value if isinstance(value, list) else None


def is_string_input(answer: Answer) -> bool:
    """Whether it is a Responses request whose input is a string."""
    return answer.protocol is Protocol.RESPONSES and isinstance(answer.asked.body.get("input"), str)


def turns(answer: Answer) -> int:
    """How many messages but system ones; a string input is one."""
    if is_string_input(answer):
        return 1
    return sum(1 for item in items(answer) or () if isinstance(item, dict) and item.get("role") != "system")


def plain(answer: Answer) -> bool:
    """Whether it has one message and no system prompt."""
    return "system" not in answer.asked.body and len(items(answer) or [0]) == 1


def rest(answer: Answer) -> str:
    """The request without the words of its last user message."""
    body = without(answer, "stream")
    name = MESSAGES_FIELD[answer.protocol]
    items = body.get(name)
    if isinstance(items, list):
        last = max((n for n, item in enumerate(items) if role(item) == "user"), default=None)
        body[name] = [wordless(item) if n == last else item for n, item in enumerate(items)]
    elif isinstance(items, str):
        body[name] = ""
    return dump(body)


def wordless(item: dict[str, Any]) -> dict[str, Any]:
    """A message without its words."""
    content = item.get("content")
    if isinstance(content, list):
        content = [{**p, "text": ""} if isinstance(p, dict) and "text" in p else p for p in content]
    elif isinstance(content, str):
        content = ""
    return {**item, "content": content}


def role(item: object) -> object:
    """The role of a message, whatever it is."""
    return item.get("role") if isinstance(item, dict) else None


def flat_text(body: dict[str, Any]) -> dict[str, Any]:
    """The body with each lone text block written as a string."""

    def flat(value: object) -> object:
        if isinstance(value, list) and len(value) == 1 and is_text(value[0]):
            return value[0]["text"]
        return value

    flattened = dict(body)
    if "system" in body:
        flattened["system"] = flat(body["system"])
    if isinstance(body.get("messages"), list):
        flattened["messages"] = [
            {**item, "content": flat(item["content"])} if isinstance(item, dict) and "content" in item else item
            for item in body["messages"]
        ]
    return flattened


def is_text(block: object) -> bool:
    """Whether it is a text block with nothing else in it."""
    return (
        isinstance(block, dict)
        and block.keys() == {"type", "text"}
        and block["type"] == "text"
        and isinstance(block["text"], str)
    )


def block_count(answer: Answer) -> int:
    """How many of the fields that may be a string are arrays."""
    body = answer.asked.body
    fields = [body.get("system"), *(i.get("content") for i in items(answer) or () if isinstance(i, dict))]
    return sum(isinstance(value, list) for value in fields)


def imageless(body: dict[str, Any]) -> dict[str, Any]:
    """The body without image blocks."""

    def strip(item: object) -> object:
        if isinstance(item, dict) and isinstance(item.get("content"), list):
            return {**item, "content": [block for block in item["content"] if not is_image(block)]}
        return item

    messages = body.get("messages")
    return {**body, "messages": [strip(item) for item in messages]} if isinstance(messages, list) else body


def is_image(block: object) -> bool:
    """Whether it is an image block of any surface."""
    return isinstance(block, dict) and block.get("type") in ("image", "image_url")


def image_count(body: dict[str, Any]) -> int:
    """How many image blocks the messages hold."""
    items = body.get("messages")
    contents = [i.get("content") for i in items if isinstance(i, dict)] if isinstance(items, list) else []
    return sum(is_image(block) for content in contents if isinstance(content, list) for block in content)
