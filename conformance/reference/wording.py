"""What the last user turn says, and what can be read out of its words."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from conformance.reference.prompts import Media, PastCall, Prompt, Text, ToolResult

_TAG = re.compile(r"\A\s*\[[^\]\n]{1,64}\]\s*")
_NAME = r"(?:\"[^\"\n]{1,80}\"|[A-Z][\w'’-]*(?:[ ][A-Z][\w'’-]*)*|[\u3040-\u30ff\u4e00-\u9fff]{1,20})"
_LIST = re.compile(
    rf"\b(?:for|in|of|about)\s+({_NAME}(?:(?:,\s*and|,|\s+and)\s+(?:(?:for|in|of|about)\s+)?{_NAME})*)",
)
_AND = re.compile(r"\s*,?\s+and\s+(?:(?:for|in|of|about)\s+)?")
_COMMA = re.compile(r",\s*(?:(?:for|in|of|about)\s+)?")
_EQUAL = re.compile(r"\b(\w{1,64})\s+(?:equal to|set to)\s+(\"[^\"\n]{1,200}\"|[^\s,;]{1,200})", re.IGNORECASE)


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What the user said last: words (without a leading ``[tag]``), and what came back from tools."""

    text: str
    results: tuple[tuple[str, ToolResult], ...] = ()  # with the name of the tool that was called
    media: tuple[Media, ...] = ()
    fresh: bool = True  # False: nothing was said since the last answer; the text is from before it


def last_turn(prompt: Prompt) -> Turn:
    """The turn to answer: everything after the last assistant message, or the last words before it."""
    since = 0
    names: dict[str, str] = {}
    for index, message in enumerate(prompt.messages):
        if message.role == "assistant":
            since = index + 1
            names |= {part.id: part.name for part in message.parts if isinstance(part, PastCall)}
    recent = [part for message in prompt.messages[since:] if message.role != "system" for part in message.parts]
    text = "\n".join(part.text for part in recent if isinstance(part, Text))
    return Turn(
        text=_TAG.sub("", text or _earlier(prompt)),
        results=tuple((names.get(part.id, ""), part) for part in recent if isinstance(part, ToolResult)),
        media=tuple(part for part in recent if isinstance(part, Media)),
        fresh=bool(text),
    )


def _earlier(prompt: Prompt) -> str:
    for message in reversed(prompt.messages):
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        if message.role == "user" and texts:
            return "\n".join(texts)
    return ""


def subjects(text: str) -> tuple[str, ...]:
    """What a request is for: ``for Paris and for Rome`` gives both, ``in Beijing`` the one."""
    found = _LIST.search(text)
    if found is None:
        return ()
    names = [found[1]]
    if _AND.search(found[1]):
        names = [name for part in _AND.split(found[1]) for name in _COMMA.split(part)]
    return tuple(name.strip('"') for name in names if name)


def equalities(text: str) -> dict[str, str]:
    """Values asked for by name: ``result equal to OK`` gives ``{"result": "OK"}``."""
    return {name.lower(): value.strip('"').rstrip(".!?") for name, value in _EQUAL.findall(text)}


def words(text: str) -> Iterator[str]:
    """The words of a text in lower case; the parts of snake_case and camelCase are words of their own."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return (word.lower() for word in re.findall(r"[^\W_]+", spaced))
