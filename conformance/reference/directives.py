"""Texts that a prompt can ask for in plain words, so that the same probes work on a live model.

Known are ``Reply with OK.``, ``Reply with exactly: …``, ``Repeat this exactly, with nothing before or after: …``,
``Count from 1 to 50``, ``Write 200 words …`` and ``Return a JSON object with result equal to OK.``
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import islice

from conformance.reference.wording import equalities

_MOST = 100_000  # numbers or words in one answer
_VERBATIM = re.compile(
    r"\b(?:reply with exactly"
    r"|repeat (?:this|the following)(?: text| line| message)?(?: exactly| word for word| verbatim)?"
    r"(?:,? with nothing (?:before or after|else))?)[ \t]*[:：][ \t]*(?:\r?\n)?",
    re.IGNORECASE,
)
_JSON = re.compile(r"\breturn (?:only )?a json object\b", re.IGNORECASE)
_COUNT = re.compile(r"\bcount (?:up )?from (\d{1,9}) (?:up )?to (\d{1,9})\b", re.IGNORECASE)
_LINES = re.compile(r"\b(?:one (?:number )?(?:per|a|on each) line|on its own line)\b", re.IGNORECASE)
_COMMAS = re.compile(r"\b(?:separated by commas|comma[- ]separated)\b", re.IGNORECASE)
_WORDS = re.compile(r"\bwrite (?:[a-z]+ ){0,4}?(\d{1,7})[ -]words?\b", re.IGNORECASE)
_REPLY = re.compile(
    r"\breply (?:only )?with (?:only |just )?(?:the (?:single )?word )?(?!(?:the|an?|your|one|some|its|their) )"
    r"(?:\"([^\"\n]+)\"|'([^'\n]+)'|([^\n]{1,200}?))(?:[ ,]*(?:and|with) nothing else)?"
    r"(?=[.!。]?(?:\s|$))[.!。]?(?=\s*$|\s+[A-Z]|\n)",
    re.IGNORECASE,
)
# fmt: off
_VOCABULARY = (
    "river", "stone", "quiet", "morning", "window", "garden", "letter", "bridge", "winter", "paper", "silver",
    "market", "music", "shadow", "evening", "harbour", "mountain", "candle", "journey", "forest", "mirror", "simple",
    "island", "summer", "thunder", "village", "orange", "station", "blanket", "question",
)
# fmt: on


def text_for(words: str, limit: int) -> str | None:
    """The text that the words ask for, no longer than a limit in tokens makes sense of; None without a directive."""
    makers: tuple[Callable[[str, int], str | None], ...] = (_verbatim, _object, _counted, _written, _replied)
    return next((made for maker in makers if (made := maker(words, limit)) is not None), None)


def verbatim(words: str) -> bool:
    """Whether a text is to be given back word for word."""
    return _verbatim(words, 0) is not None


def _verbatim(words: str, _limit: int) -> str | None:
    found = _VERBATIM.search(words)
    return (words[found.end() :] or None) if found else None


def _object(words: str, _limit: int) -> str | None:
    if not _JSON.search(words):
        return None
    return json.dumps(equalities(words) or {"result": "OK"}, ensure_ascii=False)


def _counted(words: str, limit: int) -> str | None:
    found = _COUNT.search(words)
    if found is None:
        return None
    first, last = int(found[1]), int(found[2])
    numbers = range(first, last + 1) if first <= last else range(first, last - 1, -1)
    separator = "\n" if _LINES.search(words) else ", " if _COMMAS.search(words) else " "
    return separator.join(map(str, islice(numbers, min(limit + 1, _MOST))))


def _written(words: str, limit: int) -> str | None:
    found = _WORDS.search(words)
    if found is None or not int(found[1]):
        return None
    size = len(_VOCABULARY)
    number = min(int(found[1]), limit + 1, _MOST)
    return " ".join(_VOCABULARY[(7 * index + index // size) % size] for index in range(number)) + "."


def _replied(words: str, _limit: int) -> str | None:
    found = list(_REPLY.finditer(words))
    return next((group for group in found[-1].groups() if group), None) if found else None
