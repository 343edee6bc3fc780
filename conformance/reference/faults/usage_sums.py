"""Faults in the arithmetic of usage: totals, parts that exceed their whole, and counts that fit no text."""

from __future__ import annotations

from typing import Any

from conformance.models import CONTEXT_WINDOW, K3, K31
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, RESPONSES, fault
from conformance.reference.faults.usage import INPUT, OUTPUT
from conformance.reference.hooks import Context

_TOTAL, _REASONING, _CACHED = "usage.total-is-sum", "usage.reasoning-within-output", "usage.cached-within-input"
_CREATION, _CONTEXT, _SEARCHES = "usage.cache-creation-is-sum", "usage.within-context", "usage.search-counted"
_POSITIVE, _PLAUSIBLE = "usage.output-positive", "usage.output-plausible"
_REASONED = {
    CHAT: ("completion_tokens_details", "reasoning_tokens"),
    MESSAGES: ("output_tokens_details", "thinking_tokens"),
    RESPONSES: ("output_tokens_details", "reasoning_tokens"),
}
_READ = {CHAT: "prompt_tokens_details", RESPONSES: "input_tokens_details"}


@fault("usage-total-off-by-one", "usage", on=(CHAT, RESPONSES), caught_by=(_TOTAL,))
def total_off_by_one(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """total_tokens is one more than input plus output."""
    usage["total_tokens"] += 1
    return usage


@fault("usage-total-without-reasoning", "usage", on=(CHAT, RESPONSES), caught_by=(_TOTAL,))
def total_without_reasoning(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """total_tokens leaves the reasoning out."""
    outer, name = _REASONED[context.protocol]
    usage["total_tokens"] -= usage[outer][name]
    return usage


@fault("usage-total-counts-reasoning-twice", "usage", on=(CHAT, RESPONSES), caught_by=(_TOTAL,))
def total_counts_reasoning_twice(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """total_tokens adds the reasoning to an output that holds it already."""
    outer, name = _REASONED[context.protocol]
    usage["total_tokens"] += usage[outer][name]
    return usage


@fault("usage-total-without-cached", "usage", on=(CHAT, RESPONSES), caught_by=(_TOTAL,))
def total_without_cached(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """total_tokens leaves cache reads out, which shows in warm answers only."""
    usage["total_tokens"] -= usage[_READ[context.protocol]]["cached_tokens"]
    return usage


@fault("usage-total-missing", "usage", on=(CHAT, RESPONSES), caught_by=(_TOTAL,))
def total_missing(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """The usage has no total_tokens."""
    usage.pop("total_tokens")
    return usage


@fault("usage-total-is-output", "usage", on=(CHAT, RESPONSES), caught_by=(_TOTAL,))
def total_is_output(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """total_tokens repeats the output tokens."""
    return usage | {"total_tokens": usage[OUTPUT[context.protocol]]}


def _output(context: Context, usage: dict[str, Any], tokens: int) -> dict[str, Any]:
    """The usage with other output tokens, its total kept right."""
    name = OUTPUT[context.protocol]
    if "total_tokens" in usage:
        usage["total_tokens"] += tokens - usage[name]
    return usage | {name: tokens}


def _finished(context: Context, usage: dict[str, Any]) -> bool:
    """Whether it is the usage of the whole answer, and not that of message_start."""
    return _REASONED[context.protocol][0] in usage


@fault("usage-reasoning-over-output-by-one", "usage", caught_by=(_REASONING,))
def reasoning_over_output_by_one(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """There is one reasoning token more than output tokens."""
    outer, name = _REASONED[context.protocol]
    if _finished(context, usage):
        usage[outer][name] = usage[OUTPUT[context.protocol]] + 1
    return usage


@fault(
    "usage-output-without-reasoning",
    "usage",
    caught_by=(_REASONING,),
    seen=("BerriAI/litellm#24546", "router-for-me/CLIProxyAPI#5733"),
)
def output_without_reasoning(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Output tokens leave the reasoning out, while the detail has it."""
    if not _finished(context, usage):
        return usage
    outer, name = _REASONED[context.protocol]
    return _output(context, usage, usage[OUTPUT[context.protocol]] - usage[outer][name])


@fault("usage-cached-over-input-by-one", "usage", on=(CHAT, RESPONSES), caught_by=(_CACHED,))
def cached_over_input_by_one(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """There is one cached token more than input tokens."""
    usage[_READ[context.protocol]]["cached_tokens"] = usage[INPUT[context.protocol]] + 1
    return usage


@fault("usage-cached-beside-input", "usage", on=(CHAT, RESPONSES), caught_by=(_CACHED, "usage.prompt-stable"))
def cached_beside_input(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Input tokens leave cache reads out, as on Messages, while the detail has them."""
    cached = usage[_READ[context.protocol]]["cached_tokens"]
    usage["total_tokens"] -= cached
    usage[INPUT[context.protocol]] -= cached
    return usage


@fault("usage-writes-beside-input", "usage", on=(CHAT,), models=K31, caught_by=(_CACHED, "usage.prompt-stable"))
def writes_beside_input(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """prompt_tokens leaves cache writes out, while the detail has them."""
    written = usage["prompt_tokens_details"].get("cache_write_tokens", 0)
    usage["total_tokens"] -= written
    usage["prompt_tokens"] -= written
    return usage


@fault("usage-reads-counted-as-writes-too", "usage", on=(CHAT,), models=K31, caught_by=(_CACHED,))
def reads_counted_as_writes_too(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """What was read from the cache is reported as written as well."""
    details = usage["prompt_tokens_details"]
    details["cache_write_tokens"] = details.get("cache_write_tokens", 0) + details["cached_tokens"]
    return usage


@fault("usage-writes-split-on-k3", "usage", on=(CHAT,), models=K3, caught_by=("usage.k3.cache-write-not-split",))
def writes_split_on_k3(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """kimi-k3 reports all input that was not read from a cache as written to one."""
    details = usage["prompt_tokens_details"]
    return usage | {"prompt_tokens_details": details | {"cache_write_tokens": usage["prompt_tokens"]}}


@fault("usage-one-write-on-k3", "usage", on=(CHAT,), models=K3, caught_by=("usage.k3.cache-write-not-split",))
def one_write_on_k3(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """kimi-k3 reports one cache write."""
    return usage | {"prompt_tokens_details": usage["prompt_tokens_details"] | {"cache_write_tokens": 1}}


@fault("usage-creation-over-by-one", "usage", on=(MESSAGES,), caught_by=(_CREATION,))
def creation_over_by_one(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """The two TTL categories hold one token more than cache_creation_input_tokens."""
    usage["cache_creation"]["ephemeral_5m_input_tokens"] += 1
    return usage


@fault("usage-creation-in-both-categories", "usage", on=(MESSAGES,), models=K31, caught_by=(_CREATION,))
def creation_in_both_categories(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Each category holds all of the cache writes."""
    written = usage["cache_creation_input_tokens"]
    both = {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": written}
    return usage | {"cache_creation": both}


@fault("usage-creation-categories-zero", "usage", on=(MESSAGES,), models=K31, caught_by=(_CREATION,))
def creation_categories_zero(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Both TTL categories are always 0, whatever was written."""
    return usage | {"cache_creation": dict.fromkeys(usage["cache_creation"], 0)}


@fault("usage-creation-category-short-by-one", "usage", on=(MESSAGES,), models=K31, caught_by=(_CREATION,))
def creation_category_short_by_one(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """The TTL categories hold one token less than cache_creation_input_tokens."""
    parts = usage["cache_creation"]
    return usage | {"cache_creation": {name: max(0, count - 1) for name, count in parts.items()}}


@fault("usage-creation-total-missing", "usage", on=(MESSAGES,), models=K31, caught_by=(_CREATION,))
def creation_total_zero(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Writes stand in the TTL categories alone, and cache_creation_input_tokens is 0."""
    return usage | {"cache_creation_input_tokens": 0}


@fault("usage-beyond-context-by-one", "usage", caught_by=(_CONTEXT,))
def beyond_context_by_one(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Input and output are together one token more than the context window holds."""
    name = INPUT[context.protocol]
    more = CONTEXT_WINDOW + 1 - usage[OUTPUT[context.protocol]] - usage[name]
    for other in ("cache_creation_input_tokens", "cache_read_input_tokens"):
        more -= usage.get(other, 0)
    if "total_tokens" in usage:
        usage["total_tokens"] += more
    return usage | {name: usage[name] + more}


@fault("usage-input-of-whole-window", "usage", caught_by=(_CONTEXT,))
def input_of_whole_window(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Input tokens are the size of the context window, whatever was sent."""
    name = INPUT[context.protocol]
    if "total_tokens" in usage:
        usage["total_tokens"] += CONTEXT_WINDOW - usage[name]
    return usage | {name: CONTEXT_WINDOW}


@fault("usage-output-zero-after-call", "usage", caught_by=(_POSITIVE,))
def output_zero_after_call(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """An answer to a request with tools reports no output tokens."""
    tools = context.prompt is not None and bool(context.prompt.tools)
    return output_zero(context, usage) if tools else usage


@fault("usage-output-zero", "usage", caught_by=(_POSITIVE,), seen=("router-for-me/CLIProxyAPI#5733",))
def output_zero(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """An answer with text reports no output tokens."""
    if _finished(context, usage):
        outer, name = _REASONED[context.protocol]
        usage[outer][name] = 0
    return _output(context, usage, 0)


@fault("usage-output-one", "usage", caught_by=(_PLAUSIBLE,))
def output_one(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Every answer reports one output token."""
    if not _finished(context, usage):
        return usage
    outer, name = _REASONED[context.protocol]
    usage[outer][name] = min(usage[outer][name], 1)
    return _output(context, usage, 1)


@fault("usage-output-times-ten", "usage", caught_by=(_PLAUSIBLE,))
def output_times_ten(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Output tokens are ten times what the text can hold."""
    return _output(context, usage, usage[OUTPUT[context.protocol]] * 10)


@fault("usage-output-is-reasoning-alone", "usage", caught_by=(_PLAUSIBLE,))
def output_is_reasoning_alone(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Output tokens are those of the reasoning, and the text is not counted."""
    if not _finished(context, usage):
        return usage
    outer, name = _REASONED[context.protocol]
    return _output(context, usage, usage[outer][name])


@fault("usage-output-of-whole-limit", "usage", caught_by=(_PLAUSIBLE,))
def output_of_whole_limit(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Output tokens are the limit of the request, used or not."""
    prompt = context.prompt
    return _output(context, usage, prompt.limit) if prompt is not None and _finished(context, usage) else usage


@fault("usage-search-off-by-one", "usage", on=(MESSAGES,), caught_by=(_SEARCHES,))
def search_off_by_one(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """web_search_requests is one more than the searches in the answer, where there are some."""
    if usage.get("server_tool_use", {}).get("web_search_requests"):
        usage["server_tool_use"]["web_search_requests"] += 1
    return usage


@fault("usage-search-without-search", "usage", on=(MESSAGES,), caught_by=(_SEARCHES,))
def search_without_search(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """A request that offers web search is counted as a search, also where the answer has none."""
    offered = context.prompt is not None and context.prompt.search > 0
    if offered and "server_tool_use" in usage:
        usage["server_tool_use"]["web_search_requests"] = max(1, usage["server_tool_use"]["web_search_requests"])
    return usage


@fault("usage-search-uncounted", "usage", on=(MESSAGES,), caught_by=(_SEARCHES,))
def search_uncounted(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """web_search_requests is 0 in an answer with searches."""
    if "server_tool_use" in usage:
        usage["server_tool_use"]["web_search_requests"] = 0
    return usage


@fault("usage-searches-capped-at-one", "usage", on=(MESSAGES,), caught_by=(_SEARCHES,))
def searches_capped_at_one(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """However often an answer searched, one search is counted."""
    if "server_tool_use" in usage:
        usage["server_tool_use"]["web_search_requests"] = min(1, usage["server_tool_use"]["web_search_requests"])
    return usage


@fault("usage-search-left-out", "body", on=(MESSAGES,), modes=(JSON,), caught_by=(_SEARCHES,))
def search_left_out(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The usage has no server_tool_use in an answer that searched."""
    answer["usage"].pop("server_tool_use")
    return answer
