"""Faults at the edges of stop sequences, and between the forms of the same words."""

from __future__ import annotations

import json

from msgspec.structs import replace

from conformance.models import K31
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, fault
from conformance.reference.faults.terms import failure, forgiven, forgiven_kind, found, sent, turns
from conformance.reference.hooks import Context
from conformance.reference.problems import Problem
from conformance.reference.results import Result

Problems = list[Problem]
_BYTES = ("request.edge.stop-sequence-bytes",)
_COUNT = ("request.edge.stop-sequence-count",)
_FORMS = ("request.forms-equal",)
_MOST_BYTES = 32
_MOST = 5


def _sequences(context: Context) -> list[str]:
    sequences = sent(context, "stop_sequences")
    return [each for each in sequences if isinstance(each, str)] if isinstance(sequences, list) else []


def _longest(context: Context) -> int:
    return max((len(each.encode()) for each in _sequences(context)), default=0)


def _in_blocks(context: Context) -> bool:
    return any(isinstance(turn.get("content"), list) for turn in turns(context))


@fault("stop-33-bytes-accepted", "problems", on=(MESSAGES,), models=K31, caught_by=_BYTES)
def one_byte_more(context: Context, problems: Problems) -> Problems:
    """A stop sequence of 33 bytes is accepted."""
    return forgiven_kind(problems, "stop-sequence-bytes") if _longest(context) == _MOST_BYTES + 1 else problems


@fault("stop-33-ascii-bytes-accepted", "problems", on=(MESSAGES,), models=K31, caught_by=_BYTES)
def one_ascii_byte_more(context: Context, problems: Problems) -> Problems:
    """A stop sequence of 33 letters is accepted; only longer characters are counted rightly."""
    ascii_only = all(each.isascii() for each in _sequences(context))
    return forgiven_kind(problems, "stop-sequence-bytes") if ascii_only else problems


@fault("stop-bytes-as-characters", "problems", on=(MESSAGES,), models=K31, caught_by=_BYTES)
def counted_in_characters(context: Context, problems: Problems) -> Problems:
    """Stop sequences are limited in characters instead of bytes."""
    fits = all(len(each) <= _MOST_BYTES for each in _sequences(context))
    return forgiven_kind(problems, "stop-sequence-bytes") if fits else problems


@fault("stop-32-bytes-refused", "problems", on=(MESSAGES,), models=K31, caught_by=_BYTES)
def edge_refused(context: Context, problems: Problems) -> Problems:
    """A stop sequence of 32 bytes is refused."""
    return found(problems, "must be shorter than 32 bytes", when=_longest(context) == _MOST_BYTES)


@fault("stop-32-bytes-cjk-refused", "problems", on=(MESSAGES,), models=K31, caught_by=_BYTES)
def counted_in_escapes(context: Context, problems: Problems) -> Problems:
    """Stop sequences are limited in the bytes of their JSON escapes, so that 32 bytes of CJK text are refused."""
    escaped = max((len(json.dumps(each)) - 2 for each in _sequences(context)), default=0)
    return found(problems, "must be at most 32 bytes", when=escaped > _MOST_BYTES and not problems)


@fault("stop-33-bytes-as-500", "problems", on=(MESSAGES,), models=K31, caught_by=_BYTES)
def one_byte_more_fails(context: Context, problems: Problems) -> Problems:
    """A stop sequence of 33 bytes makes the server fail."""
    if _longest(context) > _MOST_BYTES:
        raise failure()
    return problems


@fault("stop-six-accepted", "problems", on=(MESSAGES,), models=K31, caught_by=_COUNT)
def one_sequence_more(_: Context, problems: Problems) -> Problems:
    """Six stop sequences are accepted."""
    return forgiven(problems, "stop_sequences", kinds=("maxItems",))


@fault("stop-five-refused", "problems", on=(MESSAGES,), models=K31, caught_by=_COUNT)
def five_refused(context: Context, problems: Problems) -> Problems:
    """Five stop sequences are refused."""
    return found(problems, "at most 4 sequences are allowed", when=len(_sequences(context)) == _MOST)


@fault("blocks-counted-differently", "result", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=_FORMS)
def blocks_counted(context: Context, result: Result) -> Result:
    """The same words cost 24 tokens more as a block than as a string."""
    return (
        replace(result, usage=replace(result.usage, input=result.usage.input + 24)) if _in_blocks(context) else result
    )


@fault("blocks-counted-twice", "result", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=_FORMS)
def blocks_counted_twice(context: Context, result: Result) -> Result:
    """The words of blocks are counted twice."""
    times = 2 if _in_blocks(context) else 1
    return replace(result, usage=replace(result.usage, input=result.usage.input * times))


@fault("system-blocks-counted-short", "result", on=(MESSAGES,), modes=(JSON,), caught_by=_FORMS)
def system_counted_short(context: Context, result: Result) -> Result:
    """A system prompt as blocks is counted nine tokens short."""
    lost = 9 if isinstance(sent(context, "system"), list) else 0
    return replace(result, usage=replace(result.usage, input=result.usage.input - lost))
