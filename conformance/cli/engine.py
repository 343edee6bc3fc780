"""pytest as the engine of ``run``: in this process, without its own words, and apart from the settings around it."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest

import conformance.suite
from conformance.cli.interrupts import Interrupts
from conformance.cli.printable import coloured
from conformance.plugin.result import Result

SUITE = Path(conformance.suite.__file__).parent
STEPS = 10  # lines of progress where nobody watches a terminal
_SETTINGS = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")  # of the caller's own pytest


class EngineFailure(Exception):
    """pytest ended without a result: an error of ours."""


class UsageFailure(Exception):
    """pytest refused the options; the message says why."""


class Watcher:
    """A pytest plugin that shows progress on standard error and catches the result."""

    def __init__(self, interrupts: Interrupts) -> None:
        self.result: Result | None = None
        self.error: BaseException | None = None
        self._interrupts = interrupts
        self._total = self._done = 0
        self._bar: Any = None
        self._task: Any = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know how many probes there are."""
        self._begin(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Know it from a worker."""
        self._begin(len(ids))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a probe that is over."""
        if report.when != "teardown":
            return
        self._done += 1
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done)
        elif self._total and (self._done * STEPS) // self._total > ((self._done - 1) * STEPS) // self._total:
            click.echo(f"{self._done} of {self._total} probes", err=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, Any, Any]:
        """Put the bar away, and let no signal end what is done now."""
        self._interrupts.judging()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        ended = yield
        gc.freeze()  # as pytest ends, it looks through all that is left for garbage, several times
        return ended

    def pytest_kimi_finished(self, result: Result) -> None:
        """Catch the result."""
        self.result = result

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        """Keep the error; nothing is printed."""
        self.error = excinfo.value
        return True

    def _begin(self, total: int) -> None:
        if self._total or not total:
            return
        self._total = total
        if coloured(err=True):
            from rich.console import Console  # noqa: PLC0415 (only where somebody watches)
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

            columns = (TextColumn("probes"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("probes", total=total)
            self._bar.start()


def drive(options: Sequence[str], workers: str | None) -> Result:
    """Run the suite with these ``--kimi-…`` options.

    Raises ``UsageFailure``, ``EngineFailure``, and ``KeyboardInterrupt`` where a signal came before anything was sent.
    """
    interrupts = Interrupts()
    watcher = Watcher(interrupts)
    suite = str(SUITE)  # as a path: for a module's name pytest would load the conftest of the working directory
    arguments = [suite, "-c", str(SUITE / "pytest.ini"), "--rootdir", suite, "--confcutdir", suite]
    arguments += ["-s", "--assert=plain", "-p", "conformance.plugin"]
    for plugin in ("terminal", "cacheprovider", "junitxml"):
        arguments += ["-p", f"no:{plugin}"]
    if workers is not None:
        arguments += ["-p", "xdist.plugin", "-n", workers]
    try:
        with _alone(), interrupts.caught():
            code = pytest.main([*arguments, *options], plugins=[watcher])
    finally:
        gc.unfreeze()
    if watcher.result is not None:
        return watcher.result
    if code == pytest.ExitCode.USAGE_ERROR and watcher.error is None:
        raise UsageFailure
    if code == pytest.ExitCode.INTERRUPTED and watcher.error is None:
        raise KeyboardInterrupt
    message = f"the test runner ended with {int(code)}"
    if watcher.error is not None:
        message = f"{type(watcher.error).__name__}: {watcher.error}"
    raise EngineFailure(message) from watcher.error


@contextmanager
def _alone() -> Iterator[None]:
    """No plugin that happens to be installed, and no setting of the caller's pytest, has a part in the run."""
    before = {name: os.environ.pop(name, None) for name in _SETTINGS}
    before["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
