"""Faults in output limits: exceeded, not reported, or reported where none was met."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from conformance.models import CONTEXT_WINDOW, DEFAULT_LIMIT
from conformance.reference import engine
from conformance.reference.cache import measured
from conformance.reference.faults.registry import CHAT, MESSAGES, RESPONSES, fault
from conformance.reference.hooks import Context
from conformance.reference.prompts import Prompt
from conformance.reference.results import Finish, Result

_AT_LIMIT, _REPORTED, _ONLY = "finish.length-at-limit", "finish.length-reported", "finish.length-only-at-limit"
_TRUNCATED = "finish.truncated-not-completed"
_NAMES = ("max_completion_tokens", "max_tokens", "max_output_tokens")
_SMALL = 16  # tokens


def _limit(change: Callable[[int], int], sentence: str) -> Callable[[Context, Prompt], Prompt]:
    def hook(context: Context, prompt: Prompt) -> Prompt:
        sent = any((context.body or {}).get(name) is not None for name in _NAMES)
        return replace(prompt, limit=change(prompt.limit)) if sent else prompt

    hook.__doc__ = sentence
    return hook


for _name, _change, _sentence in (
    ("limit-exceeded-by-one", lambda limit: limit + 1, "An answer may have one token more than its limit."),
    ("limit-doubled", lambda limit: 2 * limit, "An answer may have twice the tokens of its limit."),
    (
        "limit-raised-to-a-minimum",
        lambda limit: max(limit, 64),
        "A limit below 64 tokens is raised to 64 without a word.",
    ),
    (
        "limit-rounded-up",
        lambda limit: -(-limit // 100) * 100,
        "A limit is rounded up to the next hundred.",
    ),
):
    fault(_name, "prompt", caught_by=(_AT_LIMIT,))(_limit(_change, _sentence))


@fault("limit-ignored-below-1000", "prompt", caught_by=(_AT_LIMIT, _REPORTED))
def limit_ignored_below(_: Context, prompt: Prompt) -> Prompt:
    """Limits below 1,000 tokens are taken for none."""
    return replace(prompt, limit=8192) if prompt.limit < 1000 else prompt


@fault("limit-leaves-reasoning-out", "prompt", caught_by=(_AT_LIMIT,))
def limit_leaves_reasoning_out(_: Context, prompt: Prompt) -> Prompt:
    """The limit holds for the text alone, and reasoning comes on top."""
    whole = engine.answer(replace(prompt, limit=DEFAULT_LIMIT), measured(prompt), seed=0)
    return replace(prompt, limit=prompt.limit + whole.usage.reasoning)


@fault("limit-of-usage-alone", "usage", caught_by=(_AT_LIMIT,))
def limit_of_usage_alone(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """The answer keeps its limit, and usage counts three output tokens that the client never got."""
    name = "completion_tokens" if context.protocol is CHAT else "output_tokens"
    if usage[name]:
        usage[name] += 3
        if "total_tokens" in usage:
            usage["total_tokens"] += 3
    return usage


def _unlimited(output: int, sentence: str) -> Callable[[Context, dict[str, Any]], dict[str, Any]]:
    def hook(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
        if any((context.body or {}).get(name) is not None for name in _NAMES):
            return usage
        name = "completion_tokens" if context.protocol is CHAT else "output_tokens"
        more = output - usage[name]
        usage[f"{name}_details"]["reasoning_tokens"] += more
        return usage | {name: usage[name] + more, "total_tokens": usage["total_tokens"] + more}

    hook.__doc__ = sentence
    return hook


for _what, _output, _sentence in (
    (
        "default-limit-exceeded-by-one",
        DEFAULT_LIMIT + 1,
        "Without a limit in the request, an answer has one output token more than the default limit.",
    ),
    (
        "default-limit-is-context-window",
        CONTEXT_WINDOW // 2,
        "Without a limit in the request, the output is bounded by the context window alone.",
    ),
):
    fault(_what, "usage", on=(CHAT, RESPONSES), caught_by=("finish.default-limit",))(_unlimited(_output, _sentence))


@fault(
    "cut-off-as-stop",
    "result",
    caught_by=(_REPORTED, _TRUNCATED),
    seen=("jundot/omlx#2817", "PaddlePaddle/FastDeploy#4543", "huggingface/transformers#42157"),
)
def cut_off_as_stop(_: Context, result: Result) -> Result:
    """An answer that the limit cut off says that it ended normally."""
    cut = result.finish is Finish.LENGTH and not result.calls
    return replace(result, finish=Finish.STOP) if cut else result


@fault(
    "cut-off-in-reasoning-as-stop",
    "result",
    caught_by=(_TRUNCATED, _REPORTED),
    seen=("jundot/omlx#2817", "vllm-project/agentic-api#273"),
)
def cut_off_in_reasoning_as_stop(_: Context, result: Result) -> Result:
    """Only an answer that was cut off before any text says that it ended normally."""
    cut = result.finish is Finish.LENGTH and not result.text and not result.calls
    return replace(result, finish=Finish.STOP) if cut else result


@fault("cut-off-in-text-as-stop", "result", caught_by=(_REPORTED,))
def cut_off_in_text_as_stop(_: Context, result: Result) -> Result:
    """Only an answer that was cut off in its text says that it ended normally."""
    cut = result.finish is Finish.LENGTH and bool(result.text)
    return replace(result, finish=Finish.STOP) if cut else result


@fault("cut-off-as-stop-at-small-limits", "result", caught_by=(_REPORTED, _TRUNCATED))
def cut_off_as_stop_at_small_limits(context: Context, result: Result) -> Result:
    """Only at limits of 16 tokens or less an answer that was cut off says that it ended normally."""
    small = context.prompt is not None and context.prompt.limit <= _SMALL
    return replace(result, finish=Finish.STOP) if small and result.finish is Finish.LENGTH else result


@fault(
    "cut-off-call-as-call",
    "result",
    on=(CHAT, MESSAGES),
    caught_by=("tool.cut-off-is-length", _REPORTED, "stream.messages.tool-json"),
)
def cut_off_call_as_call(_: Context, result: Result) -> Result:
    """A call that the limit cut off in its arguments ends the answer as if it were whole."""
    cut = result.finish is Finish.LENGTH and bool(result.calls)
    return replace(result, finish=Finish.CALLS) if cut else result


@fault("length-though-ended", "result", caught_by=(_ONLY,))
def length_though_ended(_: Context, result: Result) -> Result:
    """An answer that ended by itself says that the limit cut it off."""
    return replace(result, finish=Finish.LENGTH) if result.finish is Finish.STOP else result


@fault("length-well-before-limit", "prompt", caught_by=(_ONLY,))
def length_well_before_limit(_: Context, prompt: Prompt) -> Prompt:
    """An answer is cut off at nine tenths of its limit."""
    return replace(prompt, limit=max(1, prompt.limit * 9 // 10))


@fault("length-at-hidden-cap", "prompt", caught_by=(_ONLY,))
def length_at_hidden_cap(_: Context, prompt: Prompt) -> Prompt:
    """No answer has more than 512 tokens, whatever the request allows."""
    return replace(prompt, limit=min(prompt.limit, 512))
