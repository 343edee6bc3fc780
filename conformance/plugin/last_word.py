"""The decision as pytest's very last line: below its own count, in which probes pass whatever the target answered."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from conformance.gate import Exit
from conformance.plugin.result import Result
from conformance.reports.safe import safe


class LastWord:
    """A plugin object that has the last word on the terminal."""

    def __init__(self) -> None:
        self._result: Result | None = None

    def pytest_kimi_finished(self, result: Result) -> None:
        """Catch the result."""
        self._result = result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        """Say the decision once everybody else, pytest's count included, has spoken."""
        outcome = yield
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and self._result is not None:
            decision = self._result.gate
            colour = "green" if decision.code is Exit.CONFORMING else "red"
            words = f"kimi-conformance: {decision.headline}: {safe(decision.reason)} (exit code {decision.code.value})"
            reporter.write_line(words, **{colour: True, "bold": True})
        return outcome
