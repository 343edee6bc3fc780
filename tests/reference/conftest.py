"""A reference server as an application, without a socket."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from reference_asking import Asker

from conformance.reference import app


class Clock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server() -> Iterator[Asker]:
    with Asker(app()) as asker:
        yield asker
