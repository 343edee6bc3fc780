"""``kimi-conformance.toml`` in the working folder: settings that commands share; flags and environment come first."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from conformance.models import ALL
from conformance.prices import Price

NAME = "kimi-conformance.toml"
LARGEST = 1024**2  # bytes
DEAREST = 1e9  # of whatever currency; a larger price is a mistake, as is one that is no number
KEYS = ("aliases", "prices")


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """What the file says; empty where there is none."""

    aliases: Mapping[str, str] = field(default_factory=dict)  # a gateway's name of a model to the documented id
    prices: Mapping[str, Price] = field(default_factory=dict)  # of a million tokens, by documented id


def configuration(folder: Path | None = None) -> Configuration:
    """Read the file. An unreadable one, or an unknown key, is a usage error that names the nearest valid one."""
    path = (folder or Path()) / NAME
    try:
        if not path.is_file():
            return Configuration()
        if path.stat().st_size > LARGEST:
            raise click.UsageError(f"{NAME} is larger than {LARGEST} bytes.")
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise click.UsageError(f"{NAME} cannot be read: {' '.join(str(error).split())[:200]}.") from None
    for key in document:
        if key not in KEYS:
            raise click.UsageError(f"{NAME}: {key[:80]!r} is no setting. {_hint(key, KEYS)}")
    return Configuration(
        aliases=_aliases(document.get("aliases", {})),
        prices=_prices(document.get("prices", {})),
    )


def _aliases(table: Any) -> dict[str, str]:
    if not isinstance(table, dict):
        raise click.UsageError(f'{NAME}: aliases is a table, as in [aliases] and "my-model" = "{ALL[0]}".')
    for name, model in table.items():
        if model not in ALL:
            shown = str(model)[:80]
            raise click.UsageError(f"{NAME}: aliases.{name[:80]}: {shown!r} is no model. {_hint(shown, ALL)}")
        if name in ALL and model != name:
            raise click.UsageError(f"{NAME}: aliases.{name}: a documented model cannot stand for another.")
    return dict(table)


def _prices(table: Any) -> dict[str, Price]:
    example = f'as in [prices."{ALL[0]}"] with input = 1.0 and output = 4.0'
    if not isinstance(table, dict) or not all(isinstance(row, dict) for row in table.values()):
        raise click.UsageError(f"{NAME}: prices has a table for each model, {example}.")
    found = {}
    for name, row in table.items():
        if name not in ALL:
            raise click.UsageError(f"{NAME}: prices.{name[:80]} is no model. {_hint(name, ALL)}")
        for key, value in row.items():
            if key not in Price.__struct_fields__:
                hint = _hint(key, Price.__struct_fields__)
                raise click.UsageError(f"{NAME}: prices.{name}.{key[:80]} is no setting. {hint}")
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < DEAREST:
                raise click.UsageError(f"{NAME}: prices.{name}.{key} is no price of a million tokens.")
        if not {"input", "output"} <= row.keys():
            raise click.UsageError(f"{NAME}: prices.{name} lacks input or output, {example}.")
        found[name] = Price(**row)
    return found


def _hint(word: str, words: Iterable[str]) -> str:
    words = tuple(words)
    close = get_close_matches(word.lower(), words, n=1)
    return f"Did you mean {close[0]}?" if close else f"Expected one of {', '.join(words)}."
