"""Options that several commands share, and values that name the nearest valid one when they are mistyped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from conformance import models
from conformance.values import Basis, Protocol

if TYPE_CHECKING:
    _ParamType = click.ParamType[str]
else:
    _ParamType = click.ParamType  # not generic at run time in every release of click


class OneOf(_ParamType):
    """One of a few words; ``convert`` may map other spellings to one of them."""

    def __init__(self, kind: str, values: Sequence[str], *, read: Callable[[str], str | None] | None = None) -> None:
        self.name = kind
        self.values = tuple(values)
        self._read = read or (lambda text: text if text in self.values else None)

    def get_metavar(
        self,
        param: click.Parameter,  # noqa: ARG002 (the signature is click's)
        ctx: click.Context | None = None,  # noqa: ARG002 (likewise)
    ) -> str | None:
        """The values, as the help shows them."""
        return f"[{'|'.join(self.values)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The valid value, or a usage error that names the nearest one."""
        found = self._read(str(value))
        if found is None:
            close = get_close_matches(str(value).lower(), self.values, n=1)
            hint = f"Did you mean {close[0]}?" if close else f"Expected one of {', '.join(self.values)}."
            self.fail(f"{str(value)[:80]!r} is no {self.name}. {hint}", param, ctx)
        return found


PROTOCOL = OneOf("protocol", [protocol.value for protocol in Protocol])
MODEL = OneOf("model", models.ALL, read=models.canonical)
BASIS = OneOf("basis", [basis.value for basis in Basis])
FORMAT = OneOf("format", ("text", "json"))

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def protocol_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--protocol``, which may be given more than once."""
    return click.option("--protocol", "protocols", type=PROTOCOL, multiple=True, help="Only this surface; repeatable.")(
        function
    )


def model_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--model``, which may be given more than once."""
    return click.option("--model", "models", type=MODEL, multiple=True, help="Only this model; repeatable.")(function)


def format_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--format text|json``."""
    return click.option(
        "--format", "output", type=FORMAT, default="text", show_default=True, help="What standard output is for."
    )(function)
