"""The pytest plugin's front: its options, and the rest only where the suite is what runs.

Installed as a pytest plugin it is loaded by every pytest run in the environment, so it imports nothing heavy. The suite
is what runs when it is named (``pytest --pyargs conformance.suite``) or when ``-p conformance.plugin`` asks for it.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.plugin.options import add_options

if TYPE_CHECKING:
    from conformance.plugin.fixture import Evidence

NAME = "conformance.plugin"
SUITE = "conformance.suite"
_FOLDER = Path(__file__).resolve().parents[1] / "suite"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, which cost nothing."""
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Bring in the plugin proper, which checks the options before anything is collected."""
    if NAME in config.option.plugins or any(map(_is_suite, config.args)):
        from conformance.plugin import active, hidden  # noqa: PLC0415 (other pytest runs must not pay for them)

        config.pluginmanager.register(active, "conformance.plugin.active")
        config.pluginmanager.register(hidden, "conformance.plugin.hidden")


@pytest.fixture
def kimi_conformance() -> Evidence:
    """Judges what the test's own client does by way of ``kimi_conformance.transport()``, and fails on must findings."""
    from conformance.plugin.fixture import Evidence  # noqa: PLC0415 (only where it is asked for)

    return Evidence()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Judge once the test has ended, as a part of it: a violation is a failure, not an error of a teardown."""
    result = yield
    evidence = getattr(item, "funcargs", {}).get("kimi_conformance")
    if evidence is not None:
        evidence.verify()
    return result


def is_whole(argument: str) -> bool:
    """Whether an argument of pytest names all of the suite."""
    return argument == SUITE or Path(argument).resolve() == _FOLDER


def _is_suite(argument: str) -> bool:
    place = argument.partition("::")[0]
    return place == SUITE or place.startswith(f"{SUITE}.") or _FOLDER in (path := Path(place).resolve(), *path.parents)
