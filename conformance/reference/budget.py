"""How far the output limit reaches: reasoning first, then searches, text and calls share one budget of tokens."""

from __future__ import annotations

import json

import msgspec

from conformance.reference import tokens
from conformance.reference.results import Call, Finish, Result, Search, Usage


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """An answer as it would be without a limit."""

    reasoning: str
    searches: tuple[Search, ...] = ()
    text: str = ""
    calls: tuple[Call, ...] = ()


def bounded(draft: Draft, limit: int, stop: tuple[str, ...]) -> Result:
    """The draft as far as the limit reaches, ended early by a stop sequence in the text."""
    left = limit
    reasoning, left, whole = _taken(draft.reasoning, left)
    thought = limit - left
    searches: list[Search] = []
    for each in draft.searches if whole else ():
        cost = tokens.count(json.dumps({"query": each.query}, ensure_ascii=False))
        if cost > left:
            left, whole = 0, False
            break
        searches.append(each)
        left -= cost
    text, calls = "", []
    if whole:
        text, reach = _stopped(draft.text, stop)
        _, after, whole = _taken(draft.text[:reach], left)
        if not whole:
            text = _taken(draft.text, left)[0]
        elif reach < len(draft.text) or text != draft.text:
            draft = msgspec.structs.replace(draft, calls=())
        left = after
    for call in draft.calls if whole else ():
        arguments, left, whole = _taken(call.arguments, left)
        if arguments:
            calls.append(msgspec.structs.replace(call, arguments=arguments))
        if not whole:
            break
    finish = Finish.LENGTH if not whole else Finish.CALLS if calls else Finish.STOP
    usage = Usage(input=0, output=limit - left, reasoning=thought, searches=len(searches))
    return Result(
        reasoning=reasoning,
        searches=tuple(searches),
        text=text,
        calls=tuple(calls),
        finish=finish,
        usage=usage,
    )


def _taken(text: str, left: int) -> tuple[str, int, bool]:
    """As much of a text as fits, what is left of the limit then, and whether that is all of it."""
    part = tokens.head(text, left)
    return part, left - tokens.count(part), len(part) == len(text)


def _stopped(text: str, stop: tuple[str, ...]) -> tuple[str, int]:
    """The text before the earliest stop sequence, and where the generation ended: after the match."""
    found = [(text.index(sequence), len(sequence)) for sequence in stop if sequence in text]
    if not found:
        return text, len(text)
    start, length = min(found)
    return text[:start], start + length
