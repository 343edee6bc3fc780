"""A folder of cassettes, recorded from one target with one seed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import conformance
from conformance.evidence import Unreadable, beside
from conformance.recording.cassette import Cassette, Provenance, load, name_of, provenance_of
from conformance.redact import address
from conformance.values import Protocol

DEFAULT = "cassettes"
_PACKAGE = Path(conformance.__file__).parent


def committed() -> Path:
    """The set that comes with the package: inside it when installed from a wheel, beside it in a checkout."""
    inside = _PACKAGE / "_data" / DEFAULT
    return inside if inside.is_dir() else _PACKAGE.parent / DEFAULT


def _run(row: Provenance) -> str:
    return f"{address(row.target)} with seed {row.seed} and profile {row.profile}"


class Mixed(Exception):
    """The cassettes of a folder are not of one target, seed and profile; the message says which differ."""


class Library:
    """The cassettes below a folder, read when they are needed."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._last: tuple[Path, Cassette] | None = None  # whoever plays a probe asks for its cassette step by step

    def paths(self) -> Iterator[Path]:
        """Every cassette, in order of surface and name."""
        for protocol in Protocol:
            yield from sorted((self.folder / protocol.value).glob("*.yaml"))

    def strays(self) -> Iterator[Path]:
        """Files beside cassettes that are there no more; files of others are none."""
        for protocol in Protocol:
            for path in sorted((self.folder / protocol.value).glob("*.jsonl")):
                if path.is_file() and not path.with_suffix(".yaml").exists() and beside.is_one(path):
                    yield path

    @cached_property
    def provenances(self) -> dict[Path, Provenance]:
        """Where each cassette comes from. Raises ``Unreadable``."""
        return {path: provenance_of(path) for path in self.paths()}

    def provenance(self) -> Provenance | None:
        """What all cassettes have in common, as the latest of them says it; None for an empty folder.

        Raises ``Unreadable``, and ``Mixed`` where they come from different targets, seeds or profiles.
        """
        rows = self.provenances
        if not rows:
            return None
        first_path, first = next(iter(rows.items()))
        for path, row in rows.items():
            if _run(row) != _run(first):
                raise Mixed(f"{first_path} was recorded from {_run(first)}, {path} from {_run(row)}")
        return max(rows.values(), key=lambda row: row.recorded)

    def find(self, probe: str, protocol: Protocol, model: str) -> Cassette | None:
        """The cassette of a probe; None where there is none. Raises ``Unreadable``."""
        path = self.folder / name_of(probe, protocol, model)
        if self._last is None or self._last[0] != path:
            if not path.is_file():
                return None
            found = load(path)
            row = found.provenance
            if (row.probe, row.protocol, row.model) != (probe, protocol, model):
                raise Unreadable(str(path), f"it says that it is of {row.probe}/{row.protocol}/{row.model}")
            self._last = path, found
        return self._last[1]

    def remove(self, path: Path) -> None:
        """Delete a cassette with what lies beside it, or a stray. Raises ``OSError``."""
        path.unlink(missing_ok=True)
        if path.suffix == ".yaml":
            beside.path_of(path).unlink(missing_ok=True)
