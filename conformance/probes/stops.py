"""Stop sequences of messages: certain matches with a control, near misses, and the edges of size and number."""

from __future__ import annotations

from typing import Any

from conformance.probes.answers import REPEAT
from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.values import Intent, Protocol

TEXT = "alpha bravo charlie HALT-HERE delta echo foxtrot golf"
CJK_TEXT = "第一部分在前面，停止标记在此，第二部分在后面，最后的词语"
MATCHES = (
    (TEXT, ("HALT-HERE",)),
    (TEXT, ("never said", "HALT-HERE")),
    (CJK_TEXT, ("停止标记",)),
)
NEAR_MISSES = ("halt-here", "HALT-HERES")
ASCII_EDGE = "0123456789abcdef" * 2  # 32 bytes
CJK_EDGE = "停止标记停止标记停止"  # 30 bytes


def applies(cell: Cell) -> bool:
    """Whether the cell has stop sequences."""
    return cell.protocol is Protocol.MESSAGES and cell.row.stop_sequences


def matched(cell: Cell) -> Script:
    """A text to repeat that holds the sequence: first without stop sequences as the control, then with them."""
    if not applies(cell):
        return
    for text, sequences in MATCHES:
        body = cell.body(REPEAT + text)
        for mode in cell.both(body):
            yield cell.ask(mode, Intent.REPEAT, Intent.CONTROL)
        for mode in cell.both(_stopping(body, *sequences)):
            yield cell.ask(mode, Intent.REPEAT)


def near_misses(cell: Cell) -> Script:
    """Sequences that the text nearly holds, with two controls; every try twice in each mode."""
    if not applies(cell):
        return
    body = cell.body(REPEAT + TEXT + " hotel")
    for _ in range(2):
        yield cell.ask(body, Intent.REPEAT, Intent.CONTROL)
    for mode in cell.both(_stopping(body, *NEAR_MISSES)):
        for _ in range(2):
            yield cell.ask(mode, Intent.REPEAT)


def edges(cell: Cell) -> Script:
    """32 and 33 bytes in ASCII and in CJK; five and six sequences; in both modes."""
    if not applies(cell):
        return
    body = cell.body("Reply with OK.")
    accepted = ([ASCII_EDGE], [CJK_EDGE + "xy"], [f"stop {number}" for number in range(5)])
    refused = ([ASCII_EDGE + "0"], [CJK_EDGE + "止"], [f"stop {number}" for number in range(6)])
    for sequences in accepted:
        for mode in cell.both(_stopping(body, *sequences)):
            yield cell.ask(mode, Intent.VALID)
    for sequences in refused:
        for mode in cell.both(_stopping(body, *sequences)):
            yield cell.challenge(mode)


def _stopping(body: dict[str, Any], *sequences: str) -> dict[str, Any]:
    return {**body, "stop_sequences": list(sequences)}
