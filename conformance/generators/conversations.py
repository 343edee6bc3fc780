"""Conversations that make sense, on each surface: roles alternate, results answer calls, media is real.

What an assistant says in them, no model said: such a history is valid, but nobody vouches for it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from conformance.generators.media import IMAGES, TYPES, VIDEOS, base64_of, data_url
from conformance.generators.texts import prompts, texts
from conformance.values import Protocol

MOST_ROUNDS = 3  # of the history
Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A function that the conversation may call, and arguments that its schema admits."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """The messages (on responses the input), and whether the documents leave no doubt of them."""

    messages: Any
    sure: bool


@functools.cache
def _rounds() -> st.SearchStrategy[int]:
    return st.sampled_from((0, 0, 0, 1, 1, 2, MOST_ROUNDS))


def conversations(
    protocol: Protocol, offers: Sequence[Offer], *, search: bool, asking: str | None = None
) -> st.SearchStrategy[Conversation]:
    """Conversations of a surface that may call the offered functions; ``asking`` is what the user says last."""
    made: st.SearchStrategy[Conversation] = _MAKERS[protocol](tuple(offers), search, asking)
    return made


@st.composite
def _chat(draw: Draw, offers: tuple[Offer, ...], search: bool, asking: str | None) -> Conversation:
    messages: list[dict[str, Any]] = []
    if draw(st.sampled_from((False, False, True))):
        messages.append({"role": "system", "content": draw(st.just("Be brief.") | texts().map("Style: {}".format))})
    rounds = draw(_rounds())
    for number in range(rounds):
        messages.append({"role": "user", "content": draw(prompts())})
        messages += _chat_round(draw, offers, search, number)
    if not (messages and messages[-1]["role"] == "tool" and draw(st.booleans())):
        messages.append({"role": "user", "content": _chat_content(draw, asking)})
    return Conversation(messages=messages, sure=not rounds)


def _chat_content(draw: Draw, asking: str | None) -> Any:
    words = asking or draw(prompts())
    form = draw(st.sampled_from(("text", "text", "text", "part", "image", "video")))
    if form == "text":
        return words
    said = {"type": "text", "text": words}
    if form == "part":
        return [said]
    url = data_url(draw(st.sampled_from(IMAGES if form == "image" else VIDEOS)))
    part = {"type": f"{form}_url", f"{form}_url": draw(st.sampled_from(({"url": url}, url)))}
    return draw(st.permutations([part, said]))


def _chat_round(draw: Draw, offers: tuple[Offer, ...], search: bool, number: int) -> list[dict[str, Any]]:
    """What the assistant did: it said something, or called functions and got their results."""
    said: dict[str, Any] = {"role": "assistant", "content": draw(texts())}
    if draw(st.booleans()):
        said["reasoning_content"] = draw(texts())
    called = _called(draw, offers)
    if called:
        calls = [_chat_call(f"call_{number}_{place}", offer) for place, offer in enumerate(called)]
    elif search and draw(st.booleans()):
        query = json.dumps({"query": draw(texts())}, ensure_ascii=False)
        function = {"name": "$web_search", "arguments": query}
        calls = [{"id": f"call_{number}_s", "type": "builtin_function", "function": function}]
    else:
        return [said]
    said |= {"content": draw(st.sampled_from((None, ""))), "tool_calls": calls}
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": _chat_result(draw, call)}
        for call in draw(st.permutations(calls))
    ]
    after = [{"role": "assistant", "content": draw(texts())}] if draw(st.booleans()) else []
    return [said, *results, *after]


def _chat_call(name: str, offer: Offer) -> dict[str, Any]:
    arguments = json.dumps(offer.arguments, ensure_ascii=False)
    return {"id": name, "type": "function", "function": {"name": offer.name, "arguments": arguments}}


def _chat_result(draw: Draw, call: dict[str, Any]) -> str:
    if call["type"] == "builtin_function":
        return str(call["function"]["arguments"])  # the documents ask for the arguments unchanged
    return str(draw(st.just("17 degrees") | texts()))


def _called(draw: Draw, offers: tuple[Offer, ...]) -> list[Offer]:
    if not offers or not draw(st.booleans()):
        return []
    found: list[Offer] = draw(st.lists(st.sampled_from(offers), min_size=1, max_size=3))
    return found


@st.composite
def _messages(draw: Draw, offers: tuple[Offer, ...], search: bool, asking: str | None) -> Conversation:
    messages: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []  # tool results that the next user turn begins with
    rounds = draw(_rounds())
    for number in range(rounds):
        messages.append(_messages_user(draw, results, draw(prompts())))
        blocks, results = _messages_round(draw, offers, search, number)
        messages.append({"role": "assistant", "content": blocks})
    if results and draw(st.booleans()):
        messages.append({"role": "user", "content": results})
    else:
        messages.append(_messages_user(draw, results, asking or draw(prompts())))
    return Conversation(messages=messages, sure=not rounds)


def _messages_user(draw: Draw, results: list[dict[str, Any]], words: str) -> dict[str, Any]:
    form = draw(st.sampled_from(("text", "text", "text", "block", "image")))
    said = {"type": "text", "text": words}
    if form == "image":
        return {"role": "user", "content": [*results, _image(draw), said]}
    if results or form == "block":
        return {"role": "user", "content": [*results, said]}
    return {"role": "user", "content": words}


def _image(draw: Draw) -> dict[str, Any]:
    name = draw(st.sampled_from(IMAGES))
    return {"type": "image", "source": {"type": "base64", "media_type": TYPES[name], "data": base64_of(name)}}


def _messages_round(
    draw: Draw, offers: tuple[Offer, ...], search: bool, number: int
) -> tuple[Any, list[dict[str, Any]]]:
    """The assistant's content, and the results of its calls."""
    called = _called(draw, offers)
    words = draw(texts())
    if not called and draw(st.booleans()):
        return words, []
    blocks: list[dict[str, Any]] = []
    if draw(st.booleans()):
        blocks.append({"type": "thinking", "thinking": draw(texts()), "signature": "c2lnbmF0dXJl"})
    if search and draw(st.booleans()):
        blocks += _searched(draw, f"srvtoolu_{number}")
    blocks.append({"type": "text", "text": words})
    uses = [
        {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": offer.name, "input": offer.arguments}
        for place, offer in enumerate(called)
    ]
    results = [_messages_result(draw, use["id"]) for use in draw(st.permutations(uses))] if uses else []
    return [*blocks, *uses], results


def _messages_result(draw: Draw, name: str) -> dict[str, Any]:
    words = draw(st.just("17 degrees") | texts())
    form = draw(st.sampled_from(("text", "text", "block", "image")))
    blocks = [{"type": "text", "text": words}, *([_image(draw)] if form == "image" else [])]
    result = {"type": "tool_result", "tool_use_id": name, "content": words if form == "text" else blocks}
    if draw(st.booleans()):
        result["is_error"] = draw(st.booleans())
    return result


def _searched(draw: Draw, name: str) -> list[dict[str, Any]]:
    page = {
        "type": "web_search_result",
        "url": "https://www.kimi.com",
        "title": "Kimi",
        "encrypted_content": "a2ltaQ==",
    }
    failed = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    return [
        {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": draw(texts())}},
        {"type": "web_search_tool_result", "tool_use_id": name, "content": draw(st.sampled_from(([page], failed)))},
    ]


@st.composite
def _responses(draw: Draw, offers: tuple[Offer, ...], search: bool, asking: str | None) -> Conversation:  # noqa: ARG001 (one signature on all surfaces)
    words = asking or draw(prompts())
    rounds = draw(_rounds())
    form = draw(st.sampled_from(("string", "item", "part"))) if not rounds else "item"
    if form == "string":
        return Conversation(messages=words, sure=True)
    if form == "part":
        part = {"type": "input_text", "text": words}
        return Conversation(messages=[{"type": "message", "role": "user", "content": [part]}], sure=False)
    items: list[dict[str, Any]] = []
    for number in range(rounds):
        items.append({"role": "user", "content": draw(prompts())})
        items += _responses_round(draw, offers, number)
    if not (items and items[-1].get("type") == "function_call_output" and draw(st.booleans())):
        items.append({"role": "user", "content": words})
    return Conversation(messages=items, sure=not rounds)


def _responses_round(draw: Draw, offers: tuple[Offer, ...], number: int) -> list[dict[str, Any]]:
    called = _called(draw, offers)
    if not called:
        words = draw(texts())
        content = draw(st.sampled_from((words, [{"type": "output_text", "text": words}])))
        return [{"type": "message", "role": "assistant", "content": content}]
    calls = [
        {
            "type": "function_call",
            "call_id": f"call_{number}_{place}",
            "name": offer.name,
            "arguments": json.dumps(offer.arguments, ensure_ascii=False),
        }
        for place, offer in enumerate(called)
    ]
    results = [
        {"type": "function_call_output", "call_id": call["call_id"], "output": draw(st.just("17 degrees") | texts())}
        for call in draw(st.permutations(calls))
    ]
    return [*calls, *results]


_MAKERS: dict[Protocol, Any] = {Protocol.CHAT: _chat, Protocol.MESSAGES: _messages, Protocol.RESPONSES: _responses}
