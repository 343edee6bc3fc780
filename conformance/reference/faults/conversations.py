"""Faults in how conversations go on: results of calls, answers sent back, histories that are not counted."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.models import K3
from conformance.reference import tokens
from conformance.reference.faults.histories import (
    Problems,
    blocks,
    called,
    reasoned,
    results,
    said,
    searched,
    turns,
    unless,
)
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, RESPONSES, fault
from conformance.reference.hooks import Context
from conformance.reference.prompts import Prompt, Text
from conformance.reference.results import Finish, Result

_TRIP = ("tool.round-trip",)
_PARALLEL = ("tool.parallel-results", "tool.round-trip")
_HISTORY = ("turn.history-accepted", "tool.round-trip")
_COUNTED = ("turn.history-counted",)
_STRING = ("turn.string-equals-user-message",)


@fault("results-refused", "problems", caught_by=_TRIP)
def results_refused(context: Context, problems: Problems) -> Problems:
    """The result of a call, sent back, is refused."""
    return unless(problems, not results(context), "tool results are not supported")


@fault("results-refused-after-reasoning", "problems", caught_by=_TRIP)
def refused_after_reasoning(context: Context, problems: Problems) -> Problems:
    """The result of a call is refused where the reasoning before the call comes back with it."""
    return unless(problems, not (results(context) and reasoned(context)), "reasoning before a call is not accepted")


@fault("results-refused-on-k3", "problems", models=K3, caught_by=_TRIP)
def refused_on_k3(context: Context, problems: Problems) -> Problems:
    """On kimi-k3 alone the result of a call is refused."""
    return unless(problems, not (results(context) and context.model in K3), "tool results are not supported")


@fault("results-refused-for-rewritten-id", "problems", caught_by=_TRIP, seen=("langgenius/dify#8174",))
def refused_for_id(context: Context, problems: Problems) -> Problems:
    """The result of a call is refused, since the server knows the call by another id than it told."""
    told = [
        result.get("tool_call_id") or result.get("tool_use_id") or result.get("call_id") for result in results(context)
    ]
    known = all(str(name).startswith("tool-") for name in told)
    return unless(problems, known, "no call of this id is known")


@fault(
    "results-refused-for-null-content",
    "problems",
    on=(CHAT,),
    modes=(JSON,),
    caught_by=_TRIP,
    seen=("mistralai/mistral-common#324",),
)
def refused_for_null(context: Context, problems: Problems) -> Problems:
    """An assistant message whose content is null, since it only calls, is refused."""
    empty = any("content" in turn and turn["content"] is None for turn in said(context))
    return unless(problems, not empty, "content must be a string")


@fault("results-unanswered", "result", caught_by=(*_TRIP, "body.text-not-empty"))
def unanswered(context: Context, result: Result) -> Result:
    """The answer to the result of a call is empty."""
    return replace(result, text="") if results(context) and result.finish is Finish.STOP else result


@fault("results-unanswered-after-two", "result", caught_by=(*_PARALLEL, "body.text-not-empty"))
def unanswered_after_two(context: Context, result: Result) -> Result:
    """The answer to the results of two calls is empty."""
    return replace(result, text="") if len(results(context)) > 1 and result.finish is Finish.STOP else result


@fault(
    "results-in-blocks-refused",
    "problems",
    on=(CHAT, MESSAGES),
    caught_by=("request.forms-accepted", *_TRIP),
    seen=("Neroued/ninfer#56", "vllm-project/vllm#25001"),
)
def blocks_refused(context: Context, problems: Problems) -> Problems:
    """The result of a call is refused where its content is an array of blocks instead of a string."""
    plain = all(isinstance(result.get("content"), str) for result in results(context))
    return unless(problems, plain, "content must be a string")


@fault("results-of-two-calls-refused", "problems", caught_by=_PARALLEL)
def two_refused(context: Context, problems: Problems) -> Problems:
    """The results of two calls, sent back together, are refused."""
    return unless(problems, len(results(context)) < 2, "a call must be followed by its result")


@fault("history-with-reasoning-refused", "problems", caught_by=_HISTORY)
def reasoning_refused(context: Context, problems: Problems) -> Problems:
    """A history with the reasoning of an earlier answer is refused."""
    return unless(problems, not reasoned(context), "reasoning is not accepted in the input")


@fault("history-with-reasoning-refused-on-k3", "problems", models=K3, caught_by=_HISTORY)
def reasoning_refused_on_k3(context: Context, problems: Problems) -> Problems:
    """On kimi-k3 alone a history with the reasoning of an earlier answer is refused."""
    return unless(problems, not (reasoned(context) and context.model in K3), "reasoning is not accepted in the input")


@fault("history-of-two-answers-refused", "problems", caught_by=_HISTORY)
def two_answers_refused(context: Context, problems: Problems) -> Problems:
    """A history is refused from the second answer in it on."""
    asked = [turn for turn in turns(context) if turn.get("role") == "user" and not _is_result(turn)]
    return unless(problems, not said(context) or len(asked) < 3, "the conversation is too long")


def _is_result(turn: dict[str, Any]) -> bool:
    return any(block.get("type") == "tool_result" for block in blocks(turn))


@fault("history-with-call-refused", "problems", caught_by=_HISTORY)
def call_refused(context: Context, problems: Problems) -> Problems:
    """A history is refused where a call was made and answered before the last user message."""
    earlier = next(called(context), None) is not None and not results(context)
    return unless(problems, not earlier, "calls are accepted only right before their results")


@fault(
    "history-signature-refused",
    "problems",
    on=(MESSAGES,),
    caught_by=_HISTORY,
    seen=("lbjlaq/Antigravity-Manager#608", "router-for-me/CLIProxyAPI#2172"),
)
def signature_refused(context: Context, problems: Problems) -> Problems:
    """The signature of the server's own thinking is called invalid."""
    signed = any(block.get("signature") for turn in said(context) for block in blocks(turn))
    return unless(problems, not signed, "invalid signature in thinking block")


@fault(
    "history-with-search-refused",
    "problems",
    on=(MESSAGES,),
    caught_by=_HISTORY,
    seen=("vellum-ai/vellum-assistant#15911",),
)
def search_refused(context: Context, problems: Problems) -> Problems:
    """A history with the server's own search is refused."""
    return unless(problems, not searched(context), "unknown block type server_tool_use")


@fault("history-with-item-status-refused", "problems", on=(RESPONSES,), caught_by=_HISTORY)
def status_refused(context: Context, problems: Problems) -> Problems:
    """An output item, sent back as it came, is refused for its status."""
    return unless(problems, not any("status" in turn for turn in said(context)), "unknown field status")


def _with_input(result: Result, count: int) -> Result:
    """The result with another number of input tokens, none of them cached."""
    return replace(result, usage=replace(result.usage, input=count, cached=0, written=0))


def _said_last(prompt: Prompt) -> int:
    """The tokens of the last message."""
    return sum(tokens.count(part.text) for part in prompt.messages[-1].parts if isinstance(part, Text))


@fault("history-uncounted", "result", caught_by=_COUNTED)
def uncounted(context: Context, result: Result) -> Result:
    """Only the last message is counted as input."""
    prompt = context.prompt
    return result if prompt is None or len(prompt.messages) < 2 else _with_input(result, _said_last(prompt) + 1)


@fault("history-counted-in-part", "result", caught_by=_COUNTED)
def counted_in_part(context: Context, result: Result) -> Result:
    """At most 50 tokens of the earlier messages are counted as input."""
    prompt = context.prompt
    if prompt is None or len(prompt.messages) < 2:
        return result
    return _with_input(result, min(result.usage.input, _said_last(prompt) + 50))


def _is_array(context: Context) -> bool:
    return context.body is not None and isinstance(context.body.get("input"), list)


@fault("string-input-counted-with-one-more", "result", on=(RESPONSES,), caught_by=_STRING)
def string_with_one_more(context: Context, result: Result) -> Result:
    """A string costs one input token more than a user message of the same words."""
    return result if _is_array(context) else _with_input(result, result.usage.input + 1)


@fault("array-input-counted-with-frame", "result", on=(RESPONSES,), caught_by=_STRING)
def array_with_frame(context: Context, result: Result) -> Result:
    """Each message of an array costs four tokens for its frame, a string none."""
    return _with_input(result, result.usage.input + 4 * len(turns(context))) if _is_array(context) else result


@fault("array-input-refused", "problems", on=(RESPONSES,), caught_by=_STRING)
def array_refused(context: Context, problems: Problems) -> Problems:
    """An array with one user message is refused where a string of the same words is accepted."""
    return unless(problems, not _is_array(context) or bool(said(context)), "input must be a string")
