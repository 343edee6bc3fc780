"""What a run would send and cost, known without sending: the scripts are played against the reference server."""

from __future__ import annotations

from conformance.planning.nightly import nightly
from conformance.planning.plan import Plan, plan
from conformance.planning.rehearsal import Rehearsed, rehearse
from conformance.planning.selection import Selection, select

__all__ = ["Plan", "Rehearsed", "Selection", "nightly", "plan", "rehearse", "select"]
