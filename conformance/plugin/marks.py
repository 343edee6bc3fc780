"""How a probe of the suite says where it applies, which rules it is for, and whether a smoke run includes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from conformance.models import ALL
from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.rules import RULES
from conformance.rules.patterns import select
from conformance.values import Protocol

Probe = Callable[[Callable[[Cell], Script]], None]
"""What the fixture ``probe`` gives a test: it plays the script of a probe for the test's cell."""

MARKS = {
    "exercises(*patterns)": "the rules that the probe is for: with --kimi-rule, only probes of those rules run",
    "cells(protocols, models)": "the surfaces and models that the probe applies to (default: all)",
    "smoke(models)": "the probe is part of the smoke profile, for these models only (default: all)",
}


def exercises(*patterns: str) -> pytest.MarkDecorator:
    """Declare the rules that a probe is for, as patterns."""
    return pytest.mark.exercises(*patterns)


def cells(*, protocols: Sequence[Protocol] = tuple(Protocol), models: Sequence[str] = ALL) -> pytest.MarkDecorator:
    """Declare where a probe applies."""
    return pytest.mark.cells(protocols=protocols, models=models)


def smoke(*models: str) -> pytest.MarkDecorator:
    """Make a probe part of the smoke profile, for some models only where any are named."""
    return pytest.mark.smoke(*models)


def cells_of(function: pytest.Function) -> tuple[tuple[Protocol, str], ...]:
    """The surfaces and models of a probe, in order."""
    mark = function.get_closest_marker("cells")
    protocols = mark.kwargs["protocols"] if mark else tuple(Protocol)
    models = mark.kwargs["models"] if mark else ALL
    return tuple((protocol, model) for protocol in protocols for model in models)


def declared(item: pytest.Item) -> frozenset[str]:
    """The ids of the rules that a probe declares."""
    patterns = [pattern for mark in item.iter_markers("exercises") for pattern in mark.args]
    return frozenset(select(patterns, RULES)) if patterns else frozenset()


def in_smoke(item: pytest.Item, model: str) -> bool:
    """Whether a smoke run includes a probe for a model."""
    mark = item.get_closest_marker("smoke")
    return mark is not None and (not mark.args or model in mark.args)
