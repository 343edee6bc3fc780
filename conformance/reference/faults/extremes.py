"""Faults in extreme requests: deep nesting, long strings, odd characters, and prompts beyond the context window."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.reference.faults.registry import JSON, MESSAGES, fault
from conformance.reference.faults.terms import failure, forgiven_kind, said
from conformance.reference.hooks import Context, Cut, Wire
from conformance.reference.problems import Problem
from conformance.reference.refusals import Refusal

Problems = list[Problem]
_EXTREME = ("request.deep-nesting-survived",)
_OVERSIZED = ("request.context-exceeded",)
_MIB = 1024 * 1024


@fault("deep-schema-as-500", "problems", modes=(JSON,), caught_by=_EXTREME, seen=("ggml-org/llama.cpp#25283",))
def deep_schema_as_500(context: Context, problems: Problems) -> Problems:
    """A tool whose schema is nested deeply makes the server fail."""
    if said(context).count('"inner"') > 100:
        raise failure()
    return problems


@fault("deep-body-drops-connection", "wire", modes=(JSON,), caught_by=_EXTREME, needs_socket=True)
def deep_body_drops(context: Context, wire: Wire) -> Wire:
    """A body that is nested deeply makes the server break the connection off."""
    return [Cut()] if said(context).count('{"a":') > 100 else wire


@fault("long-string-drops-connection", "wire", modes=(JSON,), caught_by=_EXTREME)
def long_string_drops(context: Context, wire: Wire) -> Wire:
    """A string of a mebibyte makes the server break the connection off."""
    return [Cut()] if len(context.raw) > _MIB else wire


@fault("surrogate-as-500", "refusal", modes=(JSON,), caught_by=_EXTREME)
def surrogate_as_500(context: Context, refusal: Refusal) -> Refusal:
    """A lone surrogate makes the server fail."""
    return replace(refusal, status=500, type="internal_error") if "\\ud" in said(context) else refusal


@fault("nul-as-500", "problems", modes=(JSON,), caught_by=_EXTREME)
def nul_as_500(context: Context, problems: Problems) -> Problems:
    """U+0000 in a text makes the server fail."""
    if "\\u0000" in said(context):
        raise failure()
    return problems


@fault("oversized-accepted", "problems", modes=(JSON,), caught_by=_OVERSIZED)
def oversized_accepted(_: Context, problems: Problems) -> Problems:
    """A prompt that exceeds the context window is cut off in silence and answered."""
    return forgiven_kind(problems, "context-exceeded")


@fault("oversized-as-500", "problems", modes=(JSON,), caught_by=_OVERSIZED, seen=("kserve/kserve#3886",))
def oversized_as_500(_: Context, problems: Problems) -> Problems:
    """A prompt that exceeds the context window makes the server fail."""
    if any(problem.kind == "context-exceeded" for problem in problems):
        raise failure()
    return problems


@fault("oversized-body-as-500", "admission", on=(MESSAGES,), modes=(JSON,), caught_by=_OVERSIZED)
def oversized_body_as_500(context: Context, refusal: Refusal | None) -> Refusal | None:
    """A body of several mebibytes gets HTTP 500 before it is read."""
    if len(context.raw) > 4 * _MIB:
        raise failure()
    return refusal
