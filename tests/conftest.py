"""Settings of the whole suite."""

from __future__ import annotations

from hypothesis import settings

# A shared machine is slow at times; a deadline for each example would turn that into failures.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
