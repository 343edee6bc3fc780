"""Settings of the whole suite."""

from __future__ import annotations

from hypothesis import settings

from conformance.plugin.marks import MARKS

# A shared machine is slow at times; a deadline for each example would turn that into failures.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


def pytest_configure(config):
    """The suite's marks, since tests look at the probes as plain functions."""
    for mark, words in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {words}")
