"""Finders: which answers of one evidence set belong together as a pair or a conversation.

They look at the exchanges only, never at probe names, so that a recording yields the same groups as a run. Requests are
compared by their canonical JSON. A finder never joins answers of different surfaces (but ``surfaces`` does), and looks
at well-formed POSTs only. Groups keep the order of the evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from operator import itemgetter

from conformance.models import K31
from conformance.protocols.view import Answer
from conformance.rules.extending import extended
from conformance.rules.recall import answer_places, answered_items, history, marks, prefixes
from conformance.rules.registry import Group
from conformance.rules.sameness import (
    block_count,
    canonical,
    cell_model,
    credentials,
    flat_text,
    host,
    image_count,
    is_one_message,
    is_string_input,
    items,
    mode,
    plain,
    rest,
    settings,
    turns,
)
from conformance.values import Protocol

MOST_CONTROLS = 50  # control answers of one group: each answer that they are for is grouped with all of them
Key = tuple[str, ...]


def repeats(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request sent twice or more, whether streamed or not."""
    yield from _together(answers, lambda a: (host(a), cell_model(a), canonical(a, "stream")))


def tries(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request sent twice or more in the same mode and with the same key."""
    yield from _together(answers, lambda a: (host(a), cell_model(a), mode(a), credentials(a), canonical(a, "stream")))


def modes(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request asked for as JSON and as a stream."""
    for group in repeats(answers):
        plain = next((a for a in group if not a.asked.stream), None)
        streamed = next((a for a in group if a.asked.stream), None)
        if plain and streamed:
            yield (plain, streamed)


def siblings(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request to kimi-k3.1-pro and to kimi-k3.1-pro-highspeed."""
    for group in _together(answers, lambda a: (host(a), mode(a), credentials(a), canonical(a, "model", "stream"))):
        first: dict[str, Answer] = {}
        for answer in group:
            if answer.asked.model in K31:
                first.setdefault(answer.asked.model, answer)
        if len(first) == len(K31):
            yield tuple(first[model] for model in K31)


def hosts(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request to two base URLs."""
    for group in _together(answers, lambda a: (cell_model(a), mode(a), credentials(a), canonical(a, "stream"))):
        first: dict[str, Answer] = {}
        for answer in group:
            first.setdefault(host(answer), answer)
        both = tuple(first.values())
        yield from pairwise(both)


def all_answers(answers: Sequence[Answer]) -> Iterator[Group]:
    """Two or more answers in a run."""
    for protocol in Protocol:
        group = tuple(answer for answer in answers if answer.protocol is protocol and answer.ok)
        if len(group) > 1:
            yield group


def efforts(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same question at effort low and at effort max."""
    for group in _together(answers, lambda a: (host(a), cell_model(a), mode(a), canonical(a, "stream", effort=False))):
        low = tuple(a for a in group if a.asked.effort == "low")
        high = tuple(a for a in group if a.asked.effort == "max")
        yield from zip(low, high, strict=False)


def longer(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request with 100 or more words more in the last user message, in the same mode where there is one."""
    for bucket in _buckets(answers, lambda a: (host(a), cell_model(a), rest(a))).values():
        by_text: dict[Key, Answer] = {}
        for answer in bucket:
            by_text.setdefault((mode(answer), answer.asked.last_user), answer)
        if len(by_text) > 1:
            yield from extended(tuple(by_text.values()))


def histories(answers: Sequence[Answer]) -> Iterator[Group]:
    """The last user message alone, and after earlier turns."""
    usable = [a for a in answers if items(a) is not None or is_string_input(a)]
    for bucket in _buckets(usable, lambda a: (host(a), cell_model(a), a.asked.last_user, settings(a))).values():
        yield from _in_each_mode(bucket, lambda a: turns(a) == 1, lambda a: turns(a) > 2)


def inputs(answers: Sequence[Answer]) -> Iterator[Group]:
    """Input as a string, and as an array with one user message."""
    usable = [a for a in answers if a.protocol is Protocol.RESPONSES]
    for bucket in _buckets(usable, lambda a: (host(a), cell_model(a), a.asked.last_user, settings(a))).values():
        yield from _in_each_mode(bucket, is_string_input, is_one_message)


def forms(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same words as a string and as one text block; a stream that is no boolean is no mode to look past."""
    usable = [
        a
        for a in answers
        if a.protocol is not Protocol.RESPONSES and isinstance(a.asked.body.get("stream", False), bool)
    ]
    for bucket in _buckets(usable, lambda a: (host(a), cell_model(a), flat_text(a))).values():
        first = {canonical(a, "stream"): a for a in reversed(bucket)}
        ordered = sorted(first.values(), key=block_count)
        if len(ordered) > 1 and block_count(ordered[0]) < block_count(ordered[-1]):
            yield (ordered[0], ordered[-1])


def images(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same message with and without an image."""
    usable = [a for a in answers if a.protocol is not Protocol.RESPONSES]
    for bucket in _buckets(usable, lambda a: (host(a), cell_model(a), flat_text(a, images=False))).values():
        bare = next((a for a in bucket if not image_count(a.asked.body)), None)
        for answer in bucket:
            if bare is not None and image_count(answer.asked.body):
                yield (bare, answer)


def stop_controls(answers: Sequence[Answer]) -> Iterator[Group]:
    """An answer to stop_sequences, after control answers to the same request without them, the first of very many."""
    usable = [a for a in answers if a.protocol is Protocol.MESSAGES]
    for group in _together(usable, lambda a: (host(a), cell_model(a), canonical(a, "stream", "stop_sequences"))):
        controls = tuple(islice((a for a in group if "stop_sequences" not in a.asked.body and a.ok), MOST_CONTROLS))
        for answer in group:
            if controls and answer.asked.stop_sequences:
                yield (*controls, answer)


def surfaces(answers: Sequence[Answer]) -> Iterator[Group]:
    """One user message sent through two or three surfaces."""
    usable = [a for a in answers if turns(a) == 1 and not a.asked.tools and plain(a)]
    for bucket in _buckets(usable, lambda a: (cell_model(a), a.asked.last_user), across=True).values():
        first: dict[Protocol, Answer] = {}
        for answer in bucket:
            if answer.ok:
                first.setdefault(answer.protocol, answer)
        if len(first) > 1:
            yield tuple(first.values())


def continuations(answers: Sequence[Answer]) -> Iterator[Group]:
    """A request whose history holds earlier answers, after those answers."""
    said: dict[tuple[str, bytes], dict[tuple[str, str], tuple[int, Answer]]] = {}  # by what each is recognised by
    for number, answer in enumerate(_usable(answers)):
        turns_so_far = history(answer)
        keys = prefixes(answer, turns_so_far)
        earlier: dict[int, Answer] = {}
        for place in answer_places(answer, turns_so_far):
            known = said.get(keys[place], {})
            found = [known[mark] for mark in marks(turns_so_far[place]) if mark in known]
            if found:
                _, before = max(found, key=itemgetter(0))
                earlier[id(before)] = before
        if earlier:
            yield (*earlier.values(), answer)
        if answer.ok:
            known = said.setdefault(keys[-1], {})
            known.update((mark, (number, answer)) for item in answered_items(answer) for mark in marks(item))


def _usable(answers: Iterable[Answer]) -> Iterator[Answer]:
    return (a for a in answers if a.asked.method == "POST" and a.asked.malformed is None)


def _buckets(
    answers: Iterable[Answer], key: Callable[[Answer], Key], *, across: bool = False
) -> dict[Key, list[Answer]]:
    found: dict[Key, list[Answer]] = defaultdict(list)
    for answer in _usable(answers):
        found["" if across else answer.protocol.value, *key(answer)].append(answer)
    return found


def _together(answers: Iterable[Answer], key: Callable[[Answer], Key]) -> Iterator[Group]:
    return (tuple(bucket) for bucket in _buckets(answers, key).values() if len(bucket) > 1)


def _in_each_mode(
    bucket: list[Answer], one: Callable[[Answer], bool], other: Callable[[Answer], bool]
) -> Iterator[Group]:
    """For each mode the first answer that is the other, after one of its own mode or else of any."""
    ones = [answer for answer in bucket if one(answer)]
    others = {mode(answer): answer for answer in reversed(bucket) if other(answer)}
    for way, answer in others.items():
        if ones:
            yield (next((first for first in ones if mode(first) == way), ones[0]), answer)
