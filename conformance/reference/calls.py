"""Which declared tools an answer calls, and what about."""

from __future__ import annotations

import re

import msgspec

from conformance.reference import directives, search
from conformance.reference.prompts import SEARCH, Prompt, Tool
from conformance.reference.wording import Turn, subjects, words
from conformance.values import Protocol

_MOST = 16  # calls in one answer
_VERBS = frozenset({"get", "set", "list", "find", "make", "do", "run", "call", "use", "the", "tool", "function"})
_FILLER = re.compile(
    r"about|also|from|given|have|into|return|returns|specified|that|their|them|then|there|this|user|what|when|where|which"
    r"|will|with|your",
)
_REFUSED = re.compile(
    r"\b(?:do not|don't|never|without)\b[^.\n]{0,30}\b(?:call|calling|use|using|tools?)\b", re.IGNORECASE
)
_TIMES = re.compile(r"\b(twice|(?:two|three|four|five|[2-9]) times)\b", re.IGNORECASE)
_NUMBERS = {"twice": 2, "two": 2, "three": 3, "four": 4, "five": 5}


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A call to make: the tool (None is the built-in search of chat) and what the user wants it for."""

    tool: Tool | None
    subject: str | None = None


def wanted(prompt: Prompt, turn: Turn) -> tuple[Wanted, ...]:
    """The calls that the tool choice and the user's words ask for, in order."""
    choice = prompt.choice
    builtin = prompt.protocol is Protocol.CHAT and prompt.search > 0
    if choice.mode == "none":
        return ()
    if choice.mode == "named":
        if choice.name == SEARCH:
            return (Wanted(tool=None),)
        named = tuple(tool for tool in prompt.tools if tool.name == choice.name)
        found = _asked(named, turn) or _about(named[0], turn.text)
    else:
        talks = turn.fresh and not _REFUSED.search(turn.text) and not directives.verbatim(turn.text)
        found = _asked(prompt.tools, turn) if talks else ()
        if not found and builtin and talks and search.asked(turn):
            found = (Wanted(tool=None),)
        if not found and choice.mode == "required":
            found = _fallback(prompt, turn, builtin=builtin)
    return found[: _MOST if choice.parallel else 1]


def _fallback(prompt: Prompt, turn: Turn, *, builtin: bool) -> tuple[Wanted, ...]:
    """A call where one is required and the words name none: the first function, else the search."""
    if prompt.tools:
        return _about(prompt.tools[0], turn.text)
    return (Wanted(tool=None),) if builtin else ()


def _asked(tools: tuple[Tool, ...], turn: Turn) -> tuple[Wanted, ...]:
    """Calls of the tools that the words name, else of the one whose description fits them."""
    named = _named(tools, turn.text)
    if named:
        return named
    spoken = set(words(turn.text))
    scores = [_fit(tool, spoken) for tool in tools]
    best = max(scores, default=0)
    return _about(tools[scores.index(best)], turn.text) if best else ()


def _named(tools: tuple[Tool, ...], text: str) -> tuple[Wanted, ...]:
    places: list[tuple[int, Tool]] = []
    for tool in tools:
        spelled = re.compile(rf"(?<![\w-]){re.escape(tool.name)}(?![\w-])", re.IGNORECASE)
        places += [(match.start(), tool) for match in spelled.finditer(text)]
    if not places:
        return ()
    places.sort(key=lambda place: place[0])
    found: list[Wanted] = []
    ends = [start for start, _ in places[1:]] + [len(text)]
    for (start, tool), end in zip(places, ends, strict=True):
        found += _about(tool, text[start:end] if len(places) > 1 else text)
    precise = {each.tool.name for each in found if each.tool and each.subject}
    kept = [each for each in found if each.tool and (each.subject or each.tool.name not in precise)]
    repeated = len({tool.name for _, tool in places}) == 1 and _TIMES.search(text)
    return tuple(kept if repeated else _distinct(kept))


def _distinct(found: list[Wanted]) -> list[Wanted]:
    seen: dict[tuple[str, str | None], Wanted] = {}
    for each in found:
        seen.setdefault((each.tool.name if each.tool else SEARCH, each.subject), each)
    return list(seen.values())


def _about(tool: Tool, text: str) -> tuple[Wanted, ...]:
    """One call for each subject of the text, or as often as it says."""
    about = subjects(text)
    times = _TIMES.search(text)
    if times and len(about) <= 1:
        first = times[1].split()[0].lower()
        number = _NUMBERS.get(first) or int(first)
        return (Wanted(tool=tool, subject=about[0] if about else None),) * number
    return tuple(Wanted(tool=tool, subject=subject) for subject in about) or (Wanted(tool=tool),)


def _fit(tool: Tool, spoken: set[str]) -> int:
    """How well a tool fits what was said: words of its name count, words of its description from two on."""
    name = {word for word in words(tool.name) if word not in _VERBS and len(word) > 2}
    described = {
        word for word in words(tool.description) if len(word) > 3 and word not in _VERBS and not _FILLER.fullmatch(word)
    }
    both = len(described & spoken)
    return 2 * len(name & spoken) + (both if both >= 2 else 0)
