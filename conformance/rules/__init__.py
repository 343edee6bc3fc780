"""The rules: one file a topic, all of them registered on import."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from conformance.rules.registry import RULES, DuplicateRule, Inconclusive, Rule

for _module in sorted(found.name for found in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

__all__ = ["RULES", "DuplicateRule", "Inconclusive", "Rule"]
