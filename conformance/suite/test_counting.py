"""Token counts that can be compared."""

from __future__ import annotations

from conformance.plugin import Probe, cells
from conformance.probes import counting
from conformance.values import Protocol


def test_more_words(probe: Probe) -> None:
    probe(counting.more_words)


def test_forms_of_the_same_words(probe: Probe) -> None:
    probe(counting.forms)


@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_image(probe: Probe) -> None:
    probe(counting.with_image)


def test_history_counted(probe: Probe) -> None:
    probe(counting.with_history)
