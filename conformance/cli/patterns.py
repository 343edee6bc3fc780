"""``--redact PATTERN``: what is hidden beside keys, in everything that a command writes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click


class Pattern(click.ParamType):  # type: ignore[type-arg]  # not generic at run time in every release of click
    """A regular expression that matches some text, but not the empty one."""

    name = "pattern"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> re.Pattern[str]:
        """The compiled pattern."""
        try:
            pattern = re.compile(str(value))
        except (re.error, OverflowError, RecursionError) as error:
            self.fail(f"{str(value)[:80]!r} is no regular expression: {error}.", param, ctx)
        if pattern.search(""):
            self.fail(f"{str(value)[:80]!r} matches the empty text, so it would match everywhere.", param, ctx)
        return pattern


def redact_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--redact``, which may be given more than once; the values are compiled patterns."""
    return click.option(
        "--redact", type=Pattern(), multiple=True, metavar="PATTERN", help="Hide what this matches; repeatable."
    )(function)
