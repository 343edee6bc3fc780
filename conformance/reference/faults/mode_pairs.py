"""Faults in one mode alone: a stream that ends or calls otherwise than the JSON answer, or the other way round."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.models import K31
from conformance.reference.faults.registry import CHAT, MESSAGES, RESPONSES, fault
from conformance.reference.faults.terms import sent
from conformance.reference.hooks import Context
from conformance.reference.results import Finish, Result

_ENDING = ("stream.same-ending-as-json",)
_CALLS = ("stream.tools-equal-json",)


@fault("mode-hides-length", "result", caught_by=(*_ENDING, "finish.length-at-limit"))
def hides_length(_: Context, result: Result) -> Result:
    """An answer that the limit cut off ends as though by itself, in one mode only."""
    return replace(result, finish=Finish.STOP) if result.finish is Finish.LENGTH and not result.calls else result


@fault(
    "mode-ends-call-with-stop",
    "result",
    on=(CHAT, MESSAGES),
    caught_by=(*_ENDING, "finish.tool-iff-call"),
    seen=("vllm-project/vllm#9209", "BerriAI/litellm#12862", "ollama/ollama#7963"),
)
def ends_call_with_stop(_: Context, result: Result) -> Result:
    """An answer with a call ends with stop or end_turn, in one mode only."""
    return replace(result, finish=Finish.STOP) if result.finish is Finish.CALLS else result


@fault(
    "mode-names-stop-sequence",
    "ending",
    on=(MESSAGES,),
    models=K31,
    caught_by=(*_ENDING, "finish.stop-sequence-as-end-turn", "finish.stop-sequence-null"),
)
def names_stop_sequence(context: Context, ending: dict[str, Any]) -> dict[str, Any]:
    """A match of a stop sequence ends with stop_sequence, in one mode only."""
    match = sent(context, "stop_sequences", 0)
    if match is None or ending["stop_reason"] != "end_turn":
        return ending
    return ending | {"stop_reason": "stop_sequence", "stop_sequence": match}


@fault("mode-completes-when-cut", "ending", on=(RESPONSES,), caught_by=(*_ENDING, "finish.truncated-not-completed"))
def completes_when_cut(_: Context, ending: dict[str, Any]) -> dict[str, Any]:
    """A response that the limit cut off has status completed, in one mode only."""
    return ending | {"status": "completed", "incomplete_details": None}


def _demanded(context: Context) -> bool:
    return context.prompt is not None and context.prompt.choice.mode == "required"


@fault("mode-loses-call", "result", caught_by=(*_CALLS, "tool.choice-required"))
def loses_call(context: Context, result: Result) -> Result:
    """A call that is demanded is lost, in one mode only."""
    if result.finish is not Finish.CALLS or not _demanded(context):
        return result
    return replace(result, calls=(), text="OK.", finish=Finish.STOP)


@fault("mode-loses-name", "result", caught_by=(*_CALLS, "tool.declared-only"))
def loses_name(_: Context, result: Result) -> Result:
    """The name of a call is empty, in one mode only."""
    return replace(result, calls=tuple(replace(call, name="") for call in result.calls))


@fault("mode-empties-arguments", "result", caught_by=(*_CALLS, "tool.arguments-match-schema"))
def empties_arguments(_: Context, result: Result) -> Result:
    """The arguments of a call are an empty object, in one mode only."""
    if result.finish is not Finish.CALLS:
        return result
    return replace(result, calls=tuple(replace(call, arguments="{}") for call in result.calls))


@fault("mode-cuts-arguments", "result", on=(CHAT, RESPONSES), caught_by=(*_CALLS, "tool.arguments-json"))
def cuts_arguments(_: Context, result: Result) -> Result:
    """The arguments of a call lack their last two characters, in one mode only."""
    if result.finish is not Finish.CALLS:
        return result
    return replace(result, calls=tuple(replace(call, arguments=call.arguments[:-2]) for call in result.calls))
