"""Proof that every rule bites: each fault of the reference server through the probes that should meet it."""

from __future__ import annotations

from conformance.selftest.matrix import Fate, Matrix, Trial
from conformance.selftest.runner import selftest

__all__ = ["Fate", "Matrix", "Trial", "selftest"]
