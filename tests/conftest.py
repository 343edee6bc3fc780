"""Settings of the whole suite."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import HealthCheck, settings

from conformance.generators.shrinking import BACKEND
from conformance.plugin.marks import MARKS

# Nothing is timed, since a shared machine is slow at times. The examples are the same everywhere, whatever other tests
# ran before; ``pytest --hypothesis-profile search`` draws new ones.
settings.register_profile(
    "search", deadline=None, database=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("suite", settings.get_profile("search"), derandomize=True, backend=BACKEND)
settings.load_profile("suite")

OUTSIDE = re.compile(
    r"(kimi|github|openai|anthropic)_\w+|pytest_(addopts|plugins)|pythonwarnings|(all|ftp|http|https|no)_proxy"
    r"|ssl_cert_(file|dir)|ci|columns|lines|no_color|force_color",
    re.IGNORECASE,
)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart():
    """Leave out what the machine around sets for other programs, and trace nothing."""
    for name in filter(OUTSIDE.fullmatch, list(os.environ)):
        del os.environ[name]
    os.environ["ANTHROPIC_OPEN_TELEMETRY"] = "false"


def pytest_configure(config):
    """The suite's marks, since tests look at the probes as plain functions."""
    for mark, words in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {words}")
