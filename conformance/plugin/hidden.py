"""Keys in what pytest shows of a probe that raised: hidden, on the terminal as in pytest's own JUnit file."""

from __future__ import annotations

import os
import re
from collections.abc import Generator

import pytest

from conformance.client.targets import DEFAULT_KEY_ENV
from conformance.redact import Secrets


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Hide keys in the arguments, the output and the log of a failure."""
    report = yield
    if report.failed:
        secrets = _secrets(item.config)
        shown = str(report.longrepr)
        clean = secrets.text(shown)
        if clean != shown:
            report.longrepr = clean
        report.sections = secrets.value(report.sections)
    return report


def _secrets(config: pytest.Config) -> Secrets:
    name = config.getoption("--kimi-key-env") or DEFAULT_KEY_ENV
    return Secrets((os.environ.get(name, "").strip(),), map(re.compile, config.getoption("--kimi-redact")))
