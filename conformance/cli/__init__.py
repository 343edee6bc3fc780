"""The command ``kimi-conformance``: a group whose commands are imported only when they are used."""

from conformance.cli.group import main

__all__ = ["main"]
