"""Conformance and contract tests for the Kimi API on its three surfaces.

``judge`` judges exchanges; ``ConformanceTransport`` and ``AsyncConformanceTransport`` record those of an httpx client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.judge import judge
    from conformance.transports import AsyncConformanceTransport, ConformanceTransport

__version__ = "0.1.0"
__all__ = ["AsyncConformanceTransport", "ConformanceTransport", "judge"]

_PLACES = {
    "AsyncConformanceTransport": "transports",
    "ConformanceTransport": "transports",
    "judge": "judge",
}


def __getattr__(name: str) -> Any:
    """A public name, from where it is defined; nothing is imported before it is asked for."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
