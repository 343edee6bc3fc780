"""What the documents show."""

from __future__ import annotations

from conformance.plugin.marks import Probe, exercises
from conformance.probes import documented


@exercises(
    "http.no-repeated-server-error",
    "media.image-accepted",
    "model.chat-features-accepted",
    "model.highspeed.same-decisions",
    "request.valid-accepted",
)
def test_documented_examples(probe: Probe) -> None:
    probe(documented.examples)


@exercises("request.forms-accepted", "request.forms-equal", "turn.string-equals-user-message")
def test_documented_forms(probe: Probe) -> None:
    probe(documented.forms)
