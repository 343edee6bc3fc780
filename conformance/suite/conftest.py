"""Loads the plugin, so that ``pytest --pyargs conformance.suite`` needs no other option."""

pytest_plugins = ("conformance.plugin",)
