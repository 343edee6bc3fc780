"""The web as the reference server knows it: fixed results for any query."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

from conformance.reference.wording import Turn

_ASKED = re.compile(r"\bweb[- ]?search\b|\bsearch (?:the )?(?:web|internet)\b|\bsearch online\b", re.IGNORECASE)
_REFUSED = re.compile(r"\b(?:do not|don't|without|never)\b[^.\n]{0,40}\bsearch", re.IGNORECASE)
_QUERY = re.compile(
    r"\b(?:web[- ]?search|search (?:the )?(?:web|internet)|search online)\b[^.\n]{0,20}?"
    r"\b(?:to (?:find|look up|get|check|see)|for)\s+([^\n?!]{1,200}?)[.?!]*(?:\n|$)",
    re.IGNORECASE,
)
_TIMES = re.compile(r"\b(?:(twice)|(two|three|[23]) (?:times|(?:web )?searches))\b", re.IGNORECASE)
_NUMBERS = {"twice": 2, "two": 2, "2": 2, "three": 3, "3": 3}
_PAGES = (
    ("Kimi - the official homepage", "https://www.kimi.com/"),
    ("Moonshot AI", "https://www.moonshot.ai/"),
)


def asked(turn: Turn) -> bool:
    """Whether the user's words ask for a web search."""
    return bool(_ASKED.search(turn.text)) and not _REFUSED.search(turn.text)


def queries(turn: Turn, most: int) -> tuple[str, ...]:
    """The queries for a turn: one, or as many up to three as the words ask for, and at most ``most``."""
    found = _QUERY.search(turn.text)
    query = found[1] if found else " ".join(turn.text.split())[:120] or "Kimi"
    times = _TIMES.search(turn.text)
    number = _NUMBERS[(times[1] or times[2]).lower()] if times else 1
    return (query, f"{query} 2", f"{query} 3")[: min(most, number)]


def results(query: str) -> tuple[dict[str, Any], ...]:
    """What a search finds, as messages reports it."""
    found = []
    for title, url in _PAGES:
        sealed = hashlib.blake2b(f"{query}\n{url}".encode(), digest_size=48).digest()
        found.append(
            {
                "type": "web_search_result",
                "title": title,
                "url": url,
                "encrypted_content": base64.b64encode(sealed).decode(),
                "page_age": "2 days ago",
            },
        )
    return tuple(found)


def summary(query: str) -> str:
    """What an answer says after a search."""
    title, url = _PAGES[0]
    return f"The web search for {query!r} found: {title}, {url}"
