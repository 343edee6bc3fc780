"""Requests, compared: what two requests share once a field, the words or the images are left out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Mapping
from typing import Any

import msgspec

from conformance.protocols.view import Answer
from conformance.values import Intent, Protocol

LONG = 128  # bytes of a value, above which its digest stands for it
_TEXTS = ("input_text", "text")
MESSAGES_FIELD = {Protocol.CHAT: "messages", Protocol.MESSAGES: "messages", Protocol.RESPONSES: "input"}


def canonical(answer: Answer, *leave_out: str, effort: bool = True) -> str:
    """The request body as one string without the named fields (and without the effort): equal for equal bodies."""
    key = f"{effort} {' '.join(sorted(leave_out))}"
    known = answer.asked.forms.get(key)
    if known is None:
        found = fields(answer) if effort else _effortless(answer)
        known = answer.asked.forms[key] = _joined(found, leave_out)
    return known


def fields(answer: Answer) -> dict[str, str]:
    """Each field of the request body as a string that is equal for equal values."""
    found = answer.asked.fields
    if not found:
        found.update((name, brief(value)) for name, value in sorted(answer.asked.body.items()))
    return found


def _effortless(answer: Answer) -> dict[str, str]:
    found = {name: text for name, text in fields(answer).items() if name != "reasoning_effort"}
    for name in ("output_config", "reasoning"):
        value = answer.asked.body.get(name)
        if isinstance(value, dict):
            found[name] = brief({key: item for key, item in value.items() if key != "effort"})
    return found


def _changed(answer: Answer, new: Mapping[str, object]) -> str:
    """The request without ``stream``, and with other values of some of its fields."""
    return _joined({**fields(answer), **{name: brief(value) for name, value in new.items()}}, ("stream",))


def _joined(found: Mapping[str, str], leave_out: Container[str]) -> str:
    return "\n".join(f"{dump(name)} {text}" for name, text in found.items() if name not in leave_out)


def brief(value: object) -> str:
    """One string for one JSON value, of a long one its digest: equal strings for equal values."""
    data = dumped(value)
    return data.decode() if len(data) <= LONG else f"#{hashlib.blake2b(data, digest_size=20).hexdigest()}"


def dump(value: object) -> str:
    """One string for one JSON value, keys sorted: equal strings for equal values."""
    return dumped(value).decode()


def dumped(value: object) -> bytes:
    """The same in UTF-8."""
    try:
        return msgspec.json.encode(value, order="sorted")
    except (ValueError, OverflowError):  # lone surrogates, integers beyond 64 bits
        return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()


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
    return canonical(answer, "stream", MESSAGES_FIELD[answer.protocol])


def items(answer: Answer) -> list[Any] | None:
    """The messages (on responses the input array); None where there is no array."""
    value = answer.asked.body.get(MESSAGES_FIELD[answer.protocol])
    return value if isinstance(value, list) else None


def is_string_input(answer: Answer) -> bool:
    """Whether it is a Responses request whose input is a string."""
    return answer.protocol is Protocol.RESPONSES and isinstance(answer.asked.body.get("input"), str)


def is_one_message(answer: Answer) -> bool:
    """Whether the input of a Responses request is an array of one user message, which holds text alone."""
    said = items(answer) or ()
    content = said[0].get("content") if len(said) == 1 and role(said[0]) == "user" else None
    if not isinstance(content, list):
        return isinstance(content, str)
    return bool(content) and all(isinstance(part, dict) and part.get("type") in _TEXTS for part in content)


def turns(answer: Answer) -> int:
    """How many messages but system ones; a string input is one."""
    if is_string_input(answer):
        return 1
    return sum(1 for item in items(answer) or () if isinstance(item, dict) and item.get("role") != "system")


def plain(answer: Answer) -> bool:
    """Whether it has one message and no system prompt."""
    return "system" not in answer.asked.body and len(items(answer) or [0]) == 1


def rest(answer: Answer) -> str:
    """The request without ``stream``, and without the words of its last user message."""
    name = MESSAGES_FIELD[answer.protocol]
    items = answer.asked.body.get(name)
    if isinstance(items, list):
        last = max((n for n, item in enumerate(items) if role(item) == "user"), default=None)
        return _changed(answer, {name: [wordless(item) if n == last else item for n, item in enumerate(items)]})
    return _changed(answer, {name: ""} if isinstance(items, str) else {})


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


def flat_text(answer: Answer, *, images: bool = True) -> str:
    """The request without ``stream`` and with each lone text block as a string, with or without its image blocks."""
    body = answer.asked.body
    flat: dict[str, object] = {"system": _flat(body["system"])} if isinstance(body.get("system"), list) else {}
    if any(isinstance(item, dict) and isinstance(item.get("content"), list) for item in items(answer) or ()):
        flat["messages"] = [_flat_message(item if images else _imageless(item)) for item in body["messages"]]
    return _changed(answer, flat) if flat else canonical(answer, "stream")


def _flat(value: object) -> object:
    return value[0]["text"] if isinstance(value, list) and len(value) == 1 and is_text(value[0]) else value


def _flat_message(item: object) -> object:
    return {**item, "content": _flat(item["content"])} if isinstance(item, dict) and "content" in item else item


def _imageless(item: object) -> object:
    if isinstance(item, dict) and isinstance(item.get("content"), list):
        return {**item, "content": [block for block in item["content"] if not is_image(block)]}
    return item


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


def is_image(block: object) -> bool:
    """Whether it is an image block of any surface."""
    return isinstance(block, dict) and block.get("type") in ("image", "image_url")


def image_count(body: dict[str, Any]) -> int:
    """How many image blocks the messages hold."""
    items = body.get("messages")
    contents = [i.get("content") for i in items if isinstance(i, dict)] if isinstance(items, list) else []
    return sum(is_image(block) for content in contents if isinstance(content, list) for block in content)
