"""What the commands print: JSON that any reader takes, whatever came from the wire, and text for people."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Mapping
from enum import Enum
from itertools import islice
from math import isfinite
from typing import Any

import click
import msgspec

DEEPEST = 12  # levels of a value that came from the wire
LONGEST = 2_000  # characters of one string, items of one array or object
_LARGEST = 2**63  # beyond it, readers disagree about integers


def plain(value: object, depth: int = 0) -> Any:
    """A value as JSON can carry it: structs as objects, bounded in depth and length, odd numbers as words."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if not isinstance(value, Mapping | tuple | list | set | frozenset):
        return _scalar(value)
    if depth >= DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {str(key)[:LONGEST]: plain(item, depth + 1) for key, item in islice(value.items(), LONGEST)}
    return [plain(item, depth + 1) for item in islice(value, LONGEST)]


def _scalar(value: object) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -_LARGEST <= value <= _LARGEST else f"an integer of {value.bit_length()} bits"
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if value is None or isinstance(value, bool):
        return value
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def printed(document: msgspec.Struct) -> dict[str, Any]:
    """A document of ours as JSON: its schema first, its own lists whole, what stands in their entries bounded."""
    fields = msgspec.structs.asdict(document)
    ordered = {"schema": fields.pop("schema"), **fields}
    return {
        name: [plain(one) for one in value] if isinstance(value, tuple) else plain(value)
        for name, value in ordered.items()
    }


def dump(document: object) -> None:
    """Print one JSON document in ASCII: nothing in it can steer a terminal, and no reader can fail on its encoding."""
    click.echo(json.dumps(document, indent=1, ensure_ascii=True))


def coloured(*, err: bool = False) -> bool:
    """Whether people's text may be styled: on a terminal, and NO_COLOR is unset or empty."""
    stream = sys.stderr if err else sys.stdout
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, *, fg: str | None = None, bold: bool = False) -> str:
    """Text for standard output, styled where that is wanted."""
    return click.style(text, fg=fg, bold=bold or None) if coloured() else text


def width() -> int:
    """The columns that text may take: those of the terminal within reason, 80 where standard output is none."""
    return min(max(shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80, 40), 120)


def wrapped(text: str, indent: int = 0) -> str:
    """Text in lines of the terminal's width, each indented by this many columns; words stay whole."""
    return _filled(text, " " * indent, " " * indent)


def hanging(text: str) -> str:
    """Text in lines of the terminal's width, all but the first indented; words stay whole."""
    return _filled(text, "", "    ")


def _filled(text: str, first: str, others: str) -> str:
    return textwrap.fill(
        text, width(), initial_indent=first, subsequent_indent=others, break_on_hyphens=False, break_long_words=False
    )
