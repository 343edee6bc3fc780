"""The run file: JSON Lines with a header, one verdict a line, and a footer; reports can be rendered from it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from conformance.values import Run, Verdict

FORMAT = "kimi-conformance/run"
VERSION = 1


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line."""

    format: str = FORMAT
    version: int = VERSION
    run: Run


class Footer(msgspec.Struct, frozen=True, kw_only=True):
    """The last line: without it the file is not whole."""

    verdicts: int
    counts: dict[str, int]


class EmptyRunFile(Exception):
    """The file holds nothing."""


class BrokenRunFile(Exception):
    """The file is no run file, or not a whole one; the message says where it breaks."""


def write_run(path: Path, run: Run, verdicts: tuple[Verdict, ...], counts: dict[str, int]) -> None:
    """Write a run file in one go, replacing an older one."""
    lines: list[object] = [Header(run=run), *verdicts, Footer(verdicts=len(verdicts), counts=counts)]
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def read_run(path: Path) -> tuple[Run, tuple[Verdict, ...], dict[str, int]]:
    """Read a run file back: the run, its verdicts and their counts.

    Raises ``EmptyRunFile`` or ``BrokenRunFile``, naming the file and the line.
    """
    lines = path.read_bytes().splitlines()
    if not lines:
        raise EmptyRunFile(f"{path}: empty; expected a run file (JSON Lines with a header)")
    header = _line(path, 1, lines[0], Header)
    if header.format != FORMAT or header.version != VERSION:
        raise BrokenRunFile(
            f"{path}: line 1: expected format {FORMAT} version {VERSION}, found {header.format} {header.version}"
        )
    if len(lines) < 2:
        raise BrokenRunFile(f"{path}: ends after the header; the run was not finished")
    footer = _line(path, len(lines), lines[-1], Footer)
    verdicts = tuple(_line(path, n, line, Verdict) for n, line in enumerate(lines[1:-1], start=2))
    if footer.verdicts != len(verdicts):
        raise BrokenRunFile(f"{path}: the footer counts {footer.verdicts} verdicts, the file holds {len(verdicts)}")
    return header.run, verdicts, footer.counts


def _line(path: Path, number: int, line: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BrokenRunFile(f"{path}: line {number}: expected a {kind.__name__.lower()}: {error}") from None
