"""The recordings in a folder and its subfolders."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from conformance.evidence import beside, cassettes
from conformance.evidence.files import is_run_file
from conformance.evidence.recording import Unreadable

LINES = (".jsonl", ".ndjson")
SUFFIXES = (".har", *LINES)
CASSETTES = (".yaml", ".yml", ".json")
DEEPEST = 16
"""Levels of folders that are looked into."""

MOST = 100_000
"""Files and folders, of whatever name, that a folder may have in all."""

_HEAD = 65_536  # bytes that tell what a file is


def recordings(folder: str) -> tuple[list[str], list[Unreadable]]:
    """The paths of the recordings below a folder, in order, and what of it could not be looked into.

    Hidden folders and links to folders are left out, and so are run files and what lies beside a cassette. A file that
    cannot be opened counts as a recording, so that it is named among those that cannot be read. Raises ``Unreadable``
    for a folder with more entries than ``MOST``.
    """
    found: list[str] = []
    refused: list[Unreadable] = []
    waiting = [(Path(folder), 1)]
    seen = 0
    while waiting:
        path, depth = waiting.pop()
        try:
            entries = sorted(islice(path.iterdir(), MOST + 1 - seen))
        except (OSError, ValueError) as error:
            refused.append(Unreadable(str(path), getattr(error, "strerror", None) or "no such folder"))
            continue
        seen += len(entries)
        if seen > MOST:
            raise Unreadable(folder, f"a directory with more than {MOST} entries; name the folders within it")
        found += [str(entry) for entry in entries if _is_recording(entry)]
        inner = [entry for entry in entries if _is_folder(entry)]
        if inner and depth == DEEPEST:
            refused.append(Unreadable(str(inner[0]), f"folders stand more than {DEEPEST} deep"))
        else:
            waiting += [(entry, depth + 1) for entry in inner]
    return sorted(found, key=lambda name: Path(name).parts), refused


def _is_folder(path: Path) -> bool:
    try:
        return not path.name.startswith(".") and not path.is_symlink() and path.is_dir()
    except OSError:
        return False


def _is_recording(path: Path) -> bool:
    """Whether a file of a folder is taken: by its name, and for YAML and JSON by its content."""
    suffix = path.suffix.lower()
    try:
        if suffix not in (*SUFFIXES, *CASSETTES) or not path.is_file():
            return False
        if suffix in SUFFIXES:
            return not is_run_file(path) and not (suffix in LINES and beside.belongs_to_a_cassette(path))
        with path.open("rb") as file:
            return cassettes.is_cassette(file.read(_HEAD))
    except OSError:
        return True
