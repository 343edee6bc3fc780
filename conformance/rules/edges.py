"""The edges of what a request may hold: stop sequences, extreme nesting and strings, the context window."""

from __future__ import annotations

from conformance.models import CONTEXT_WINDOW, K31
from conformance.protocols.view import Answer
from conformance.rules.acceptance import acceptable
from conformance.rules.decisions import GATEWAY, acceptance, enveloped, posted, refusal, told, weight
from conformance.rules.extremes import extremes
from conformance.rules.places import CONTEXT, REQUEST_SCHEMA
from conformance.rules.registry import MESSAGES, Findings, Inconclusive, cite, rule
from conformance.values import Basis, Finding, Intent, Level

MOST_BYTES = 32
MOST_SEQUENCES = 5
_BYTES = "request.edge.stop-sequence-bytes"
_COUNT = "request.edge.stop-sequence-count"
_DROPPED = frozenset({"reset", "protocol", "timeout"})
_BIG = 2 * CONTEXT_WINDOW  # bytes; a smaller prompt cannot hold so many words


def at_byte_edge(answer: Answer) -> bool:
    """A stop sequence of 32 bytes in an otherwise valid request, or one of more."""
    longest = max(map(_size, answer.asked.stop_sequences), default=0)
    if longest > MOST_BYTES:
        return posted(answer) and _owns(answer, _BYTES)
    return longest == MOST_BYTES and acceptable(answer)


def at_count_edge(answer: Answer) -> bool:
    """Five stop sequences in an otherwise valid request, or more."""
    count = len(answer.asked.stop_sequences)
    if count > MOST_SEQUENCES:
        return posted(answer) and _owns(answer, _COUNT)
    return count == MOST_SEQUENCES and acceptable(answer)


def extreme(answer: Answer) -> bool:
    """A body nested 200 deep, a string of 1 MiB, a lone surrogate written as an escape, or U+0000."""
    return posted(answer) and (answer.intends(Intent.HOSTILE) or bool(extremes(answer.asked).kinds))


def oversized(answer: Answer) -> bool:
    """A prompt certain to hold more than 1,048,576 tokens."""
    if not posted(answer):
        return False
    if answer.intends(Intent.OVERSIZED):
        return True
    return len(answer.asked.raw) > _BIG and len(answer.asked.prompt.split()) > CONTEXT_WINDOW


def _size(sequence: str) -> int:
    return len(sequence.encode("utf-8", "surrogatepass"))


def _owns(answer: Answer, name: str) -> bool:
    return any(breach.rule == name for breach in answer.asked.breaches)


@rule(
    _BYTES,
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    models=K31,
    source={MESSAGES: cite("messages-all", "Up to 5 sequences, each no more than 32 bytes.")},
    when=at_byte_edge,
)
def stop_sequences_are_limited_in_bytes(answer: Answer) -> Findings:
    """A stop sequence of 32 UTF-8 bytes is accepted, one of 33 is refused with 400."""
    longest = max(answer.asked.stop_sequences, key=_size)
    words = f"a stop sequence of {_size(longest)} bytes ({len(longest)} characters)"
    if _size(longest) > MOST_BYTES:
        yield from refusal(answer, words)
    else:
        yield from acceptance(answer, words, level=weight(answer, "stop_sequences"))


@rule(
    _COUNT,
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    models=K31,
    source={MESSAGES: cite("messages-all", "Maximum array length: 5")},
    when=at_count_edge,
)
def stop_sequences_are_limited_in_number(answer: Answer) -> Findings:
    """Five stop sequences are accepted, six are refused with 400."""
    count = len(answer.asked.stop_sequences)
    words = f"a request with {count} stop sequences"
    if count > MOST_SEQUENCES:
        yield from refusal(answer, words)
    else:
        yield from acceptance(answer, words, level=weight(answer, "stop_sequences"))


@rule("request.deep-nesting-survived", Level.SHOULD, Basis.PROTOCOL, source=REQUEST_SCHEMA, when=extreme)
def extreme_request_is_survived(answer: Answer) -> Findings:
    """An extreme request gets 200 or a 4xx: no 5xx, and no dropped connection."""
    words = ", ".join(extremes(answer.asked).kinds) or "a hostile body"
    yield from _survival(answer, words)


@rule("request.context-exceeded", Level.SHOULD, Basis.DOCUMENTED, source=CONTEXT, when=oversized)
def oversized_prompt_is_refused(answer: Answer) -> Findings:
    """A prompt beyond the context window is refused with a 4xx and the error envelope."""
    status = answer.status
    if status in (413, 429):
        raise Inconclusive(f"HTTP {status} may come from a proxy in front, or be a rate limit")
    yield from _survival(answer, "a prompt beyond the context window")
    if status == 200 and answer.error is None:
        yield Finding(message="a prompt beyond the context window is accepted", expected="a 4xx", actual=200)
    elif status is not None and status < 500 and not enveloped(answer):
        yield Finding(
            message="a prompt beyond the context window is refused without the error envelope",
            expected="the error envelope",
            actual=answer.raw[:80].decode("utf-8", "replace"),
        )


def _survival(answer: Answer, words: str) -> Findings:
    """A finding where the service broke; raises Inconclusive where something else did."""
    status = answer.status
    if answer.broken in _DROPPED:
        yield Finding(message=f"the connection is dropped on {words}", expected="200 or a 4xx", actual=answer.broken)
    elif status is None or status in GATEWAY:
        raise Inconclusive(f"{'no response' if status is None else f'HTTP {status}'}: {answer.broken or 'a proxy'}")
    elif status >= 500:
        yield Finding(message=f"{words} gets a server error", expected="200 or a 4xx", actual=told(answer))
