"""Faults in whether tools are called, raw markup of calls, and calls that the limit cuts off."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.reference.faults.registry import BOTH, CHAT, MESSAGES, STREAM, fault
from conformance.reference.hooks import Context
from conformance.reference.prompts import Choice, Prompt
from conformance.reference.results import Call, Finish, Result

_CHOOSING = (CHAT, MESSAGES)
_FORBIDDEN = ("tool.choice-none",)
_REQUIRED = ("tool.choice-required",)
_NAMED = ("tool.choice-named",)
_MARKUP = ("tool.no-markup-in-text",)
_CUT = ("tool.cut-off-is-length",)
_IGNORED = ("google-ai-edge/LiteRT-LM#2471",)


def _choosing(prompt: Prompt, when: str, then: str) -> Prompt:
    """The prompt with another choice in place of one."""
    return replace(prompt, choice=replace(prompt.choice, mode=then)) if prompt.choice.mode == when else prompt


@fault("tool-choice-none-ignored", "prompt", on=_CHOOSING, caught_by=_FORBIDDEN, seen=_IGNORED)
def none_ignored(_: Context, prompt: Prompt) -> Prompt:
    """Tools are called though tool_choice is none."""
    return _choosing(prompt, "none", "auto")


@fault("tool-choice-none-searches", "prompt", on=_CHOOSING, caught_by=_FORBIDDEN)
def none_searches(_: Context, prompt: Prompt) -> Prompt:
    """Only web search is called though tool_choice is none."""
    return _choosing(prompt, "none", "auto") if prompt.search and not prompt.tools else prompt


@fault("tool-choice-none-calls", "prompt", on=_CHOOSING, caught_by=_FORBIDDEN)
def none_calls(_: Context, prompt: Prompt) -> Prompt:
    """Only functions are called though tool_choice is none."""
    return _choosing(prompt, "none", "auto") if prompt.tools else prompt


@fault(
    "tool-choice-required-ignored",
    "prompt",
    on=_CHOOSING,
    caught_by=_REQUIRED,
    seen=(*_IGNORED, "vllm-project/vllm#50477"),
)
def required_ignored(_: Context, prompt: Prompt) -> Prompt:
    """The answer is text though tool_choice requires a call."""
    return _choosing(prompt, "required", "none")


@fault("tool-choice-required-ignored-for-search", "prompt", on=_CHOOSING, caught_by=_REQUIRED)
def required_search_ignored(_: Context, prompt: Prompt) -> Prompt:
    """The answer is text though a call is required, where web search is the only tool."""
    return prompt if prompt.tools else _choosing(prompt, "required", "none")


@fault("tool-call-lost", "result", on=_CHOOSING, caught_by=(*_REQUIRED, "finish.tool-iff-call"))
def call_lost(_: Context, result: Result) -> Result:
    """The answer ends as though it called a tool, but the call is lost."""
    return replace(result, calls=())


@fault("tool-choice-other-function", "prompt", on=(CHAT,), caught_by=_NAMED)
def other_function(_: Context, prompt: Prompt) -> Prompt:
    """Another function is called than tool_choice names."""
    others = [tool.name for tool in prompt.tools if tool.name != prompt.choice.name]
    return replace(prompt, choice=Choice(mode="named", name=others[0])) if prompt.choice.name and others else prompt


@fault(
    "tool-choice-named-as-auto",
    "prompt",
    on=(CHAT,),
    caught_by=_NAMED,
    seen=("ggml-org/llama.cpp#26849", "ggml-org/llama.cpp#28806", *_IGNORED),
)
def named_as_auto(_: Context, prompt: Prompt) -> Prompt:
    """The function that tool_choice names is taken for a mere hint."""
    return _choosing(prompt, "named", "auto")


@fault("tool-choice-named-ignored", "prompt", on=(CHAT,), caught_by=_NAMED, seen=("vllm-project/vllm#49712",))
def named_ignored(_: Context, prompt: Prompt) -> Prompt:
    """The answer is text though tool_choice names a function."""
    return _choosing(prompt, "named", "none")


@fault("tool-choice-named-and-another", "result", on=(CHAT,), caught_by=_NAMED)
def named_and_another(context: Context, result: Result) -> Result:
    """Another function is called beside the one that tool_choice names."""
    prompt = context.prompt
    others = [tool.name for tool in prompt.tools if tool.name != prompt.choice.name] if prompt else []
    if prompt is None or prompt.choice.mode != "named" or not others or not result.calls:
        return result
    return replace(result, calls=(*result.calls, Call(id=context.id, name=others[0], arguments="{}")))


def _offered(context: Context) -> bool:
    return context.prompt is not None and bool(context.prompt.tools)


@fault(
    "tool-call-as-text",
    "result",
    caught_by=_MARKUP,
    seen=("NousResearch/hermes-agent#24534", "BerriAI/litellm#12679"),
)
def as_text(_: Context, result: Result) -> Result:
    """A call comes as the raw markup of the model's template in the text."""
    if not result.calls:
        return result
    call = result.calls[0]
    text = (
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{call.name}:0<|tool_call_argument_begin|>"
        f"{call.arguments}<|tool_call_end|><|tool_calls_section_end|>"
    )
    finish = Finish.STOP if result.finish is Finish.CALLS else result.finish
    return replace(result, text=text, calls=(), finish=finish)


@fault("tool-call-as-tagged-text", "result", caught_by=_MARKUP)
def as_tagged_text(_: Context, result: Result) -> Result:
    """A call comes in the text, between tags."""
    if result.finish is not Finish.CALLS:
        return result
    call = result.calls[0]
    text = f'<tool_call>\n{{"name": "{call.name}", "arguments": {call.arguments}}}\n</tool_call>'
    return replace(result, text=text, calls=(), finish=Finish.STOP)


@fault("tool-call-in-open-as-well", "result", caught_by=_MARKUP)
def in_open_as_well(_: Context, result: Result) -> Result:
    """A call is made, and stands in the text as the template writes it as well."""
    if result.finish is not Finish.CALLS or result.calls[0].builtin:
        return result
    call = result.calls[0]
    return replace(result, text=f"functions.{call.name}:0{call.arguments}")


@fault("tool-markup-in-reasoning", "result", caught_by=_MARKUP, seen=("MoonshotAI/Kimi-K2#89",))
def in_reasoning(context: Context, result: Result) -> Result:
    """The reasoning ends with the mark that opens a section of tool calls."""
    return replace(result, reasoning=result.reasoning + "<|tool_calls_section_begin|>") if _offered(context) else result


@fault("tool-markup-at-end-of-text", "result", caught_by=_MARKUP)
def at_end_of_text(context: Context, result: Result) -> Result:
    """The text ends with the control token that ends a message."""
    return replace(result, text=result.text + "<|im_end|>") if _offered(context) and result.text else result


@fault("tool-markup-in-arguments", "result", caught_by=_MARKUP)
def in_arguments(_: Context, result: Result) -> Result:
    """The last argument of a call holds the mark that ends a call."""
    calls = tuple(replace(c, arguments=c.arguments.replace('"}', '<|tool_call_end|>"}')) for c in result.calls)
    return replace(result, calls=calls)


def _hidden(result: Result, finish: Finish) -> Result:
    return replace(result, finish=finish) if result.finish is Finish.LENGTH and result.calls else result


@fault(
    "tool-calls-hides-length",
    "result",
    on=(CHAT,),
    modes=BOTH,
    caught_by=_CUT,
    seen=("vllm-project/vllm#58228", "vllm-project/vllm#46303"),
)
def hides_length(_: Context, result: Result) -> Result:
    """A call that the limit cut off is reported as a whole one."""
    return _hidden(result, Finish.CALLS)


@fault("tool-use-hides-max-tokens", "result", on=(MESSAGES,), modes=(STREAM,), caught_by=_CUT)
def hides_max_tokens(_: Context, result: Result) -> Result:
    """A streamed call that the limit cut off is reported as a whole one."""
    return _hidden(result, Finish.CALLS)


@fault("tool-stop-hides-length", "result", on=(CHAT,), caught_by=_CUT)
def stop_hides_length(_: Context, result: Result) -> Result:
    """A call that the limit cut off is reported as a normal end."""
    return _hidden(result, Finish.STOP)


@fault("tool-calls-hides-small-length", "result", on=(CHAT,), caught_by=_CUT)
def hides_small_length(context: Context, result: Result) -> Result:
    """Only where the limit is below 300 a call that it cut off is reported as a whole one."""
    return _hidden(result, Finish.CALLS) if context.prompt is not None and context.prompt.limit < 300 else result
