"""Rules chosen by patterns on the command line."""

from __future__ import annotations

from collections.abc import Iterable

import click

from conformance.rules import RULES, Rule
from conformance.rules.patterns import NoMatch, select


def chosen(patterns: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that the patterns match, all of them without a pattern; a usage error names the nearest valid ones."""
    patterns = tuple(patterns)
    if not patterns:
        return tuple(RULES.values())
    try:
        return tuple(RULES[name] for name in select(patterns, RULES))
    except NoMatch as error:
        hint = f"Nearest: {', '.join(error.nearest)}." if error.nearest else "kimi-conformance rules lists them."
        raise click.UsageError(f"No rule matches {error.pattern!r}. {hint}") from None
