"""Conformance and contract tests for the Kimi API on its three surfaces."""

__version__ = "0.1.0"
