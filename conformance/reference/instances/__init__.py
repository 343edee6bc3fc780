"""Deterministic instances of JSON Schemas, each checked against its schema before it is given out."""

from conformance.reference.instances.generator import Hints, Unsatisfiable, instance

__all__ = ["Hints", "Unsatisfiable", "instance"]
