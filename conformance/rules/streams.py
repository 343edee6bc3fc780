"""Event streams of any surface: framing, data, completeness, text and timing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.protocols.view import MISSING, Answer
from conformance.rules.payloads import DONE, brief, event_pointer, is_done, objects, sent, streamed, unfailed, words
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Inconclusive, cite, rule
from conformance.sse import Event, Fault, Problem, Stream
from conformance.values import Basis, Finding, Intent, Level, Over

FORMAT = {
    CHAT: cite("chat-all", "#/paths/~1v1~1chat~1completions/post/responses/200/content/text~1event-stream/schema"),
    MESSAGES: cite("messages-k31", "#/paths/~1v1~1messages/post/responses/200/content/text~1event-stream/schema"),
    RESPONSES: cite("responses", "When true, returns the response as an SSE stream."),
}
TERMINAL = {
    MESSAGES: frozenset({"message_stop"}),
    RESPONSES: frozenset({"response.completed", "response.incomplete", "response.failed"}),
}
_LOSSES = frozenset({Fault.INVALID_UTF8, Fault.UNKNOWN_FIELD, Fault.STRAY_LINE, Fault.LOST_AT_END})
_IGNORED = frozenset({Fault.NUL_IN_ID, Fault.BAD_RETRY})
_HALF = re.compile("[\ud800-\udfff]")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_BEYOND_LATIN = re.compile(r"[\u0100-\U0010ffff]{2,}")
_ABOUT_ENCODINGS = re.compile(r"mojibake|encod|utf-?8|latin-?1|replacement character|u\+fffd|编码|乱码", re.IGNORECASE)
_BUFFERED = 0.9  # of the whole time passes before the first event
_SHORTEST = 1000  # milliseconds: what is faster than this says nothing about buffering


@rule("stream.sse-framing", Level.MUST, Basis.PROTOCOL, over=Over.STREAM, source=FORMAT, when=streamed)
def framing_loses_nothing(answer: Answer) -> Findings:
    """A stream is UTF-8, a conforming parser delivers its every event, and no field is unknown to it."""
    stream = answer.stream
    if stream is None:
        return
    found: dict[Fault, list[Problem]] = {}
    cut = stream.pending.start if stream.pending is not None and answer.broken is not None else stream.size
    for problem in stream.problems:
        if problem.offset < cut:
            found.setdefault(problem.kind, []).append(problem)
    for kind, problems in found.items():
        if kind is Fault.LOST_AT_END and _is_empty(stream.pending):
            continue
        if kind in _LOSSES or kind in _IGNORED:
            more = f" (and {len(problems) - 1} more like it)" if len(problems) > 1 else ""
            yield Finding(
                message=problems[0].message + more,
                pointer=event_pointer(_number_at(stream, problems[0].offset)),
                level=None if kind in _LOSSES else Level.INFO,
            )
    yield from _undelivered(answer, stream)


def _is_empty(pending: Event | None) -> bool:
    return pending is None or (pending.data is None and pending.name is None)


def _number_at(stream: Stream, offset: int) -> int:
    return next((event.number for event in stream.events if event.end > offset), len(stream.events))


def _undelivered(answer: Answer, stream: Stream) -> Iterator[Finding]:
    """Named blocks without data: a parser drops them, and the data after a stray blank line loses its name.

    Chat has no names to lose: there such a block only keeps the connection alive.
    """
    lost = [event for event in stream.undispatched if event.name]
    if not lost:
        return
    nameless = {event.number for event in stream.events if event.name is None and answer.protocol is not CHAT}
    harmful = [event for event in lost if event.number in nameless or _is_own(answer, words(event.name))]
    first = (harmful or lost)[0]
    yield Finding(
        message=f"{len(lost)} blocks have an event name and no data, so that a parser delivers none of them",
        pointer=event_pointer(first.number),
        actual=brief(first.name),
        level=None if harmful else Level.INFO,
    )


def _is_own(answer: Answer, name: str) -> bool:
    """Whether the surface has events of this name that carry something."""
    return answer.protocol is not CHAT and name.startswith(("message_", "content_block_", "response.", "error"))


@rule(
    "stream.data-json",
    Level.MUST,
    Basis.DOCUMENTED,
    over=Over.STREAM,
    source={
        CHAT: cite("chat-all", "SSE data in OpenAI Chat Completions format"),
        MESSAGES: cite("messages-k31", "The event sequence typically includes"),
        RESPONSES: FORMAT[RESPONSES],
    },
    when=lambda answer: streamed(answer) and bool(answer.events),
    applies="an event with data",
)
def data_is_json(answer: Answer) -> Findings:
    """The data of each event is one JSON object; on chat the end mark [DONE] stands beside them."""
    last = len(answer.events) - 1
    for place, (event, data) in enumerate(sent(answer)):
        if isinstance(data, dict) or (is_done(event) and answer.protocol is CHAT):
            continue
        trailing = is_done(event) and place == last
        yield Finding(
            message="[DONE] ends a stream of a format that has no such mark"
            if trailing
            else "the data is no JSON object",
            pointer=event_pointer(event.number),
            expected="a JSON object",
            actual=brief(event.data if data is MISSING else data),
            level=Level.INFO if trailing else None,
        )
        if not trailing:
            return  # one names the fault: the others repeat it


@rule("stream.complete", Level.MUST, Basis.PROTOCOL, over=Over.STREAM, source=FORMAT, when=unfailed)
def terminal_event_arrives(answer: Answer) -> Findings:
    """A stream whose connection closed in order has brought its terminal event."""
    if _is_ended(answer):
        return
    if answer.broken is not None:
        raise Inconclusive(f"the transport broke off: {answer.broken}")
    expected = DONE if answer.protocol is CHAT else " or ".join(sorted(TERMINAL[answer.protocol]))
    yield Finding(
        message="the stream just ends, without its terminal event",
        pointer=event_pointer(max(len(answer.events) - 1, 0)),
        expected=expected,
        actual=brief(answer.events[-1].data) if answer.events else None,
    )


def _is_ended(answer: Answer) -> bool:
    if answer.protocol is CHAT:
        return any(is_done(event) for event in answer.events)
    return any(data.get("type") in TERMINAL[answer.protocol] for _, data in objects(answer) if _typed(data))


def _typed(data: dict[str, object]) -> bool:
    return isinstance(data.get("type"), str)


def _beyond_ascii(answer: Answer) -> bool:
    """A stream without an error that was asked for, or holds, characters outside ASCII."""
    return unfailed(answer) and (
        answer.intends(Intent.REPEAT) or any(map(_BEYOND_ASCII.search, (answer.asked.last_user, *_said(answer))))
    )


def _said(answer: Answer) -> tuple[str, ...]:
    """All that a stream says; on Responses the terminal event repeats what the deltas said before."""
    arguments = [text for call in answer.calls if isinstance(text := call.arguments, str)]
    deltas = [words(data.get("delta")) for _, data in objects(answer)] if answer.protocol is RESPONSES else []
    return (*answer.texts, *answer.reasonings, *arguments, "".join(deltas))


@rule("stream.utf8-intact", Level.MUST, Basis.PROTOCOL, over=Over.STREAM, source=FORMAT, when=_beyond_ascii)
def characters_arrive_whole(answer: Answer) -> Findings:
    """The joined text of a stream holds no U+FFFD, no half surrogate pair and no UTF-8 read as another encoding."""
    asked = answer.asked.prompt + answer.asked.last_user
    explains = _ABOUT_ENCODINGS.search(asked) is not None
    for text in _said(answer):
        healed = _joined_pairs(text)
        place = next((found.start() for found in _HALF.finditer(healed)), None)
        if place is not None:
            yield _broken("a half surrogate pair", healed, place)
        elif "\ufffd" in text and "\ufffd" not in asked and not explains:
            yield _broken("U+FFFD in place of a character", text, text.index("\ufffd"))
        elif healed != text:
            half = next(found.start() for found in _HALF.finditer(text))
            yield _broken("a surrogate pair is cut in two by the border of two deltas", text, half)
        elif not explains and (place := _misread(text, asked)) is not None:
            yield _broken("UTF-8 was read as another encoding", text, place)
        else:
            continue
        return


def _joined_pairs(text: str) -> str:
    """The text with each high surrogate and the low one after it joined; halves stay."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _misread(text: str, asked: str) -> int | None:
    """Where the text holds characters of the prompt as the bytes of their UTF-8, each taken for a character."""
    for run in _BEYOND_LATIN.findall(asked)[:20]:
        for encoding in ("latin-1", "cp1252"):
            garbled = run.encode("utf-8", "replace").decode(encoding, "replace")
            if garbled in text and garbled not in asked:
                return text.index(garbled)
    return None


def _broken(what: str, text: str, place: int) -> Finding:
    return Finding(message=f"the text is not intact: {what}", actual=ascii(text[max(place - 20, 0) : place + 20]))


def _timed(answer: Answer) -> bool:
    """A live stream of more than 20 events."""
    return answer.exchange.live and unfailed(answer) and len(answer.events) > 20


@rule("stream.not-buffered", Level.INFO, Basis.PROTOCOL, over=Over.STREAM, source=FORMAT, when=_timed)
def events_arrive_as_they_are_made(answer: Answer) -> Findings:
    """The events of a stream arrive one after the other, not all at once at the end."""
    first, last = answer.events[0].ms, answer.events[-1].ms
    if first is None or last is None:
        raise Inconclusive("the recording has no times")
    if last >= _SHORTEST and first >= _BUFFERED * last:
        yield Finding(
            message=f"the first of {len(answer.events)} events came after {first:.0f} ms of {last:.0f} ms",
            pointer=event_pointer(0),
            expected=f"at most {_BUFFERED:.0%} of the time before the first event",
            actual=f"{first / last:.0%}",
        )
