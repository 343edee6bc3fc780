"""The command in a process of its own, and what it leaves."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from conformance.evidence import read
from conformance.values import Exchange


@dataclass(frozen=True, kw_only=True)
class Ran:
    code: int
    stdout: str
    stderr: str
    out: Path

    @property
    def report(self) -> dict[str, Any]:
        return msgspec.json.decode((self.out / "report.json").read_bytes())

    @functools.cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        return read(self.out / "journal.jsonl").exchanges


def command(*arguments: str, cwd: Path, **environment: str) -> Ran:
    """Run the command in a process of its own, without the caller's settings."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("KIMI_", "GITHUB_", "PYTEST_"))}
    ended = subprocess.run(  # noqa: S603 (our own command)
        [sys.executable, "-m", "conformance.cli", *arguments],
        cwd=cwd,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    return Ran(code=ended.returncode, stdout=ended.stdout, stderr=ended.stderr, out=cwd / "out")
