"""Faults in how streams end and in how their characters and events arrive."""

from __future__ import annotations

import re

from msgspec.structs import replace

from conformance.reference.encoding.frame import Event
from conformance.reference.faults.edits import TERMINAL, Events, fragments, kind, streams
from conformance.reference.faults.registry import CHAT, MESSAGES, STREAM, fault
from conformance.reference.hooks import Context, Pause, Wire
from conformance.reference.results import Result

_ONLY = (STREAM,)
_COMPLETE = ("stream.complete",)
_INTACT = ("stream.utf8-intact",)
_LONG = 100  # events
_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")
_BEYOND_LATIN = re.compile("[\u0100-\uffff]")


def _is_end(event: Event) -> bool:
    return event.data == "[DONE]" or kind(event) in TERMINAL


@fault(
    "stream-terminal-event-missing",
    "events",
    modes=_ONLY,
    caught_by=("stream.complete", "stream.chat.done", "stream.messages.order", "stream.responses.order"),
    seen=("ikawrakow/ik_llama.cpp#467", "ggml-org/llama.cpp#9459", "tempoxyz/mpp#975"),
)
def terminal_missing(_: Context, events: Events) -> Events:
    """The stream ends without its terminal event."""
    return [event for event in events if not _is_end(event)]


@fault("stream-cut-in-text", "events", modes=_ONLY, caught_by=_COMPLETE)
def cut_in_text(_: Context, events: Events) -> Events:
    """The stream just stops halfway, as though that were its end."""
    return events[: len(events) // 2]


@fault("stream-cut-when-long", "events", modes=_ONLY, caught_by=_COMPLETE)
def cut_when_long(_: Context, events: Events) -> Events:
    """A stream stops after its hundredth event."""
    return events[:_LONG]


def _calls_tool(event: Event) -> bool:
    return (
        any(True for _ in fragments([event]))
        or kind(event) == "response.function_call_arguments.delta"
        or '"partial_json"' in str(event.data).replace("'", '"')
    )


@fault("stream-cut-in-call", "events", modes=_ONLY, caught_by=_COMPLETE)
def cut_in_call(_: Context, events: Events) -> Events:
    """A stream with a tool call stops within the arguments."""
    within = [place for place, event in enumerate(events) if _calls_tool(event)]
    return events[: within[len(within) // 2]] if within else events


@fault(
    "stream-buffered",
    "wire",
    modes=_ONLY,
    caught_by=("stream.not-buffered",),
    needs_socket=True,
    seen=("dstackai/dstack#4269", "BerriAI/litellm#29557"),
)
def buffered(context: Context, wire: Wire) -> Wire:
    """All events of a long stream come at once at its end."""
    if not streams(context) or len(wire) <= _LONG:
        return wire
    return [Pause(1.2), b"".join(part for part in wire if isinstance(part, bytes))]


@fault(
    "stream-emoji-replaced",
    "result",
    modes=_ONLY,
    caught_by=_INTACT,
    seen=("Luce-Org/lucebox#641",),
)
def emoji_replaced(_: Context, result: Result) -> Result:
    """Each emoji arrives as two replacement characters, since its bytes were decoded in two parts."""
    return replace(result, text=_BEYOND_BMP.sub("\ufffd\ufffd", result.text))


@fault(
    "stream-one-character-replaced",
    "result",
    modes=_ONLY,
    caught_by=_INTACT,
    seen=("farion1231/cc-switch#1923", "cnighswonger/claude-code-cache-fix#365"),
)
def one_replaced(_: Context, result: Result) -> Result:
    """One CJK character arrives as a replacement character, where two network reads met."""
    return replace(result, text=_BEYOND_LATIN.sub("\ufffd", result.text, count=1))


@fault("stream-read-as-latin", "result", modes=_ONLY, caught_by=_INTACT)
def read_as_latin(_: Context, result: Result) -> Result:
    """The UTF-8 bytes of the text were taken for Latin-1."""
    return replace(result, text=result.text.encode().decode("latin-1"))


def _escaped(character: bytes) -> tuple[bytes, bytes]:
    """The two halves of a surrogate pair as JSON escapes."""
    code = ord(character.decode()) - 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}".encode(), f"\\u{0xDC00 + (code & 0x3FF):04x}".encode()


_FOUR_BYTES = re.compile(rb"[\xf0-\xf4][\x80-\xbf]{3}")


@fault("stream-half-surrogates", "wire", modes=_ONLY, caught_by=_INTACT)
def half_surrogates(context: Context, wire: Wire) -> Wire:
    """Of each character beyond the basic plane only the first half of its surrogate pair arrives."""
    if not streams(context):
        return wire
    return [
        _FOUR_BYTES.sub(lambda found: _escaped(found[0])[0], part) if isinstance(part, bytes) else part for part in wire
    ]


@fault("stream-surrogates-in-two-deltas", "wire", on=(CHAT, MESSAGES), modes=_ONLY, caught_by=_INTACT)
def surrogates_apart(context: Context, wire: Wire) -> Wire:
    """The two halves of a surrogate pair come in two deltas."""
    found: Wire = []
    for part in wire:
        emoji = _FOUR_BYTES.search(part) if isinstance(part, bytes) and streams(context) else None
        if emoji is None or not isinstance(part, bytes):
            found.append(part)
        else:
            found += [part.replace(emoji[0], half) for half in _escaped(emoji[0])]
    return found
