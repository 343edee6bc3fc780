"""Stop sequences on Messages, as an answer alone can show them: what is omitted, and how a match is reported."""

from __future__ import annotations

from conformance.models import K31
from conformance.protocols.view import MISSING, Answer, Finish
from conformance.rules import parts
from conformance.rules.matches import Match, first_match, provable
from conformance.rules.registry import MESSAGES, Findings, Group, Inconclusive, cite, rule
from conformance.values import Basis, Finding, Level, Over

STOP_SEQUENCES = "#/components/schemas/CreateMessageRequest/properties/stop_sequences"
STOP_SEQUENCE = "#/components/schemas/MessageResponse/properties/stop_sequence"


def sent_stop_sequences(answer: Answer) -> bool:
    """A 200 answer to a request with stop_sequences."""
    return answer.ok and any(answer.asked.stop_sequences)


@rule(
    "finish.stop-sequence-omitted",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    models=K31,
    source=cite("messages-k31", f"{STOP_SEQUENCES}/description"),
    when=sent_stop_sequences,
)
def sequence_is_omitted(answer: Answer) -> Findings:
    """No text block holds any of the stop sequences, also across deltas."""
    for pointer, block in parts.blocks(answer):
        text = block.get("text")
        if block.get("type") != "text" or not isinstance(text, str):
            continue
        held = next((sequence for sequence in answer.asked.stop_sequences if sequence and sequence in text), None)
        if held is not None:
            yield Finding(
                message="a text block holds a stop sequence that was sent",
                pointer=f"{pointer}/text",
                expected="text that ends before the sequence",
                actual=parts.shown(held),
            )


@rule(
    "finish.stop-sequence-null",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    source=cite("messages-all", "On a match, stop_reason is end_turn and stop_sequence is null"),
    must_on=(MESSAGES,),
    when=lambda answer: answer.ok,
    applies="a 200 answer",
)
def stop_sequence_is_null(answer: Answer) -> Findings:
    """stop_sequence is null or absent, and never a string that the request did not send."""
    found = (answer.body or {}).get("stop_sequence")
    sent = answer.asked.stop_sequences
    if found is None or (isinstance(found, str) and found in sent):
        return
    if isinstance(found, str) and found:
        yield Finding(
            message="stop_sequence is a string that the request did not send",
            pointer="/stop_sequence",
            expected=None,
            actual=parts.shown(found),
        )
    else:
        yield Finding(
            message="stop_sequence is not null",
            pointer="/stop_sequence",
            expected=None,
            actual=parts.shown(found),
            level=Level.SHOULD,
        )


@rule(
    "finish.stop-sequence-as-end-turn",
    Level.MUST,
    Basis.DOCUMENTED,
    over=Over.PAIR,
    protocols=(MESSAGES,),
    models=K31,
    source=cite("messages-all", "On a match, stop_reason is end_turn and stop_sequence is null"),
    find=provable,
)
def match_ends_the_turn(group: Group) -> Findings:
    """On a match stop_reason is end_turn and stop_sequence is null."""
    *_, answer = group
    if answer.client_calls or answer.ending in (Finish.TOOL, Finish.REFUSAL):
        raise Inconclusive("the answer ended otherwise before the match")
    if answer.truncated and _used_up(answer):
        raise Inconclusive("the limit cut the answer off before the match")
    found = (answer.body or {}).get("stop_sequence")
    if answer.finish not in ("end_turn", None, MISSING):
        yield Finding(
            message="a stop sequence was matched, and stop_reason is not end_turn",
            pointer="/stop_reason",
            expected="end_turn",
            actual=parts.shown(answer.finish),
        )
    if found is not None:
        yield Finding(
            message="a stop sequence was matched, and stop_sequence is not null",
            pointer="/stop_sequence",
            expected=None,
            actual=parts.shown(found),
        )


def _used_up(answer: Answer) -> bool:
    tokens = answer.usage.output if answer.usage is not None else None
    limit = answer.asked.limit
    return tokens is None or limit is None or tokens >= limit - max(4, limit // 20)


def prefix_left(text: str, control: str, match: Match) -> str | None:
    """The beginning of a matched sequence that a text ends in and the control goes on from; None where it has none."""
    before = control[max(0, match.start - 16) : match.start]
    for length in range(len(match.sequence) - 1, 0, -1):
        prefix = match.sequence[:length]
        if len(prefix.encode("utf-8", "replace")) >= 3 and text.endswith(before + prefix):  # shorter ones are chance
            return prefix
    return None


@rule(
    "finish.stop-sequence-prefix",
    Level.SHOULD,
    Basis.DOCUMENTED,
    over=Over.PAIR,
    protocols=(MESSAGES,),
    models=K31,
    source=cite("messages-all", "Output stops on an exact match, and the matched sequence itself is omitted"),
    find=provable,
)
def no_prefix_is_left(group: Group) -> Findings:
    """The text does not end in the beginning of the sequence that a control answer proves was matched."""
    *controls, answer = group
    for control in controls:
        match = first_match(control.text, answer.asked.stop_sequences)
        left = prefix_left(answer.text, control.text, match) if match is not None else None
        if left is not None:
            yield Finding(
                message="the text ends in the beginning of the matched stop sequence",
                pointer="/content",
                expected="text that ends before the sequence",
                actual=parts.shown(left),
            )
            return
