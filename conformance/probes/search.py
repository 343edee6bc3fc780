"""Web search: asked for, limited, forced, forbidden, and continued after."""

from __future__ import annotations

from typing import Any

from conformance.probes.cell import Cell
from conformance.probes.script import Script, attempt
from conformance.protocols import Answer
from conformance.values import Intent, Protocol

HOMEPAGE = "Use web search to find the official Kimi homepage URL."
ROUNDS = 4  # searches that a chat answer may ask for before the script gives up
TRIES = 3


def _body(cell: Cell, *, max_uses: int | None = None, **rest: Any) -> dict[str, Any]:
    return cell.body(rest.pop("user", HOMEPAGE), tools=[cell.builder.search(max_uses)], **rest)


def chat(cell: Cell) -> Script:
    """Search on chat: each call's arguments are sent back as its result until the answer comes; in both modes."""
    if cell.protocol is not Protocol.CHAT:
        return
    for body in cell.both(_body(cell)):
        yield from attempt(_searching(cell, body))


def _searching(cell: Cell, body: dict[str, Any]) -> Script:
    answer = yield cell.ask(body)
    for _ in range(ROUNDS):
        if not answer.client_calls:
            break
        body = cell.proceed(body, answer, {str(call.id): str(call.arguments) for call in answer.client_calls})
        answer = yield cell.ask(body, parent=answer)
    if answer.ok and not answer.client_calls:
        yield from _going_on(cell, body, answer)


def server(cell: Cell) -> Script:
    """The documented search of messages three times, then once streamed; each continued with its blocks unchanged."""
    if cell.protocol is not Protocol.MESSAGES:
        return
    plain, streamed = cell.both({**_body(cell, max_uses=1), "max_tokens": 1024})
    for body, intents in ((plain, (Intent.DOCUMENTED_SEARCH,)), (streamed, ())):
        answer = yield cell.ask(body, *intents)
        if answer.ok:
            yield from attempt(_going_on(cell, body, answer))
    for _ in range(TRIES - 1):
        yield cell.ask(plain, Intent.DOCUMENTED_SEARCH)


def _going_on(cell: Cell, body: dict[str, Any], answer: Answer) -> Script:
    yield cell.ask(cell.proceed(body, answer, "Reply with exactly: found"), parent=answer)


def several(cell: Cell) -> Script:
    """A question for more searches than max_uses allows, and one without a maximum."""
    if cell.protocol is not Protocol.MESSAGES:
        return
    question = "Use web search three times: for the capitals of Chad, of Peru and of Nepal."
    for max_uses in (1, 2, None):
        yield cell.ask(_body(cell, max_uses=max_uses, user=question, stream=max_uses == 2))


def forced(cell: Cell) -> Script:
    """Search as the only tool while a call is required, in both modes."""
    if cell.protocol is not Protocol.RESPONSES:
        for body in cell.both(_body(cell, choice=cell.builder.choice("required"))):
            yield cell.ask(body)


def unused(cell: Cell) -> Script:
    """Search offered for a question that needs none."""
    if cell.protocol is not Protocol.RESPONSES:
        for body in cell.both(_body(cell, user="Reply with OK.")):
            yield cell.ask(body)
