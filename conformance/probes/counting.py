"""Requests whose token counts can be compared: more words, another form of the same words, an image, a history."""

from __future__ import annotations

from conformance.probes.cell import Cell, texts, words
from conformance.probes.media import image_block
from conformance.probes.script import Script
from conformance.values import Protocol

TURN = 100  # words of an earlier turn


def more_words(cell: Cell) -> Script:
    """A short request, and the same with 200 words more, in both modes."""
    user = "Reply with exactly: counted"
    for text in (user, f"{words(200, 'more')}\n\n{user}"):
        for body in cell.both(cell.body(text)):
            yield cell.ask(body)


def forms(cell: Cell) -> Script:
    """The same words as a string and as one block: user content, and system on messages; input on responses."""
    user = "Reply with exactly: two forms"
    block = [{"type": "text", "text": user}]
    if cell.protocol is Protocol.RESPONSES:
        for body in cell.both(cell.body(user)):
            yield cell.ask(body)
            yield cell.challenge({**body, "input": texts([("user", user)])})
        return
    yield cell.ask(cell.body(user))
    yield cell.ask(cell.body(messages=[{"role": "user", "content": block}]))
    system: list[object] = ["Be brief and friendly.", [{"type": "text", "text": "Be brief and friendly."}]]
    if cell.protocol is Protocol.MESSAGES:
        for value in system:
            yield cell.ask(cell.body(user, system=value))


def with_image(cell: Cell) -> Script:
    """The same message without and with an image, in both modes."""
    if cell.protocol is Protocol.RESPONSES:
        return
    text = {"type": "text", "text": "Reply with exactly: seen"}
    for blocks in ([text], [text, image_block(cell, "square.png")]):
        for body in cell.both(cell.body(messages=[{"role": "user", "content": blocks}])):
            yield cell.ask(body)


def with_history(cell: Cell) -> Script:
    """A user message alone, and after three earlier turns of 100 words each, in both modes."""
    last = "Reply with exactly: remembered"
    turns: list[tuple[str, str]] = []
    for number in range(3):
        turns.append(("user", f"Remember these words: {words(TURN, f'user/{number}')}"))
        turns.append(("assistant", f"I remember: {words(TURN, f'assistant/{number}')}"))
    turns.append(("user", last))
    for messages in (texts(turns[-1:]), texts(turns)):
        for body in cell.both(cell.body(messages=messages)):
            yield cell.ask(body)
