"""Faults in context caching: writes under the wrong TTL or unreported, and reads that are not or cannot be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from conformance.models import K31
from conformance.reference.faults.registry import CHAT, EVERY, JSON, MESSAGES, fault
from conformance.reference.hooks import Context
from conformance.reference.prompts import Prompt
from conformance.reference.results import Result

_TTL, _MARKER, _READ = "cache.ttl-category", "cache.block-marker-does-not-set-ttl", "cache.read-after-write"
_COLD, _WRITES = "cache.no-read-when-cold", "cache.chat-ttl-writes"
_5M, _1H = "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"


def _at_ttl(ttl: str, given: str, sentence: str) -> Callable[[Context, Prompt], Prompt]:
    def hook(_: Context, prompt: Prompt) -> Prompt:
        return replace(prompt, ttl=given) if prompt.ttl == ttl else prompt

    hook.__doc__ = sentence
    return hook


for _name, _old, _new, _sentence in (
    ("cache-1h-counted-as-5m", "1h", "5m", "A write with ttl 1h is counted as one of 5m."),
    ("cache-5m-counted-as-1h", "5m", "1h", "A write with ttl 5m is counted as one of 1h."),
):
    fault(_name, "prompt", on=(MESSAGES,), models=K31, caught_by=(_TTL,))(_at_ttl(_old, _new, _sentence))


@fault("cache-default-is-1h", "prompt", on=(MESSAGES,), models=K31, caught_by=(_TTL,))
def default_is_1h(context: Context, prompt: Prompt) -> Prompt:
    """Without cache_control, writes have the TTL 1h."""
    return prompt if (context.body or {}).get("cache_control") else replace(prompt, ttl="1h")


@fault("cache-one-token-in-other-ttl", "usage", on=(MESSAGES,), models=K31, caught_by=(_TTL,))
def one_token_in_other_ttl(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """One of the written tokens is counted under the other TTL."""
    parts = usage["cache_creation"]
    more, less = (_5M, _1H) if parts[_5M] else (_1H, _5M)
    if parts[more]:
        parts |= {more: parts[more] - 1, less: 1}
    return usage | {"cache_creation": parts}


@fault("cache-halved-between-ttls", "usage", on=(MESSAGES,), models=K31, caught_by=(_TTL,))
def halved_between_ttls(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Written tokens are shared out between both TTLs."""
    written = usage["cache_creation"][_5M] + usage["cache_creation"][_1H]
    return usage | {"cache_creation": {_5M: written // 2, _1H: written - written // 2}}


def _marker(context: Context) -> str | None:
    """The TTL that a marker within the request's blocks asks for; None without one."""
    for message in (context.body or {}).get("messages", []):
        for block in message["content"] if isinstance(message.get("content"), list) else []:
            control = block.get("cache_control")
            if isinstance(control, dict):
                return str(control.get("ttl", "5m"))
    return None


@fault("cache-marker-sets-ttl", "prompt", on=(MESSAGES,), models=K31, caught_by=(_MARKER,))
def marker_sets_ttl(context: Context, prompt: Prompt) -> Prompt:
    """A marker inside a block sets the TTL of what is written."""
    return replace(prompt, ttl=_marker(context) or prompt.ttl)


@fault("cache-marker-sets-default-ttl", "prompt", on=(MESSAGES,), modes=(JSON,), models=K31, caught_by=(_MARKER,))
def marker_sets_default_ttl(context: Context, prompt: Prompt) -> Prompt:
    """A marker inside a block sets the TTL where the top level has none."""
    top = (context.body or {}).get("cache_control")
    return prompt if top else replace(prompt, ttl=_marker(context) or prompt.ttl)


def _unread(result: Result) -> Result:
    """The result of a cache that forgets: what was read is written once more."""
    usage = result.usage
    return replace(result, usage=replace(usage, cached=0, written=usage.written + usage.cached))


@fault("cache-never-read", "result", on=(CHAT, MESSAGES), modes=(JSON,), models=K31, caught_by=(_READ,))
def never_read(_: Context, result: Result) -> Result:
    """A prompt is written to the cache each time, and never read."""
    return _unread(result)


@fault("cache-reads-reported-zero", "result", on=(CHAT, MESSAGES), modes=(JSON,), models=K31, caught_by=(_READ,))
def reads_reported_zero(_: Context, result: Result) -> Result:
    """Reads and writes are always reported as 0."""
    return replace(result, usage=replace(result.usage, cached=0, written=0))


@fault("cache-writes-unreported", "result", on=(CHAT, MESSAGES), modes=(JSON,), models=K31, caught_by=(_READ,))
def writes_unreported(_: Context, result: Result) -> Result:
    """Writes are always reported as 0, while reads are reported."""
    return replace(result, usage=replace(result.usage, written=0))


@fault(
    "cache-writes-unreported-by-default", "result", on=(CHAT, MESSAGES), modes=(JSON,), models=K31, caught_by=(_READ,)
)
def writes_unreported_by_default(context: Context, result: Result) -> Result:
    """Writes are reported only where the request sets a TTL."""
    body = context.body or {}
    if body.get("cache_control") or body.get("prompt_cache_options"):
        return result
    return replace(result, usage=replace(result.usage, written=0))


def _long(result: Result) -> bool:
    return result.usage.input > 1024


@fault("cache-read-when-cold", "result", on=EVERY, caught_by=(_COLD,))
def read_when_cold(_: Context, result: Result) -> Result:
    """A long prompt that was never sent before is reported as read from the cache."""
    usage = result.usage
    if not _long(result) or usage.cached:
        return result
    return replace(result, usage=replace(usage, cached=usage.input - 8, written=0))


@fault("cache-tenth-read-when-cold", "result", on=EVERY, caught_by=(_COLD,))
def tenth_read_when_cold(_: Context, result: Result) -> Result:
    """An eighth of a long prompt that was never sent before is reported as read."""
    usage = result.usage
    if not _long(result) or usage.cached:
        return result
    read = usage.input // 8
    return replace(result, usage=replace(usage, cached=read, written=max(0, usage.written - read)))


def _silent(ttl: str | None, sentence: str) -> Callable[[Context, Result], Result]:
    def hook(context: Context, result: Result) -> Result:
        options = (context.body or {}).get("prompt_cache_options")
        sent = options.get("ttl") if isinstance(options, dict) else None
        return replace(result, usage=replace(result.usage, written=0)) if sent == ttl else result

    hook.__doc__ = sentence
    return hook


for _what, _ttl, _sentence in (
    ("cache-chat-1h-never-written", "1h", "A chat request with ttl 1h reports no cache writes."),
    ("cache-chat-5m-never-written", "5m", "A chat request with ttl 5m reports no cache writes."),
    ("cache-chat-default-never-written", None, "A chat request without prompt_cache_options reports no cache writes."),
):
    fault(_what, "result", on=(CHAT,), modes=(JSON,), models=K31, caught_by=(_WRITES,))(_silent(_ttl, _sentence))
