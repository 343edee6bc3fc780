"""What control answers prove about stop sequences: that one was matched, and what would have followed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from conformance.models import K31
from conformance.protocols.view import Answer
from conformance.rules import groups, parts, sameness
from conformance.rules.registry import MESSAGES, Findings, Group, Inconclusive, cite, rule
from conformance.values import Basis, Finding, Intent, Level, Over

_WORD = re.compile(r"\w+")
_SHARED = 8  # characters that two answers begin with alike, so that the same wording is no chance
_STOP_SEQUENCES = "#/components/schemas/CreateMessageRequest/properties/stop_sequences/description"


@dataclass(frozen=True, kw_only=True)
class Match:
    """Where a text first holds one of the sequences."""

    sequence: str
    start: int
    end: int


def first_match(text: str, sequences: Iterable[str]) -> Match | None:
    """The earliest place at which a text holds one of the sequences; None where it holds none."""
    places = ((text.find(sequence), sequence) for sequence in sequences if sequence)
    start, sequence = min((place for place in places if place[0] >= 0), default=(-1, ""))
    return None if start < 0 else Match(sequence=sequence, start=start, end=start + len(sequence))


def markers(text: str, start: int, end: int) -> frozenset[str]:
    """The words of a text that stand after a match and nowhere before it."""
    after = {word for word in _WORD.findall(text[end:]) if len(word) > 2}
    return frozenset(after - set(_WORD.findall(text[:start])))


def holds_any(text: str, words: frozenset[str]) -> list[str]:
    """Which of the words a text holds, in their order there."""
    return [word for word in dict.fromkeys(_WORD.findall(text)) if word in words]


def provable(answers: Sequence[Answer]) -> Iterator[Group]:
    """An answer to stop_sequences that matched one: control answers without them hold it, or the answer names it."""
    controlled = {id(group[-1]): group for group in groups.stop_controls(answers)}
    for answer in answers:
        if answer.protocol is not MESSAGES or not answer.ok or not any(answer.asked.stop_sequences):
            continue
        group = controlled.get(id(answer), (answer,))
        found = (answer.body or {}).get("stop_sequence")
        named = isinstance(found, str) and found != "" and found in answer.asked.stop_sequences
        if named or answer.finish == "stop_sequence" or _proven(group):
            yield group


def _proven(group: Group) -> bool:
    """Whether each control holds a sequence, and the answer begins as they do or they repeat what was asked for."""
    *controls, answer = group
    whole = [control for control in controls if control.complete and not control.client_calls]
    matches = [(control, first_match(control.text, answer.asked.stop_sequences)) for control in whole]
    return bool(matches) and all(m is not None and _same_wording(answer, c, m.start, m.end) for c, m in matches)


def _same_wording(answer: Answer, control: Answer, start: int, end: int) -> bool:
    """Whether the answer would have said what the control says at a match.

    A model words an answer anew each time, so a control proves something only where the request dictates the words, or
    where both begin alike.
    """
    dictated = answer.intends(Intent.REPEAT) or control.text[start:].strip() in answer.asked.prompt
    before = control.text[:start]
    return dictated or (len(before) >= _SHARED and answer.text[:end].startswith(before.rstrip()))


def controlled_stops(answers: Sequence[Answer]) -> Iterator[Group]:
    """An answer to stop_sequences, after control answers that hold one of the sequences."""
    for group in groups.stop_controls(answers):
        *controls, answer = group
        held = tuple(c for c in controls if c.normal and first_match(c.text, answer.asked.stop_sequences))
        if answer.ok and answer.complete and held:
            yield (*held, answer)


@rule(
    "finish.stop-sequence-stops",
    Level.MUST,
    Basis.DOCUMENTED,
    over=Over.PAIR,
    protocols=(MESSAGES,),
    models=K31,
    source=cite("messages-k31", _STOP_SEQUENCES),
    find=controlled_stops,
)
def output_stops_at_match(group: Group) -> Findings:
    """After a match no text follows: none of the words that a control answer holds behind the sequence."""
    *controls, answer = group
    judged = False
    for control in controls:
        match = first_match(control.text, answer.asked.stop_sequences)
        words = markers(control.text, match.start, match.end) if match is not None else frozenset()
        if match is None or not words or not _same_wording(answer, control, match.start, match.end):
            continue
        judged = True
        held = holds_any(answer.text, words)
        if held:
            yield Finding(
                message="the output goes on after a stop sequence",
                pointer="/content",
                expected=f"nothing after {match.sequence!r}",
                actual=parts.shown(" ".join(held)),
            )
            return
    if not judged:
        raise Inconclusive("no control answer holds a sequence with words of its own behind it")


def near_misses(answers: Sequence[Answer]) -> Iterator[Group]:
    """Answers to one request whose stop_sequences are near misses of what its control answers hold."""
    found: dict[str, tuple[Group, list[Answer]]] = {}
    for *controls, answer in groups.stop_controls(answers):
        whole = tuple(c for c in controls if c.normal and near_miss(c.text, answer.asked.stop_sequences))
        if answer.ok and answer.complete and whole and len(whole) == sum(c.normal for c in controls):
            key = f"{answer.asked.host} {answer.model} {sameness.canonical(answer, 'stream')}"
            found.setdefault(key, (whole, []))[1].append(answer)
    yield from ((*controls, *tries) for controls, tries in found.values())


def near_miss(text: str, sequences: Sequence[str]) -> tuple[int, int] | None:
    """The earliest place where a text all but holds a sequence; None where it holds one exactly, or none at all.

    A near miss is the sequence in other case, or without its first or last character.
    """
    places: list[tuple[int, int]] = []
    for sequence in filter(None, sequences):
        if sequence in text:
            return None
        folded = re.search(re.escape(sequence), text, re.IGNORECASE)
        shorter = [text.find(part) for part in (sequence[:-1], sequence[1:]) if len(part) > 2]
        places += [folded.span()] if folded else []
        places += [(place, place + len(sequence) - 1) for place in shorter if place >= 0]
    return min(places, default=None)


@rule(
    "finish.stop-sequence-exact",
    Level.SHOULD,
    Basis.DOCUMENTED,
    over=Over.CONVERSATION,
    protocols=(MESSAGES,),
    models=K31,
    source=cite("messages-all", "Output stops on an exact match"),
    find=near_misses,
)
def near_miss_does_not_stop(group: Group) -> Findings:
    """A sequence that differs from the text in case or by one character does not stop the output."""
    tries = [answer for answer in group if any(answer.asked.stop_sequences)]
    controls = [answer for answer in group if not any(answer.asked.stop_sequences)]
    cut = [answer for answer in tries if any(_cut_at(answer, control) for control in controls)]
    if not cut:
        return
    if len(cut) < 2 or len(controls) < 2:
        raise Inconclusive("an answer ends at a near miss: two such answers and two whole controls would tell")
    yield Finding(
        message="the output stops at text that is only a near miss of the stop sequence",
        pointer="/content",
        expected=parts.shown(controls[0].text),
        actual=parts.shown(cut[0].text),
        exchange=cut[-1].exchange.id,
    )


def _cut_at(answer: Answer, control: Answer) -> bool:
    """Whether the answer says what the control says up to a near miss, and ends there."""
    span = near_miss(control.text, answer.asked.stop_sequences)
    if span is None or not markers(control.text, *span):
        return False
    return answer.text.rstrip() == control.text[: span[0]].rstrip()
