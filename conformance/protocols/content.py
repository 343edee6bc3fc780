"""What a body says, in the terms of the view; each surface has a reader that fills it in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.protocols.json_text import read_text
from conformance.protocols.view import MISSING, Call, Finish, SearchResult, Usage


@dataclass(frozen=True, kw_only=True)
class Content:
    """The part of an Answer that is read from its body; the fields are those of ``Answer``."""

    id: object = MISSING
    type: object = MISSING
    created: object = MISSING
    answer_model: object = MISSING
    role: object = MISSING
    finish: object = MISSING
    ending: Finish | None = None
    texts: tuple[str, ...] = ()
    reasonings: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[SearchResult, ...] = ()
    usage: Usage | None = None
    usage_raw: object = MISSING


@dataclass(frozen=True, kw_only=True)
class Folded:
    """What a stream folds to: the body that the JSON answer would have had, and what that body cannot tell."""

    body: dict[str, Any] | None  # None where no event belongs to an answer
    complete: bool  # the terminal event arrived
    type: object = MISSING  # chat: the object field of the chunks
    usage_event: int | None = None  # the event that reported usage last
    pieces: dict[str, str] = field(default_factory=dict)  # pointer of a messages block to its joined partial_json


def arguments_value(arguments: object) -> object:
    """The JSON value of a call's arguments: of the string, or the object itself where no string came."""
    if isinstance(arguments, str):
        return read_text(arguments).value
    return arguments if isinstance(arguments, dict) else MISSING


def ending_of(finish: object, endings: dict[str, Finish]) -> Finish | None:
    """The ending that a finish reason stands for; None for one that is absent or null."""
    if finish is MISSING or finish is None:
        return None
    return endings.get(finish, Finish.OTHER) if isinstance(finish, str) else Finish.OTHER
