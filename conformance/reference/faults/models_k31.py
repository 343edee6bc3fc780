"""Faults of the K3.1 series: sampling values and efforts that it should ignore or map."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.models import K31, MODELS
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, fault
from conformance.reference.faults.terms import effort, found, number
from conformance.reference.hooks import Context
from conformance.reference.problems import Problem
from conformance.reference.results import Result

Problems = list[Problem]
_BOTH_SURFACES = (CHAT, MESSAGES)
_TEMPERATURE = ("model.k31.temperature-ignored",)
_TOP_P = ("model.k31.top-p-ignored",)
_ALIAS = ("model.k31.effort-aliases-accepted",)
_NONE = ("model.k31.effort-none-still-reasons",)


@fault("k31-temperature-refused", "problems", on=_BOTH_SURFACES, models=K31, caught_by=_TEMPERATURE)
def temperature_refused(context: Context, problems: Problems) -> Problems:
    """K3.1 refuses a temperature other than 1."""
    other = context.model in K31 and number(context, "temperature") not in (None, 1)
    return found(problems, "only 1 is allowed", when=other)


@fault("k31-temperature-one-refused", "problems", on=_BOTH_SURFACES, models=K31, caught_by=_TEMPERATURE)
def k31_temperature_one_refused(context: Context, problems: Problems) -> Problems:
    """K3.1 refuses even the temperature that it has."""
    return found(problems, "omit the field", when=context.model in K31 and number(context, "temperature") == 1)


@fault("k31-top-p-refused", "problems", on=_BOTH_SURFACES, models=K31, caught_by=_TOP_P)
def top_p_refused(context: Context, problems: Problems) -> Problems:
    """K3.1 refuses a top_p below 0.95."""
    given = number(context, "top_p")
    return found(
        problems, "out of range", when=context.model in K31 and given is not None and given < MODELS[K31[0]].top_p
    )


@fault("k31-top-p-zero-refused", "problems", on=_BOTH_SURFACES, modes=(JSON,), models=K31, caught_by=_TOP_P)
def top_p_zero_refused(context: Context, problems: Problems) -> Problems:
    """K3.1 refuses a top_p of 0 only."""
    return found(problems, "must be positive", when=context.model in K31 and number(context, "top_p") == 0)


@fault(
    "effort-alias-refused", "problems", on=_BOTH_SURFACES, models=K31, caught_by=_ALIAS, seen=("Kilo-Org/cloud#3807",)
)
def alias_refused(context: Context, problems: Problems) -> Problems:
    """K3.1 refuses the effort none."""
    return found(problems, "unknown effort", when=context.model in K31 and effort(context) == "none")


@fault("effort-medium-refused", "problems", on=_BOTH_SURFACES, models=K31, caught_by=_ALIAS)
def medium_refused(context: Context, problems: Problems) -> Problems:
    """K3.1 refuses the effort medium."""
    return found(problems, "unknown effort", when=context.model in K31 and effort(context) == "medium")


@fault("effort-xhigh-refused", "problems", on=_BOTH_SURFACES, modes=(JSON,), models=K31, caught_by=_ALIAS)
def xhigh_refused(context: Context, problems: Problems) -> Problems:
    """K3.1 refuses the effort xhigh."""
    return found(problems, "unknown effort", when=context.model in K31 and effort(context) == "xhigh")


@fault("effort-none-disables", "result", on=_BOTH_SURFACES, models=K31, caught_by=_NONE)
def none_disables(context: Context, result: Result) -> Result:
    """The effort none disables reasoning."""
    if effort(context) != "none":
        return result
    usage = replace(result.usage, reasoning=0, output=result.usage.output - result.usage.reasoning)
    return replace(result, reasoning="", usage=usage)
