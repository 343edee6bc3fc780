"""Faults in reasoning: gone, under another name, uncounted, unsigned, or in the text."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.models import K3, K31
from conformance.reference.encoding.frame import Event
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, RESPONSES, STREAM, fault
from conformance.reference.hooks import Context
from conformance.reference.prompts import Prompt
from conformance.reference.results import Finish, Result

_ON, _COUNTED, _FIRST = "reasoning.always-on", "reasoning.tokens-counted", "reasoning.thinking-first"
_BLOCK, _SIGNED, _MARKUP = "reasoning.thinking-block-present", "reasoning.signature", "reasoning.not-in-text"
_NAME, _EVIDENCE = "reasoning.field-name", "reasoning.evidence"
_DETAILS = {
    CHAT: ("completion_tokens_details", "reasoning_tokens"),
    MESSAGES: ("output_tokens_details", "thinking_tokens"),
    RESPONSES: ("output_tokens_details", "reasoning_tokens"),
}


def _unthinking(result: Result) -> Result:
    """The result as a model without reasoning would have it."""
    usage = replace(result.usage, output=result.usage.output - result.usage.reasoning, reasoning=0)
    return replace(result, reasoning="", usage=usage)


@fault("reasoning-missing", "message", on=(CHAT,), caught_by=(_ON,), seen=("vllm-project/vllm#37397",))
def reasoning_missing(_: Context, message: dict[str, Any]) -> dict[str, Any]:
    """reasoning_content is neither in the message nor in any delta."""
    message.pop("reasoning_content", None)
    return message


@fault("reasoning-empty", "result", on=(CHAT,), caught_by=(_ON,))
def reasoning_empty(_: Context, result: Result) -> Result:
    """reasoning_content is empty."""
    return replace(result, reasoning="")


@fault("reasoning-blank", "result", on=(CHAT,), caught_by=(_ON,))
def reasoning_blank(_: Context, result: Result) -> Result:
    """reasoning_content is white space."""
    return replace(result, reasoning="\n\n")


@fault("reasoning-missing-on-k3", "result", on=(CHAT,), models=K3, caught_by=(_ON,))
def reasoning_missing_on_k3(context: Context, result: Result) -> Result:
    """kimi-k3 alone answers without reasoning."""
    return _unthinking(result) if context.model in K3 else result


@fault("reasoning-off-at-low-effort", "result", on=(CHAT,), models=K31, caught_by=(_ON,))
def reasoning_off_at_low_effort(context: Context, result: Result) -> Result:
    """Effort low switches reasoning off."""
    low = context.prompt is not None and context.prompt.effort == "low"
    return _unthinking(result) if low else result


@fault(
    "reasoning-tokens-zero",
    "usage",
    caught_by=(_COUNTED,),
    seen=("ZhiYi-R/moon-bridge#113", "tashfeenahmed/freellmapi#829"),
)
def reasoning_tokens_zero(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """An answer with reasoning counts no reasoning tokens."""
    outer, name = _DETAILS[context.protocol]
    if outer in usage:
        usage[outer][name] = 0
    return usage


@fault("reasoning-tokens-zero-at-max", "usage", caught_by=(_COUNTED,))
def reasoning_tokens_zero_at_max(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Reasoning tokens are not counted where the effort is max."""
    at_max = context.prompt is not None and context.prompt.effort == "max"
    return reasoning_tokens_zero(context, usage) if at_max else usage


@fault("reasoning-tokens-zero-on-k3", "usage", models=K3, caught_by=(_COUNTED,))
def reasoning_tokens_zero_on_k3(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """kimi-k3 alone counts no reasoning tokens."""
    return reasoning_tokens_zero(context, usage) if context.model in K3 else usage


@fault("reasoning-after-answer", "body", on=(MESSAGES, RESPONSES), modes=(JSON,), caught_by=(_FIRST,))
def reasoning_after_answer(context: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The reasoning stands behind the answer."""
    name = "content" if context.protocol is MESSAGES else "output"
    return answer | {name: [*answer[name][1:], answer[name][0]]}


@fault("reasoning-streamed-after-answer", "events", on=(MESSAGES,), modes=(STREAM,), caught_by=(_FIRST,))
def reasoning_streamed_after_answer(_: Context, events: list[Event]) -> list[Event]:
    """The thinking block is streamed behind all others."""
    blocks: dict[int, list[Event]] = {}
    for event in events:
        if isinstance(event.data, dict) and "index" in event.data:
            blocks.setdefault(event.data["index"], []).append(event)
    if not blocks or events[-1].name != "message_stop":
        return events
    first, *rest = blocks.values()
    middle: list[Event] = []
    for index, block in enumerate([*rest, first]):
        for event in block:
            if isinstance(event.data, dict):
                event.data["index"] = index
            middle.append(event)
    return [*events[:2], *middle, *events[-2:]]


@fault("reasoning-last-in-response", "ending", on=(RESPONSES,), modes=(STREAM,), caught_by=(_FIRST,))
def reasoning_last_in_response(_: Context, response: dict[str, Any]) -> dict[str, Any]:
    """The final response of a stream lists the reasoning item last."""
    return response | {"output": [*response["output"][1:], *response["output"][:1]]}


@fault("thinking-block-missing", "result", on=(MESSAGES,), models=K31, caught_by=(_BLOCK,))
def thinking_block_missing(_: Context, result: Result) -> Result:
    """A K3.1 answer has no thinking block, while its tokens are counted."""
    return replace(result, reasoning="")


@fault("thinking-block-missing-with-calls", "result", on=(MESSAGES,), models=K31, caught_by=(_BLOCK,))
def thinking_block_missing_with_calls(_: Context, result: Result) -> Result:
    """An answer that calls a tool has no thinking block."""
    return replace(result, reasoning="") if result.calls else result


@fault("reasoning-without-trace", "result", on=(MESSAGES, RESPONSES), models=K31, caught_by=(_EVIDENCE, _BLOCK))
def reasoning_without_trace(_: Context, result: Result) -> Result:
    """Nothing in the answer shows that the model reasoned: no block or item, and no tokens."""
    return _unthinking(result)


@fault("reasoning-without-trace-on-k3", "result", on=(MESSAGES, RESPONSES), models=K3, caught_by=(_EVIDENCE,))
def reasoning_without_trace_on_k3(_: Context, result: Result) -> Result:
    """kimi-k3 answers without a block or item, and counts 0 reasoning tokens."""
    return _unthinking(result)


@fault(
    "effort-silently-off",
    "result",
    on=(MESSAGES, RESPONSES),
    models=K31,
    caught_by=(_EVIDENCE, _BLOCK),
)
def effort_silently_off(context: Context, result: Result) -> Result:
    """Effort low is taken as no reasoning at all."""
    low = context.prompt is not None and context.prompt.effort == "low"
    return _unthinking(result) if low else result


@fault(
    "signature-missing",
    "block",
    on=(MESSAGES,),
    modes=(JSON,),
    models=K31,
    caught_by=(_SIGNED,),
    seen=("kekzl/imp#1555", "InternLM/lmdeploy#4851"),
)
def signature_missing(_: Context, block: dict[str, Any]) -> dict[str, Any]:
    """Thinking blocks have no signature."""
    block.pop("signature", None)
    return block


@fault("signature-empty", "body", on=(MESSAGES,), modes=(JSON,), models=K31, caught_by=(_SIGNED,))
def signature_empty(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The signature of thinking blocks is an empty string."""
    for block in answer["content"]:
        if block["type"] == "thinking":
            block["signature"] = ""
    return answer


@fault(
    "signature-delta-missing",
    "events",
    on=(MESSAGES,),
    modes=(STREAM,),
    models=K31,
    caught_by=(_SIGNED,),
    seen=("kekzl/imp#1555",),
)
def signature_delta_missing(_: Context, events: list[Event]) -> list[Event]:
    """Streams have no signature_delta, so that the signature stays empty."""

    def signs(event: Event) -> bool:
        return isinstance(event.data, dict) and event.data.get("delta", {}).get("type") == "signature_delta"

    return [event for event in events if not signs(event)]


# id, the text with markup in it, sentence
_LEAKS: tuple[tuple[str, str, str], ...] = (
    ("reasoning-turn-token-in-text", "{text}<|im_end|>", "The text ends in the token that ends a turn."),
    ("reasoning-final-channel-in-text", "assistantfinal{text}", "The text begins with the name of its channel."),
    ("reasoning-tags-in-text", "<think>{reasoning}</think>\n{text}", "The reasoning stands in think tags in the text."),
    ("reasoning-close-tag-in-text", "</think>\n\n{text}", "The text begins with the end tag of the reasoning."),
    ("reasoning-open-tag-in-text", "{text}\n<think>", "The text ends in the start tag of a second reasoning."),
    (
        "reasoning-kimi-tags-in-text",
        "◁think▷{reasoning}◁/think▷{text}",
        "The reasoning stands in the model's own tags.",
    ),
    (
        "reasoning-channel-in-text",
        "analysis{reasoning}assistantfinal{text}",
        "A reasoning channel leaks into the text.",
    ),
    ("reasoning-channel-token-in-text", "<|channel|>final<|message|>{text}", "A channel token leaks into the text."),
)


_LEAKED = {
    "reasoning-tags-in-text": ("ROCm/FastFlowLM#739", "vllm-project/vllm#13375"),
    "reasoning-close-tag-in-text": ("ollama/ollama#18044",),
}


def _leaking(pattern: str, sentence: str) -> Any:
    def hook(_: Context, result: Result) -> Result:
        whole = result.finish is Finish.STOP and bool(result.text)
        return replace(result, text=pattern.format(reasoning=result.reasoning, text=result.text)) if whole else result

    hook.__doc__ = sentence
    return hook


for _what, _pattern, _sentence in _LEAKS:
    fault(_what, "result", caught_by=(_MARKUP,), seen=_LEAKED.get(_what, ()))(_leaking(_pattern, _sentence))


def _renamed(name: str) -> Any:
    def hook(_: Context, message: dict[str, Any]) -> dict[str, Any]:
        if "reasoning_content" in message:
            message[name] = message.pop("reasoning_content")
        return message

    hook.__doc__ = f"Reasoning stands in {name} and not in reasoning_content."
    return hook


for _other in ("reasoning", "thinking", "reasoning_text"):
    _what, _where = f"reasoning-named-{_other.replace('_', '-')}", ("BerriAI/litellm#20246",)
    fault(_what, "message", on=(CHAT,), caught_by=(_NAME, _ON), seen=_where if _other == "reasoning" else ())(
        _renamed(_other)
    )


@fault("reasoning-in-details", "message", on=(CHAT,), caught_by=(_NAME, _ON))
def reasoning_in_details(_: Context, message: dict[str, Any]) -> dict[str, Any]:
    """Reasoning stands in an array of reasoning_details."""
    if "reasoning_content" in message:
        message["reasoning_details"] = [{"type": "reasoning.text", "text": message.pop("reasoning_content")}]
    return message


@fault(
    "reasoning-ignores-effort",
    "prompt",
    on=(CHAT, MESSAGES),
    modes=(JSON,),
    models=K31,
    caught_by=("reasoning.effort-increases",),
)
def reasoning_ignores_effort(_: Context, prompt: Prompt) -> Prompt:
    """The model reasons at max whatever the effort."""
    return replace(prompt, effort="max")


@fault(
    "reasoning-effort-reversed",
    "prompt",
    on=(CHAT, MESSAGES),
    modes=(JSON,),
    models=K31,
    caught_by=("reasoning.effort-increases",),
)
def reasoning_effort_reversed(_: Context, prompt: Prompt) -> Prompt:
    """Effort low reasons most, and max least."""
    return replace(prompt, effort={"low": "max", "max": "low"}.get(prompt.effort, prompt.effort))
