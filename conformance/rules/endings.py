"""Whether a text ends in the middle: what no whole answer ends with.

Many whole answers have no full stop: a name, a list, a table, code. Only what cannot be one of these breaks off.
"""

from __future__ import annotations

import re
from itertools import pairwise

_SHORT = 6  # words that may be a whole answer without a full stop
_OPEN = frozenset(",;:–—([{")  # signs after which something must follow
_OPEN_IN_PROSE = frozenset("-/\\=+<")  # likewise in a longer text; a short answer may be C++ or a path
_DANGLING = re.compile(
    r"(?:^|\s)(?:the|an?|and|or|but|of|to|in|on|at|by|for|with|from|than|that|which|is|are|was|were|be|been|has|have|had|will|its|their)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[^\W\d]{4,}[.!?] +\S|[。！？]\s*\S")  # a sentence after another; St. Gallen is none
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NUMBER = re.compile(r"\d{1,18}")
_STEPS = 3  # numbers at the end of a text, each one more than the one before, that show it to be counting


def breaks_off(text: str, prompt: str) -> bool:
    """Whether a text that answers a prompt cannot be whole."""
    end = text.rstrip()
    last_line = end.rpartition("\n")[2]
    if not end or end[-1] in _OPEN or _DANGLING.fullmatch(" " + (end.split() or [""])[-1]):
        return bool(end)
    if not end[-1].isalnum():
        return end[-1] in _OPEN_IN_PROSE and _words(last_line) > _SHORT
    if _cuts_number(end):
        return True
    counted = _counts_to(end)
    if counted is not None:
        aim = max(map(int, _NUMBER.findall(prompt)), default=counted)
        return counted < aim
    return bool(_GOES_ON.search(last_line)) or (_words(end) > _SHORT and not _is_listed(end))


def _words(text: str) -> int:
    """How many words a text has; where there are no spaces between them two ideographs count as one."""
    return len(text.split()) + len(_IDEOGRAPHS.findall(text)) // 2


def _counts_to(text: str) -> int | None:
    """The number that a counting text ends with; None for any other text."""
    numbers = [int(number) for number in _NUMBER.findall(text[-200:])][-_STEPS:]
    counting = len(numbers) == _STEPS and all(b - a == 1 for a, b in pairwise(numbers))
    return numbers[-1] if counting and text.endswith(str(numbers[-1])) else None


def _cuts_number(text: str) -> bool:
    """Whether a counting text ends in the first digits of the number that is next."""
    *_, first, second, last = ["", "", "", *_NUMBER.findall(text[-200:])]
    if not (first and second and last) or not text.endswith(last) or int(second) - int(first) != 1:
        return False
    following = str(int(second) + 1)
    return following.startswith(last) and following != last


def _is_listed(text: str) -> bool:
    """Whether the last line follows a line without a full stop, as in lists, tables, verse, letters and code."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and _words(lines[-1]) <= 2 * _SHORT and lines[-2][-1] not in ".!?。！？…"
