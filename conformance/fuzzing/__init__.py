"""Fuzzing: generated requests and conversations, sent and judged; what fails is shrunk and can be sent again."""

from __future__ import annotations

from conformance.fuzzing.bench import Bench
from conformance.fuzzing.hunt import Fuzzed, Order, fuzz
from conformance.fuzzing.replay import Replayed, replay

__all__ = ["Bench", "Fuzzed", "Order", "Replayed", "fuzz", "replay"]
