"""Faults in usage: counts that are missing, of the wrong type, or do not add up."""

from __future__ import annotations

from typing import Any

from conformance.reference.faults.registry import CHAT, RESPONSES, fault
from conformance.reference.hooks import Context


@fault("usage-total-off-by-one", "usage", on=(CHAT, RESPONSES), caught_by=("usage.total-is-sum",))
def total_off_by_one(_: Context, usage: dict[str, Any]) -> dict[str, Any]:
    """total_tokens is one more than input plus output."""
    usage["total_tokens"] += 1
    return usage
