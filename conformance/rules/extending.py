"""Which of many requests say what another says and more: found by sorting, not by comparing each with each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from conformance.protocols.view import Answer
from conformance.rules.sameness import mode

MORE_WORDS = 100  # how many words longer the longer one is, at least
LEAST_LONGER = 2 * MORE_WORDS - 1  # characters that so many words take, at least

Parents = dict[str, str | None]
"""For each text the longest other one that it begins with (or ends with)."""


def extended(answers: Sequence[Answer]) -> Iterator[tuple[Answer, Answer]]:
    """Each with the first that says 100 words more, before or after its own: of the same mode where there is one.

    All ask the same but for their last user message, and no two say the same in one mode. First is the shortest.
    """
    ordered = sorted(answers, key=lambda answer: len(answer.asked.last_user))
    worded = [_Worded(place, answer) for place, answer in enumerate(ordered)]
    lengths = [len(one.text) for one in worded]
    if max(lengths, default=0) - min(lengths, default=0) < LEAST_LONGER:
        return
    texts = {one.text for one in worded if one.text}
    starts = _parents(texts)
    ends = {text[::-1]: parent and parent[::-1] for text, parent in _parents(text[::-1] for text in texts).items()}
    searches = {name: _Search(worded, dict(starts), dict(ends)) for name in {one.mode for one in worded}}
    for long in worded:
        if long.text:
            searches[long.mode].meet(long)
    for short in worded:
        found = [search.found.get(short.place) for name, search in searches.items() if name != short.mode]
        first = next(filter(None, (searches[short.mode].found.get(short.place), *found)), None)
        if first is not None:
            yield short.answer, first


class _Worded:
    """An answer with the stripped text of its request's last user message, and the place that its length gives it."""

    def __init__(self, place: int, answer: Answer) -> None:
        self.place = place
        self.answer = answer
        self.mode = mode(answer)
        self.text = answer.asked.last_user.strip()

    @cached_property
    def words(self) -> int:
        return len(self.text.split())


class _Search:
    """The search for longer requests of one mode: those found, and the shorter ones that still wait, by their text."""

    def __init__(self, worded: Iterable[_Worded], *parents: Parents) -> None:
        self.found: dict[int, Answer] = {}  # by the place of the shorter one
        self._parents = parents
        self._waiting: dict[str, list[_Worded]] = {}
        for one in worded:
            self._waiting.setdefault(one.text, []).append(one)

    def meet(self, long: _Worded) -> None:
        """Give a request to all that wait for it. They come in the order of their places."""
        for parents in self._parents:
            text = self._next(parents[long.text], parents)
            while text is not None:
                self._waiting[text] = [short for short in self._waiting[text] if not self._fits(short, long)]
                text = self._next(parents[text], parents)

    def _fits(self, short: _Worded, long: _Worded) -> bool:
        fits = long.words - short.words >= MORE_WORDS and long.place > short.place
        if fits:
            self.found[short.place] = long.answer
        return fits

    def _next(self, text: str | None, parents: Parents) -> str | None:
        """The text, or the longest that it begins (or ends) with, for which one still waits."""
        passed = []
        while text is not None and not self._waiting[text]:
            passed.append(text)
            text = parents[text]
        for one in passed:  # the next who comes this way need not look at each of them
            parents[one] = text
        return text


def _parents(texts: Iterable[str]) -> Parents:
    found: Parents = {}
    open_ones: list[str] = []
    for text in sorted(texts):
        while open_ones and not text.startswith(open_ones[-1]):
            open_ones.pop()
        found[text] = open_ones[-1] if open_ones else None
        open_ones.append(text)
    return found
