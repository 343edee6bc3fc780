"""Plain answers: short ones in both modes, the default limit, texts to repeat, long streams."""

from __future__ import annotations

from conformance.probes.cell import CEILING, Cell
from conformance.probes.script import Place, Script
from conformance.values import Intent, Protocol

SHORT = "Reply with OK."
REPEAT = "Repeat this exactly, with nothing before or after: "
SCRIPTS = "漢字かな交じり文、한국어 문장, עברית, العربية, ไทย, ñandú — 😀👩‍👩‍👧‍👦🏳️‍🌈𝒳𠮷"


def short(cell: Cell) -> Script:
    """A short answer, whole and streamed."""
    for body in cell.both(cell.body(SHORT)):
        yield cell.ask(body)


def again(cell: Cell) -> Script:
    """The same request sent twice in each mode."""
    for body in cell.both(cell.body("Reply with exactly: once more")):
        yield cell.ask(body)
        yield cell.ask(body)


def default_limit(cell: Cell) -> Script:
    """An answer to a request that sets no limit, where the surface has a default."""
    if cell.protocol is not Protocol.MESSAGES:
        for body in cell.both(cell.body("Reply with exactly: no limit", limit=None)):
            yield cell.ask(body, ceiling=CEILING)


def echo(cell: Cell) -> Script:
    """Text of many scripts, with characters of two to four bytes and joined emoji, repeated in both modes."""
    for body in cell.both(cell.body(REPEAT + SCRIPTS)):
        yield cell.ask(body, Intent.REPEAT)


def long(cell: Cell) -> Script:
    """An answer of a few hundred tokens, in both modes."""
    for body in cell.both(cell.body("Count from 1 to 120, separated by spaces.")):
        yield cell.ask(body)


def reported_usage(cell: Cell) -> Script:
    """A stream that asks for its usage as OpenAI's clients do."""
    if cell.protocol is Protocol.CHAT:
        yield cell.ask(cell.body(SHORT, stream=True, stream_options={"include_usage": True}))


def surfaces(cell: Cell) -> Script:
    """One user message that all three surfaces get."""
    yield cell.ask(cell.body("Reply with exactly: one question, three surfaces"))


def faster(cell: Cell) -> Script:
    """The same streamed request three times, for the speeds of pro and highspeed."""
    body = cell.body("Write 120 words about tides.", stream=True)
    for _ in range(3):
        yield cell.ask(body)


def failing(cell: Cell) -> Script:
    """Streams that break off with an error, and on responses answers of status failed; a live target is not asked."""
    prompt = "Count from 1 to 30, separated by spaces. "
    broken = cell.body(prompt + "Fail in the middle of the stream.", stream=True)
    yield cell.ask(broken, place=Place.REHEARSED)
    if cell.protocol is Protocol.RESPONSES:
        for body in cell.both(cell.body(prompt + "End with the status failed.")):
            yield cell.ask(body, place=Place.REHEARSED)
