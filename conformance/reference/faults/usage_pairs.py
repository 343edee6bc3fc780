"""Faults in usage that only two answers side by side can show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.models import K31
from conformance.reference import tokens
from conformance.reference.encoding.frame import Event
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, RESPONSES, STREAM, fault
from conformance.reference.faults.usage import INPUT
from conformance.reference.hooks import Context
from conformance.reference.prompts import Text

_STABLE, _EXCLUSIVE = "usage.prompt-stable", "usage.input-exclusive"
_MORE, _MODES, _CACHE_MODES = "usage.prompt-monotonic", "usage.stream-equals-json", "usage.modes-agree-on-cache"
_READ = {CHAT: "prompt_tokens_details", RESPONSES: "input_tokens_details"}
Hook = Callable[[Context, dict[str, Any]], dict[str, Any]]


def _input(context: Context, usage: dict[str, Any], tokens: int) -> dict[str, Any]:
    """The usage with other ordinary input tokens, its total kept right."""
    name = INPUT[context.protocol]
    if "total_tokens" in usage:
        usage["total_tokens"] += tokens - usage[name]
    return usage | {name: tokens}


@fault("usage-input-drifts", "usage", caught_by=(_STABLE, _EXCLUSIVE), stateful=True)
def input_drifts() -> Hook:
    """The same request has one input token more each time that it is sent."""
    seen: dict[str, int] = {}

    def hook(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
        number = seen.setdefault(context.id, len(seen))
        return _input(context, usage, usage[INPUT[context.protocol]] + number)

    return hook


@fault("usage-input-holds-reads", "usage", on=(MESSAGES,), caught_by=(_EXCLUSIVE,), seen=("jundot/omlx#1487",))
def input_holds_reads(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """input_tokens holds cache reads as well, as prompt_tokens does on chat."""
    return _input(context, usage, usage["input_tokens"] + usage["cache_read_input_tokens"])


@fault(
    "usage-input-holds-writes", "usage", on=(MESSAGES,), models=K31, caught_by=(_EXCLUSIVE,), seen=("jundot/omlx#1487",)
)
def input_holds_writes(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """input_tokens holds cache writes as well."""
    return _input(context, usage, usage["input_tokens"] + usage["cache_creation_input_tokens"])


@fault("usage-reads-uncounted", "usage", on=(MESSAGES,), caught_by=(_EXCLUSIVE,))
def reads_uncounted(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Cache reads are in no category."""
    return usage | {"cache_read_input_tokens": 0}


@fault("usage-reads-short-by-one", "usage", on=(MESSAGES,), caught_by=(_EXCLUSIVE,))
def reads_short_by_one(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """A warm answer has lost one token between its categories."""
    return usage | {"cache_read_input_tokens": max(0, usage["cache_read_input_tokens"] - 1)}


@fault("usage-input-constant", "usage", caught_by=(_MORE,))
def input_constant(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Every request has 7 input tokens."""
    return _input(context, usage, 7)


@fault("usage-input-of-last-line", "usage", caught_by=(_MORE,))
def input_of_last_line(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Only the last line of the prompt is counted as input."""
    last = (context.prompt.messages[-1].parts if context.prompt is not None else ())[-1:]
    line = "".join(part.text for part in last if isinstance(part, Text)).rsplit("\n", 1)[-1]
    return _input(context, usage, tokens.count(line))


@fault("usage-input-counts-messages", "usage", caught_by=(_MORE,))
def input_counts_messages(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Input tokens are the number of messages."""
    return _input(context, usage, len(context.prompt.messages) if context.prompt is not None else 1)


@fault("usage-input-other-by-mode", "usage", caught_by=(_MODES,), seen=("BerriAI/litellm#1264",))
def input_other_by_mode(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """One mode counts an input token more than the other."""
    return _input(context, usage, usage[INPUT[context.protocol]] + 1)


@fault("usage-input-estimated", "usage", caught_by=(_MODES,))
def input_estimated(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """One mode has no counts of its own and guesses the input from the bytes of the request."""
    return _input(context, usage, len(context.raw) // 4 + 5)


@fault(
    "usage-input-zero-in-streams",
    "usage",
    modes=(STREAM,),
    caught_by=(_MODES,),
    seen=("chenyme/grok2api#612", "sgl-project/sglang#20678"),
)
def input_zero_in_streams(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Streams report no input tokens."""
    for name in ("cache_creation_input_tokens", "cache_read_input_tokens"):
        if name in usage:
            usage[name] = 0
    return _input(context, usage, 0)


@fault(
    "usage-delta-adds-the-start",
    "events",
    on=(MESSAGES,),
    modes=(STREAM,),
    caught_by=(_MODES, "stream.messages.usage"),
)
def delta_adds_the_start(_: Context, events: list[Event]) -> list[Event]:
    """The input tokens of message_delta are those of message_start once more on top."""
    for event in events:
        if event.name == "message_delta" and isinstance(event.data, dict):
            event.data["usage"]["input_tokens"] *= 2
    return events


def _unread(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """The usage with its cache reads counted as other input."""
    if context.protocol is MESSAGES:
        read = usage["cache_read_input_tokens"]
        return usage | {"cache_read_input_tokens": 0, "input_tokens": usage["input_tokens"] + read}
    return usage | {_READ[context.protocol]: usage[_READ[context.protocol]] | {"cached_tokens": 0}}


@fault("usage-no-reads-in-streams", "usage", on=(CHAT, MESSAGES), modes=(STREAM,), caught_by=(_CACHE_MODES,))
def no_reads_in_streams(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """Streams never report cache reads."""
    return _unread(context, usage)


@fault("usage-no-reads-in-json", "usage", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=(_CACHE_MODES,))
def no_reads_in_json(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """JSON answers never report cache reads."""
    return _unread(context, usage)


@fault("usage-counted-otherwise-here", "usage", modes=(JSON,), caught_by=("usage.same-across-protocols",))
def counted_otherwise_on_one_surface(context: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """One surface counts eleven tokens more than the others for the same message, always."""
    return _input(context, usage, usage[INPUT[context.protocol]] + 11) if INPUT[context.protocol] in usage else usage
