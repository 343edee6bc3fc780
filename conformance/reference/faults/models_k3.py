"""Faults of kimi-k3: what it should refuse is accepted, what it should accept is refused."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.models import K3, MODELS
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, fault
from conformance.reference.faults.terms import effort, failure, forgiven_kind, found, number, sent
from conformance.reference.hooks import Context
from conformance.reference.problems import Problem
from conformance.reference.results import Result

Problems = list[Problem]
_BOTH_SURFACES = (CHAT, MESSAGES)
_STOP = ("model.k3.stop-sequences-rejected",)
_TEMPERATURE = ("model.k3.temperature-rejected",)
_TOP_P = ("model.k3.top-p-rejected",)
_FIXED = ("model.k3.temperature-one-accepted",)
_CACHE_CONTROL = ("model.k3.cache-control-rejected",)
_CACHE_OPTIONS = ("model.k3.prompt-cache-options-rejected",)
_OUTPUT_FORMAT = ("model.k3.output-format-rejected",)
_EFFORT = ("model.k3.effort-only-max",)
_RESPONSE_FORMAT = ("model.k3.response-format-accepted",)


def _of_k3(context: Context) -> bool:
    return context.model in K3


@fault("k3-stop-sequences-accepted", "problems", on=(MESSAGES,), models=K3, caught_by=_STOP)
def stop_sequences_accepted(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 accepts stop sequences."""
    given = isinstance(sent(context, "stop_sequences"), list)
    return forgiven_kind(problems, "k3-stop-sequences") if given else problems


@fault("k3-temperature-accepted", "problems", on=_BOTH_SURFACES, models=K3, caught_by=_TEMPERATURE)
def temperature_accepted(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 accepts any temperature."""
    return forgiven_kind(problems, "k3-temperature") if number(context, "temperature") is not None else problems


@fault("k3-temperature-zero-accepted", "problems", on=_BOTH_SURFACES, modes=(JSON,), models=K3, caught_by=_TEMPERATURE)
def temperature_zero_accepted(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 takes a temperature of 0 for an omitted one."""
    return forgiven_kind(problems, "k3-temperature") if number(context, "temperature") == 0 else problems


@fault(
    "k3-temperature-above-one-accepted", "problems", on=_BOTH_SURFACES, modes=(JSON,), models=K3, caught_by=_TEMPERATURE
)
def temperature_above_accepted(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 refuses a temperature below 1 only."""
    return forgiven_kind(problems, "k3-temperature") if (number(context, "temperature") or 0) > 1 else problems


@fault("k3-top-p-accepted", "problems", on=_BOTH_SURFACES, models=K3, caught_by=_TOP_P)
def top_p_accepted(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 accepts any top_p."""
    return forgiven_kind(problems, "k3-top-p") if number(context, "top_p") is not None else problems


@fault("k3-top-p-one-accepted", "problems", on=_BOTH_SURFACES, modes=(JSON,), models=K3, caught_by=_TOP_P)
def top_p_one_accepted(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 accepts a top_p of 1, which it does not have."""
    return forgiven_kind(problems, "k3-top-p") if number(context, "top_p") == 1 else problems


@fault("k3-sampling-as-500", "problems", on=_BOTH_SURFACES, models=K3, caught_by=(*_TEMPERATURE, *_TOP_P))
def sampling_as_500(_: Context, problems: Problems) -> Problems:
    """The model kimi-k3 fails over a temperature or a top_p that it does not support."""
    if any(problem.kind in ("k3-temperature", "k3-top-p") for problem in problems):
        raise failure()
    return problems


@fault(
    "k3-temperature-one-refused",
    "problems",
    on=_BOTH_SURFACES,
    models=K3,
    caught_by=_FIXED,
    seen=("MoonshotAI/Kimi-K2#124",),
)
def temperature_one_refused(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 refuses the temperature that it has."""
    return found(problems, "temperature is unknown", when=_of_k3(context) and number(context, "temperature") == 1)


@fault("k3-top-p-default-refused", "problems", on=_BOTH_SURFACES, models=K3, caught_by=_FIXED)
def top_p_default_refused(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 refuses the top_p that it has."""
    return found(problems, "top_p is unknown", when=_of_k3(context) and number(context, "top_p") == MODELS[K3[0]].top_p)


@fault("k3-cache-control-accepted", "problems", on=(MESSAGES,), models=K3, caught_by=_CACHE_CONTROL)
def cache_control_accepted(_: Context, problems: Problems) -> Problems:
    """The model kimi-k3 accepts cache_control and ignores it."""
    return forgiven_kind(problems, "k3-cache-control")


@fault("k3-cache-1h-accepted", "problems", on=(MESSAGES,), models=K3, caught_by=_CACHE_CONTROL)
def cache_1h_accepted(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 accepts cache_control where it carries a time to live."""
    return forgiven_kind(problems, "k3-cache-control") if sent(context, "cache_control", "ttl") else problems


@fault("k3-prompt-cache-options-accepted", "problems", on=(CHAT,), models=K3, caught_by=_CACHE_OPTIONS)
def cache_options_accepted(_: Context, problems: Problems) -> Problems:
    """The model kimi-k3 accepts prompt_cache_options."""
    return forgiven_kind(problems, "k3-prompt-cache-options")


@fault("k3-cache-ttl-accepted", "problems", on=(CHAT,), models=K3, caught_by=_CACHE_OPTIONS)
def cache_ttl_accepted(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 accepts a time to live in prompt_cache_options."""
    ttl = sent(context, "prompt_cache_options", "ttl")
    return forgiven_kind(problems, "k3-prompt-cache-options") if ttl else problems


@fault("k3-output-format-accepted", "problems", on=(MESSAGES,), models=K3, caught_by=_OUTPUT_FORMAT)
def output_format_accepted(_: Context, problems: Problems) -> Problems:
    """The model kimi-k3 accepts a format on messages."""
    return forgiven_kind(problems, "k3-output-format")


@fault("k3-effort-accepted", "problems", on=_BOTH_SURFACES, models=K3, caught_by=_EFFORT)
def effort_accepted(_: Context, problems: Problems) -> Problems:
    """The model kimi-k3 accepts every effort and takes it for max."""
    return forgiven_kind(problems, "k3-effort")


@fault("k3-effort-alias-accepted", "problems", on=_BOTH_SURFACES, modes=(JSON,), models=K3, caught_by=_EFFORT)
def effort_alias_accepted(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 accepts the effort xhigh, which stands for max on the other models."""
    return forgiven_kind(problems, "k3-effort") if effort(context) == "xhigh" else problems


@fault("k3-response-format-refused", "problems", on=(CHAT,), models=K3, caught_by=_RESPONSE_FORMAT)
def response_format_refused(context: Context, problems: Problems) -> Problems:
    """The model kimi-k3 refuses a schema on chat."""
    schema = _of_k3(context) and sent(context, "response_format", "type") == "json_schema"
    return found(problems, "response_format is not supported", when=schema)


@fault("k3-response-format-ignored", "result", on=(CHAT,), models=K3, caught_by=_RESPONSE_FORMAT)
def response_format_ignored(context: Context, result: Result) -> Result:
    """The model kimi-k3 accepts a schema on chat and answers in words."""
    schema = _of_k3(context) and sent(context, "response_format", "type") == "json_schema"
    return replace(result, text="Here is the object you asked for.") if schema else result
