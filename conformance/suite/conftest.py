"""Keeps the suite out of pytest runs that did not ask for it, where its fixtures and its target are missing."""

from __future__ import annotations

import pytest


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Collect nothing here unless the plugin proper is at work."""
    return None if config.pluginmanager.has_plugin("conformance.plugin.active") else True
