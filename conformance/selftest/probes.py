"""The probes of the suite as plain functions, with what they declare: found without a pytest session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import conformance.suite
from conformance.models import ALL
from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.rules import RULES
from conformance.rules.patterns import select
from conformance.values import Protocol

Play = Callable[[Callable[[Cell], Script]], None]


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One test of the suite."""

    name: str
    topic: str  # the name of its module
    run: Callable[[Play], None]
    protocols: Sequence[Protocol]
    models: Sequence[str]
    rules: frozenset[str]  # those that it declares
    smoke: Sequence[str] = ()  # the models for which a smoke run includes it

    def covers(self, protocol: Protocol, model: str) -> bool:
        """Whether it applies to a cell."""
        return protocol in self.protocols and model in self.models


@cache
def probes() -> tuple[Probe, ...]:
    """Every probe of the suite, in its order."""
    names = sorted(found.name for found in iter_modules(conformance.suite.__path__) if found.name.startswith("test_"))
    modules = [import_module(f"conformance.suite.{name}") for name in names]
    return tuple(
        _probe(module, function)
        for module in modules
        for name, function in vars(module).items()
        if name.startswith("test_") and callable(function)
    )


def _probe(module: ModuleType, function: Callable[..., None]) -> Probe:
    marks = [*_marks(module), *_marks(function)]
    cells: dict[str, Any] = next((mark.kwargs for mark in reversed(marks) if mark.name == "cells"), {})
    patterns = [pattern for mark in marks if mark.name == "exercises" for pattern in mark.args]
    return Probe(
        name=function.__name__.removeprefix("test_").replace("_", "-"),
        topic=module.__name__.rpartition(".test_")[2],
        run=function,
        protocols=cells.get("protocols", tuple(Protocol)),
        models=cells.get("models", ALL),
        rules=frozenset(select(patterns, RULES)) if patterns else frozenset(),
        smoke=next((mark.args or ALL for mark in marks if mark.name == "smoke"), ()),
    )


def _marks(holder: Any) -> list[Any]:
    marks = getattr(holder, "pytestmark", [])
    return list(marks) if isinstance(marks, list | tuple) else [marks]
