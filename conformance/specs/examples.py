"""The examples that the documents show: requests, and the answer of each surface."""

from __future__ import annotations

import copy
import functools
import json
import re
from typing import Any

from conformance.specs import documents
from conformance.specs.composition import load, recipe
from conformance.values import Protocol

_SHOWN_IN = {Protocol.CHAT: "chat-k31", Protocol.MESSAGES: "messages-all", Protocol.RESPONSES: "responses"}
_DATA = re.compile(r"--data '\s*(?=\{)")


def _shown(protocol: Protocol) -> tuple[Any, Any]:
    """The body of the first curl command of the surface's page, and the answer that follows it."""
    text = documents.text(_SHOWN_IN[protocol])
    decoder = json.JSONDecoder()
    command = _DATA.search(text)
    if command is None:
        raise LookupError(f"{_SHOWN_IN[protocol]} shows no curl command")
    request, end = decoder.raw_decode(text, command.end())
    answer, _ = decoder.raw_decode(text, text.index("{", end))
    return request, answer


@functools.cache
def _requests(protocol: Protocol) -> dict[str, dict[str, Any]]:
    operation = load(recipe(protocol)["source"])["paths"][recipe(protocol)["path"]]["post"]
    examples = operation["requestBody"]["content"]["application/json"]["examples"]
    found = {name: example["value"] for name, example in examples.items()}
    return found | {"curl": _shown(protocol)[0]}


def documented_examples(protocol: Protocol) -> dict[str, dict[str, Any]]:
    """Name to body of every request example of the surface; ``curl`` is the command of its page. Copies."""
    return copy.deepcopy(_requests(protocol))


def example_answer(protocol: Protocol) -> dict[str, Any]:
    """The answer that the surface's page shows, placeholders (``<string>``, 123) included."""
    found: dict[str, Any] = _shown(protocol)[1]
    return found
