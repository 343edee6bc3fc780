"""What kimi-k3 refuses, and what it still accepts."""

from __future__ import annotations

from typing import Any

from conformance.models import K3, MODELS
from conformance.protocols.json_text import read_text
from conformance.protocols.view import MISSING, Answer
from conformance.rules import parts
from conformance.rules.acceptance import acceptable
from conformance.rules.decisions import acceptance, posted, refusal
from conformance.rules.json_schemas import Unusable, breach
from conformance.rules.parts import shown
from conformance.rules.past_turns import continues_text
from conformance.rules.registry import CHAT, MESSAGES, Findings, cite, rule
from conformance.values import Basis, Finding, Level

_K3 = MODELS[K3[0]]
_FIXED = {"temperature": _K3.temperature, "top_p": _K3.top_p}


def _asks_k3(answer: Answer) -> bool:
    return posted(answer) and answer.asked.model == _K3.id


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def with_stop_sequences(answer: Answer) -> bool:
    """A kimi-k3 request whose stop_sequences is a non-empty array."""
    sent = answer.asked.body.get("stop_sequences")
    return _asks_k3(answer) and isinstance(sent, list) and bool(sent)


def with_other_temperature(answer: Answer) -> bool:
    """A kimi-k3 request whose temperature is a number other than 1."""
    return _other(answer, "temperature")


def with_other_top_p(answer: Answer) -> bool:
    """A kimi-k3 request whose top_p is a number other than 0.95."""
    return _other(answer, "top_p")


def _other(answer: Answer, name: str) -> bool:
    value = answer.asked.body.get(name)
    return _asks_k3(answer) and _is_number(value) and value != _FIXED[name]


def with_fixed_sampling(answer: Answer) -> bool:
    """A valid kimi-k3 request with temperature 1 or top_p 0.95."""
    body = answer.asked.body
    given = [name for name in _FIXED if _is_number(body.get(name))]
    fixed = bool(given) and all(body[name] == _FIXED[name] for name in given)
    return fixed and _asks_k3(answer) and acceptable(answer)


def with_cache_control(answer: Answer) -> bool:
    """A kimi-k3 request with top-level cache_control."""
    return _asks_k3(answer) and answer.asked.body.get("cache_control") is not None


def with_cache_options(answer: Answer) -> bool:
    """A kimi-k3 request with prompt_cache_options."""
    return _asks_k3(answer) and answer.asked.body.get("prompt_cache_options") is not None


def with_output_format(answer: Answer) -> bool:
    """A kimi-k3 request with output_config.format."""
    config = answer.asked.body.get("output_config")
    return _asks_k3(answer) and isinstance(config, dict) and config.get("format") is not None


def with_json_schema(answer: Answer) -> bool:
    """A valid kimi-k3 request with a response_format of type json_schema."""
    return _asks_k3(answer) and answer.asked.format == "json_schema" and acceptable(answer)


def with_other_effort(answer: Answer) -> bool:
    """A kimi-k3 request with an effort other than max."""
    return _asks_k3(answer) and isinstance(answer.asked.effort, str) and answer.asked.effort not in _K3.efforts


@rule(
    "model.k3.stop-sequences-rejected",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    models=K3,
    source={
        MESSAGES: cite(
            "messages-all",
            "Supported only by kimi-k3.1-pro / kimi-k3.1-pro-highspeed; kimi-k3 does not support this parameter.",
        )
    },
    when=with_stop_sequences,
)
def stop_sequences_are_refused(answer: Answer) -> Findings:
    """kimi-k3 refuses stop_sequences with 400."""
    yield from refusal(answer, "stop_sequences on kimi-k3")


_SAMPLING_PAGES = {
    name: {
        CHAT: cite("chat-all", f"#/components/schemas/ChatCompletionRequest/properties/{name}"),
        MESSAGES: cite("messages-all", words),
    }
    for name, words in {
        "temperature": "Sampling temperature, fixed by the model at 1; omit this field. kimi-k3.1-pro / "
        "kimi-k3.1-pro-highspeed automatically ignore it; kimi-k3 returns an error for unsupported values.",
        "top_p": "Nucleus sampling threshold, fixed by the model at 0.95; omit this field. kimi-k3.1-pro / "
        "kimi-k3.1-pro-highspeed automatically ignore it; kimi-k3 returns an error for unsupported values.",
    }.items()
}


@rule(
    "model.k3.temperature-rejected",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    models=K3,
    source=_SAMPLING_PAGES["temperature"],
    when=with_other_temperature,
)
def other_temperature_is_refused(answer: Answer) -> Findings:
    """kimi-k3 refuses a temperature other than 1 with a 4xx."""
    words = f"temperature {shown(answer.asked.body['temperature'])} on kimi-k3"
    yield from refusal(answer, words, any_4xx=True)


@rule(
    "model.k3.top-p-rejected",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    models=K3,
    source=_SAMPLING_PAGES["top_p"],
    when=with_other_top_p,
)
def other_top_p_is_refused(answer: Answer) -> Findings:
    """kimi-k3 refuses a top_p other than 0.95 with a 4xx."""
    yield from refusal(answer, f"top_p {shown(answer.asked.body['top_p'])} on kimi-k3", any_4xx=True)


@rule(
    "model.k3.temperature-one-accepted",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    models=K3,
    source=_SAMPLING_PAGES["temperature"],
    when=with_fixed_sampling,
)
def fixed_sampling_is_accepted(answer: Answer) -> Findings:
    """kimi-k3 accepts temperature 1 and top_p 0.95."""
    given = ", ".join(f"{name} {answer.asked.body[name]}" for name in _FIXED if name in answer.asked.body)
    yield from acceptance(answer, f"{given} on kimi-k3")


@rule(
    "model.k3.cache-control-rejected",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    models=K3,
    source={
        MESSAGES: cite(
            "messages-all",
            "Top-level cache write options, supported only by kimi-k3.1-pro / kimi-k3.1-pro-highspeed; kimi-k3 does "
            "not support this parameter.",
        )
    },
    when=with_cache_control,
)
def cache_control_is_refused(answer: Answer) -> Findings:
    """kimi-k3 refuses top-level cache_control with 400."""
    yield from refusal(answer, "cache_control on kimi-k3", level=Level.SHOULD)
    usage = answer.usage
    if answer.ok and usage is not None and usage.written_1h:
        yield Finding(
            message="cache_control takes effect on kimi-k3: tokens are written for 1h",
            pointer="/usage/cache_creation/ephemeral_1h_input_tokens",
            expected=0,
            actual=usage.written_1h,
        )


@rule(
    "model.k3.prompt-cache-options-rejected",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    models=K3,
    source={CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/prompt_cache_options")},
    when=with_cache_options,
)
def cache_options_are_refused(answer: Answer) -> Findings:
    """kimi-k3 refuses prompt_cache_options with 400."""
    yield from refusal(answer, "prompt_cache_options on kimi-k3", level=Level.SHOULD)
    if answer.ok and answer.usage is not None and answer.usage.written:
        yield Finding(
            message="prompt_cache_options takes effect on kimi-k3: cache writes are counted",
            pointer="/usage/prompt_tokens_details/cache_write_tokens",
            expected=0,
            actual=answer.usage.written,
        )


@rule(
    "model.k3.output-format-rejected",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    models=K3,
    source={
        MESSAGES: cite(
            "messages-all",
            "Structured output (output_config.format), stop sequences (stop_sequences), and cache write TTL "
            "(cache_control) are supported only by the K3.1 series, not by kimi-k3.",
        )
    },
    when=with_output_format,
)
def output_format_is_refused(answer: Answer) -> Findings:
    """kimi-k3 refuses output_config.format with 400."""
    yield from refusal(answer, "output_config.format on kimi-k3", level=Level.SHOULD)
    schema = answer.asked.format_schema
    if answer.normal and answer.text and schema is not None and _problem(answer.text, schema) is None:
        yield Finding(
            message="output_config.format takes effect on kimi-k3: the text follows the schema",
            expected="400",
            actual=answer.text[:200],
        )


@rule(
    "model.k3.response-format-accepted",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    models=K3,
    source={CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/response_format")},
    when=with_json_schema,
)
def response_format_is_accepted(answer: Answer) -> Findings:
    """kimi-k3 accepts a response_format of type json_schema, and its content follows the schema."""
    yield from acceptance(answer, "response_format json_schema on kimi-k3")
    schema = answer.asked.format_schema
    whole = answer.normal and not answer.client_calls and not parts.refuses(answer)
    if not whole or schema is None or continues_text(answer.asked):
        return
    problem = _problem(answer.text, schema)
    if problem is not None:
        yield Finding(
            message=f"the content does not follow the schema: {problem}",
            pointer="/choices/0/message/content",
            expected="a value that the schema allows",
            actual=answer.text[:200],
            level=Level.SHOULD if answer.asked.format_strict is False else None,
        )


@rule(
    "model.k3.effort-only-max",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    models=K3,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/reasoning_effort"),
        MESSAGES: cite("messages-all", "`kimi-k3` Previous-generation model Only `max`"),
    },
    when=with_other_effort,
)
def other_effort_is_refused(answer: Answer) -> Findings:
    """kimi-k3 refuses an effort other than max with 400."""
    yield from refusal(answer, f"the effort {str(answer.asked.effort)[:40]} on kimi-k3", level=Level.SHOULD)


def _problem(text: str, schema: dict[str, Any]) -> str | None:
    """Why a text is not JSON that follows a schema; None where it is, and where the schema cannot be used."""
    read = read_text(text)
    if read.value is MISSING:
        return f"it is no JSON: {read.error}"
    try:
        fault = breach(schema, read.value)
    except Unusable:
        return None
    return None if fault is None else f"{fault.pointer or 'the value'}: {fault.message}"[:200]
