"""What a model said, found again in the history of a later request."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from conformance.protocols.view import Answer
from conformance.rules.sameness import cell_model, dumped, host, is_string_input, items, role
from conformance.values import Protocol


def history(answer: Answer) -> list[Any]:
    """The messages of a request; a string input is one user message."""
    if is_string_input(answer):
        return [{"role": "user", "content": answer.asked.body["input"]}]
    return items(answer) or []


def prefixes(answer: Answer, turns: list[Any]) -> list[tuple[str, bytes]]:
    """Each beginning of a conversation as a key, from none of its messages to all of them."""
    where = "\n".join((answer.protocol.value, cell_model(answer), host(answer)))
    digest = hashlib.blake2b(digest_size=16)
    keys = [(where, digest.digest())]
    for turn in turns:
        digest.update(hashlib.blake2b(dumped(turn)).digest())
        keys.append((where, digest.digest()))
    return keys


def is_said(item: object) -> bool:
    """Whether a model wrote this part of a history."""
    return role(item) == "assistant" or (
        isinstance(item, dict) and "role" not in item and item.get("type") in ("function_call", "reasoning")
    )


def answer_places(answer: Answer, turns: list[Any]) -> Iterator[int]:
    """Where in a history each answer begins; on responses one answer may be several items."""
    for place, item in enumerate(turns):
        follows = place > 0 and is_said(turns[place - 1]) and answer.protocol is Protocol.RESPONSES
        if is_said(item) and not follows:
            yield place


def answered_items(answer: Answer) -> Iterator[dict[str, Any]]:
    """The parts of an answer that a client sends back."""
    body = answer.body or {}
    if answer.protocol is Protocol.CHAT:
        choices = body.get("choices")
        found = [c.get("message") for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []
    elif answer.protocol is Protocol.MESSAGES:
        found = [{"content": body.get("content")}]
    else:
        output = body.get("output")
        found = output if isinstance(output, list) else []
    yield from (item for item in found if isinstance(item, dict))


def marks(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What an assistant item is recognised by: the ids of its calls, its signatures, its texts."""
    content = item.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    calls = item.get("tool_calls")
    ids = [call.get("id") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    ids += [block.get("id") for block in blocks if block.get("type") in ("tool_use", "server_tool_use")]
    ids += [item.get("call_id"), item.get("id")]
    texts = [content, item.get("reasoning_content")]
    texts += [block.get(name) for block in blocks for name in ("text", "thinking")]
    signatures = [block.get("signature") for block in blocks]
    for kind, values in (("id", ids), ("signature", signatures), ("text", texts)):
        for value in values:
            if isinstance(value, str) and value.strip():
                yield (kind, value)
