"""The fault catalogue: one function a fault, one file a topic, all of them registered on import.

A fault makes the reference server break one promise, so that the rule for it can be seen to bite.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from conformance.reference.faults.registry import FAULTS, DuplicateFault, Fault
from conformance.reference.faults.stages import merged

for _module in sorted(found.name for found in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

__all__ = ["FAULTS", "DuplicateFault", "Fault", "merged"]
