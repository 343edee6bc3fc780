"""Faults in stop sequences: not matched, matched where they are not, not cut out, and reported in another way."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.models import K31
from conformance.reference import engine
from conformance.reference.cache import measured
from conformance.reference.faults.registry import MESSAGES, fault
from conformance.reference.hooks import Context
from conformance.reference.prompts import Prompt
from conformance.reference.results import Result

_OMITTED, _STOPS, _EXACT = "finish.stop-sequence-omitted", "finish.stop-sequence-stops", "finish.stop-sequence-exact"
_END_TURN, _NULL, _PREFIX = (
    "finish.stop-sequence-as-end-turn",
    "finish.stop-sequence-null",
    "finish.stop-sequence-prefix",
)
_ON: dict[str, Any] = {"on": (MESSAGES,), "models": K31}


def _unstopped(prompt: Prompt) -> str:
    """The text that the answer would have without stop sequences."""
    return engine.answer(replace(prompt, stop=()), measured(prompt), seed=0).text


def _matched(prompt: Prompt | None) -> tuple[str, str]:
    """The text without stop sequences, and the sequence that it holds first; empty where it holds none."""
    if prompt is None or not prompt.stop:
        return "", ""
    text = _unstopped(prompt)
    found = [(text.index(sequence), sequence) for sequence in prompt.stop if sequence in text]
    return text, min(found)[1] if found else ""


@fault("stop-not-enforced", "prompt", **_ON, caught_by=(_OMITTED, _STOPS), seen=("BerriAI/litellm#37118",))
def stop_not_enforced(_: Context, prompt: Prompt) -> Prompt:
    """Stop sequences are accepted and ignored."""
    return replace(prompt, stop=())


@fault("stop-only-first-of-several", "prompt", **_ON, caught_by=(_OMITTED, _STOPS))
def stop_only_first_of_several(_: Context, prompt: Prompt) -> Prompt:
    """Of several stop sequences only the first one counts."""
    return replace(prompt, stop=prompt.stop[:1])


@fault("stop-only-ascii", "prompt", **_ON, caught_by=(_OMITTED, _STOPS))
def stop_only_ascii(_: Context, prompt: Prompt) -> Prompt:
    """A stop sequence of CJK characters never matches."""
    return replace(prompt, stop=tuple(sequence for sequence in prompt.stop if sequence.isascii()))


@fault("stop-deleted-and-written-on", "result", **_ON, caught_by=(_STOPS,))
def stop_deleted_and_written_on(context: Context, result: Result) -> Result:
    """The matched sequence is cut out of the text, and the text goes on behind it."""
    text, sequence = _matched(context.prompt)
    return replace(result, text=text.replace(sequence, "")) if sequence else result


@fault("stop-one-word-too-late", "result", **_ON, caught_by=(_STOPS,), seen=("mzau/mlx-knife#68",))
def stop_one_word_too_late(context: Context, result: Result) -> Result:
    """Without its stop sequence the text still has the first words that came behind it."""
    text, sequence = _matched(context.prompt)
    if not sequence:
        return result
    before, _, after = text.partition(sequence)
    return replace(result, text=before + after[:10])


@fault("stop-sequence-in-text", "result", **_ON, caught_by=(_OMITTED,), seen=("vllm-project/vllm#3672",))
def stop_sequence_in_text(context: Context, result: Result) -> Result:
    """The text ends in the matched sequence."""
    return replace(result, text=result.text + _matched(context.prompt)[1])


@fault("stop-sequence-in-cjk-text", "result", **_ON, caught_by=(_OMITTED,))
def stop_sequence_in_cjk_text(context: Context, result: Result) -> Result:
    """The text ends in the matched sequence where that is of CJK characters."""
    sequence = _matched(context.prompt)[1]
    return replace(result, text=result.text + sequence) if not sequence.isascii() else result


@fault("stop-left-by-one-character", "result", **_ON, caught_by=(_PREFIX,), seen=("vllm-project/vllm#3574",))
def stop_left_by_one_character(context: Context, result: Result) -> Result:
    """The text ends in all of the matched sequence but its last character."""
    return replace(result, text=result.text + _matched(context.prompt)[1][:-1])


@fault(
    "stop-first-token-left",
    "result",
    **_ON,
    caught_by=(_PREFIX,),
    seen=("vllm-project/vllm#3574", "ggml-org/llama.cpp#15007"),
)
def stop_first_token_left(context: Context, result: Result) -> Result:
    """The text ends in the first four characters of the matched sequence, sent before the match was known."""
    sequence = _matched(context.prompt)[1]
    return replace(result, text=result.text + sequence[: min(4, len(sequence) - 1)]) if sequence else result


@fault("stop-case-blind", "result", **_ON, caught_by=(_EXACT,))
def stop_case_blind(context: Context, result: Result) -> Result:
    """A stop sequence matches in any case."""
    for sequence in context.prompt.stop if context.prompt is not None else ():
        place = result.text.lower().find(sequence.lower())
        if place >= 0:
            return replace(result, text=result.text[:place])
    return result


@fault("stop-one-character-early", "result", **_ON, caught_by=(_EXACT,))
def stop_one_character_early(context: Context, result: Result) -> Result:
    """A stop sequence matches without its last character."""
    for sequence in context.prompt.stop if context.prompt is not None else ():
        place = result.text.find(sequence[:-1]) if len(sequence) > 1 else -1
        if place >= 0:
            return replace(result, text=result.text[:place])
    return result


def _reported(context: Context, ending: dict[str, Any], *, reason: bool, sequence: bool) -> dict[str, Any]:
    matched = _matched(context.prompt)[1]
    if not matched:
        return ending
    given: dict[str, Any] = {"stop_reason": "stop_sequence"} if reason else {}
    return ending | given | ({"stop_sequence": matched} if sequence else {})


@fault("stop-as-stop-sequence", "ending", **_ON, caught_by=(_END_TURN, "finish.enum"))
def stop_as_stop_sequence(context: Context, ending: dict[str, Any]) -> dict[str, Any]:
    """A match is reported as elsewhere in this format: stop_reason stop_sequence, and the sequence."""
    return _reported(context, ending, reason=True, sequence=True)


@fault("stop-reason-alone", "ending", **_ON, caught_by=(_END_TURN, "finish.enum"))
def stop_reason_alone(context: Context, ending: dict[str, Any]) -> dict[str, Any]:
    """On a match stop_reason is stop_sequence, and stop_sequence null."""
    return _reported(context, ending, reason=True, sequence=False)


@fault("stop-sequence-named", "ending", **_ON, caught_by=(_END_TURN,))
def stop_sequence_named(context: Context, ending: dict[str, Any]) -> dict[str, Any]:
    """On a match stop_reason is end_turn, and stop_sequence names the sequence."""
    return _reported(context, ending, reason=False, sequence=True)


@fault("stop-as-max-tokens", "ending", **_ON, caught_by=(_END_TURN, "finish.length-only-at-limit"))
def stop_as_max_tokens(context: Context, ending: dict[str, Any]) -> dict[str, Any]:
    """On a match stop_reason is max_tokens."""
    return ending | {"stop_reason": "max_tokens"} if _matched(context.prompt)[1] else ending


_VALUES: tuple[tuple[str, object, str], ...] = (
    ("stop-sequence-empty-string", "", "stop_sequence is an empty string in every answer."),
    ("stop-sequence-not-requested", "\n\nHuman:", "stop_sequence is a string that no request sent."),
    ("stop-sequence-number", 0, "stop_sequence is a number."),
    ("stop-sequence-false", False, "stop_sequence is false."),
)


def _always(value: object, sentence: str) -> Any:
    def hook(_: Context, ending: dict[str, Any]) -> dict[str, Any]:
        return ending | {"stop_sequence": value}

    hook.__doc__ = sentence
    return hook


for _name, _value, _sentence in _VALUES:
    fault(_name, "ending", on=(MESSAGES,), caught_by=(_NULL,))(_always(_value, _sentence))
