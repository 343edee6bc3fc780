"""The hook that the plugin adds to pytest."""

from __future__ import annotations

from conformance.plugin.result import Result


def pytest_kimi_finished(result: Result) -> None:
    """Called once when a run has been judged and its reports are written."""
