"""The pytest plugin proper: the ``probe`` fixture, and one judgement at the end of the session.

The process that pytest was started in holds the target (and serves the embedded one), looks at it before anything is
sent, judges at the end and decides the exit code. Tests only make evidence; with xdist each worker keeps a journal of
its own, and the first process joins them in the suite's order.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import msgspec
import pytest

from conformance.client import Stopped
from conformance.garbage import seldom_collected
from conformance.plugin import hooks
from conformance.plugin.last_word import LastWord
from conformance.plugin.marks import MARKS, Probe
from conformance.plugin.session import WORKER_INPUT, Session, probe_of
from conformance.plugin.settings import Settings, from_options
from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.recording import Deviation

SESSION = "kimi-conformance-session"
LAST_WORD = "kimi-conformance-last-word"


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the hook that hands the result on."""
    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Check the options before anything is collected."""
    held_back = ExitStack()
    held_back.enter_context(seldom_collected())
    config.add_cleanup(held_back.close)
    for mark, words in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {words}")
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is None:
        session = Session(from_options(config), None, 1)
    else:
        settings = msgspec.json.decode(given[WORKER_INPUT], type=Settings)
        session = Session(settings, given["workerid"], given["workercount"])
    config.pluginmanager.register(session, SESSION)
    config.pluginmanager.register(LastWord(), LAST_WORD)


@pytest.fixture
def probe(request: pytest.FixtureRequest, cell: Cell) -> Probe:
    """Plays the script of a probe against the target, for the cell of the test."""
    session = request.config.pluginmanager.get_plugin(SESSION)
    name = probe_of(request.node)

    def play(script: Callable[[Cell], Script]) -> None:
        if session is None:
            pytest.fail("the plugin conformance.plugin is not configured")
        try:
            sent = session.ask(request.node, name, cell, script)
        except Stopped as reason:
            if session.worker is None:  # a worker of xdist that stops by itself would take the others with it
                request.session.shouldstop = str(reason)
            pytest.skip(str(reason))
        except Deviation as reason:
            if not reason.further:
                session.missed(request.node, str(reason))
            pytest.skip(str(reason))
        if not sent:
            pytest.skip("nothing to send here")

    return play
