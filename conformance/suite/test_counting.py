"""Token counts that can be compared."""

from __future__ import annotations

from conformance.plugin.marks import Probe, cells, exercises
from conformance.probes import counting
from conformance.values import Protocol


@exercises("usage.prompt-monotonic")
def test_more_words(probe: Probe) -> None:
    probe(counting.more_words)


@exercises("request.forms-equal", "turn.string-equals-user-message")
def test_forms_of_the_same_words(probe: Probe) -> None:
    probe(counting.forms)


@exercises("media.image-accepted", "media.image-costs-tokens")
@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_image(probe: Probe) -> None:
    probe(counting.with_image)


@exercises("turn.history-counted")
def test_history_counted(probe: Probe) -> None:
    probe(counting.with_history)
