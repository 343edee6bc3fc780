"""Settings of the whole suite."""

from __future__ import annotations

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


def pytest_configure(config):
    """The suite's marks, since tests look at the probes as plain functions."""
    for mark, words in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {words}")
