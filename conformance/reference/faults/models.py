"""Faults in the name of the model, between the ordinary and the fast model, and in the alias of the limit."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.models import K31
from conformance.reference.encoding.frame import Event
from conformance.reference.faults.registry import CHAT, MESSAGES, STREAM, fault
from conformance.reference.faults.terms import LIMITS, forgiven, found, limit, sent
from conformance.reference.hooks import Context, Pause, Wire
from conformance.reference.problems import Problem
from conformance.reference.prompts import Prompt

Problems = list[Problem]
Body = dict[str, Any]
_ECHO = ("model.echoed",)
_SAME = ("model.highspeed.same-decisions",)
_TOKENS = ("request.max-tokens-alias",)
_HIGHSPEED = K31[1]


def _named(payload: Body, name: str) -> Body:
    """The payload with another model wherever it names one."""
    for holder in (payload, payload.get("message"), payload.get("response")):
        if isinstance(holder, dict) and "model" in holder:
            holder["model"] = name
    return payload


def _alias_alone(context: Context) -> bool:
    return "max_tokens" in (context.body or {}) and "max_completion_tokens" not in (context.body or {})


@fault("model-another", "payload", models=K31, caught_by=_ECHO, seen=("icebear0828/codex-proxy#660",))
def another(_: Context, payload: Body) -> Body:
    """An answer names another of the models."""
    return _named(payload, "kimi-k3")


@fault("model-empty", "payload", caught_by=_ECHO)
def empty(_: Context, payload: Body) -> Body:
    """An answer names an empty model."""
    return _named(payload, "")


@fault("model-of-upstream", "payload", caught_by=_ECHO, seen=("ggml-org/llama.cpp#11069",))
def upstream(_: Context, payload: Body) -> Body:
    """An answer names the model of the server behind the service."""
    return _named(payload, "gpt-3.5-turbo")


@fault("model-dated", "payload", caught_by=_ECHO)
def dated(context: Context, payload: Body) -> Body:
    """An answer spells the model with a date."""
    return _named(payload, f"{context.model}-20260115")


@fault("model-pro-for-highspeed", "payload", models=(_HIGHSPEED,), caught_by=_ECHO)
def pro_for_highspeed(context: Context, payload: Body) -> Body:
    """An answer of the fast model names the ordinary one."""
    return _named(payload, K31[0]) if context.model == _HIGHSPEED else payload


@fault("model-changes-in-stream", "events", on=(CHAT,), modes=(STREAM,), caught_by=_ECHO)
def changes_in_stream(_: Context, events: list[Event]) -> list[Event]:
    """The last chunk of a stream names another model than the chunks before it."""
    last = events[-2]
    data = last.data | {"model": "kimi-latest"} if isinstance(last.data, dict) else last.data
    return [*events[:-2], Event(name=last.name, data=data), *events[-1:]]


@fault("highspeed-refuses", "problems", models=(_HIGHSPEED,), caught_by=_SAME)
def highspeed_refuses(context: Context, problems: Problems) -> Problems:
    """The fast model refuses what the ordinary one accepts."""
    return found(problems, "not available", when=context.model == _HIGHSPEED)


@fault("highspeed-is-lenient", "problems", models=(_HIGHSPEED,), caught_by=_SAME)
def highspeed_is_lenient(context: Context, problems: Problems) -> Problems:
    """The fast model accepts an output limit of 0, the ordinary one does not."""
    lenient = context.model == _HIGHSPEED and limit(context) == 0
    return forgiven(problems, LIMITS[context.protocol]) if lenient else problems


@fault(
    "highspeed-without-cache-options",
    "problems",
    on=(CHAT, MESSAGES),
    models=(_HIGHSPEED,),
    caught_by=_SAME,
)
def highspeed_without_cache_options(context: Context, problems: Problems) -> Problems:
    """The fast model refuses a time to live for its cache."""
    options = sent(context, "prompt_cache_options") or sent(context, "cache_control")
    return found(problems, "caching is not available", when=context.model == _HIGHSPEED and options)


@fault(
    "highspeed-slower",
    "wire",
    modes=(STREAM,),
    models=(_HIGHSPEED,),
    caught_by=("model.highspeed.faster",),
    needs_socket=True,
)
def highspeed_slower(context: Context, wire: Wire) -> Wire:
    """The fast model is slower than the ordinary one."""
    slow = context.model == _HIGHSPEED
    return [part for chunk in wire for part in (chunk, Pause(0.001))] if slow else wire


@fault("max-tokens-alias-ignored", "prompt", on=(CHAT,), caught_by=_TOKENS, seen=("ikawrakow/ik_llama.cpp#2321",))
def alias_ignored(context: Context, prompt: Prompt) -> Prompt:
    """The field max_tokens alone limits nothing."""
    return replace(prompt, limit=8192) if _alias_alone(context) else prompt


@fault("max-tokens-alias-doubled", "prompt", on=(CHAT,), caught_by=_TOKENS)
def alias_doubled(context: Context, prompt: Prompt) -> Prompt:
    """The field max_tokens alone limits the text but not the reasoning before it."""
    return replace(prompt, limit=prompt.limit * 2) if _alias_alone(context) else prompt


@fault("max-tokens-alias-refused", "problems", on=(CHAT,), caught_by=_TOKENS)
def max_tokens_refused(context: Context, problems: Problems) -> Problems:
    """The field max_tokens alone is refused."""
    return found(problems, "use max_completion_tokens", when=_alias_alone(context))
