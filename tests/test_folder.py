from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.plugin.folder import Folder, Taken

HOLDER = "import sys; from conformance.plugin.folder import Folder; Folder.claim('a/b'); print('held', flush=True); {0}"


def holder(folder: Path, then: str) -> subprocess.Popen[str]:
    """Another process that holds the folder a/b, and what it does then."""
    line = [sys.executable, "-c", HOLDER.format(then)]
    started = subprocess.Popen(line, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 (ours)
    assert started.stdout is not None
    assert started.stdout.readline() == "held\n"
    return started


def test_a_folder_that_stays_empty_is_gone_with_what_was_made_above_it(tmp_path: Path) -> None:
    folder = Folder.claim(tmp_path / "a" / "b")
    assert [path.name for path in folder.path.iterdir()] == [".lock"]
    folder.release()
    folder.release()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_there_or_holds_something_stays(tmp_path: Path) -> None:
    Folder.claim(tmp_path).release()
    folder = Folder.claim(tmp_path / "a" / "b")
    (folder.path / "report.html").touch()
    folder.release()
    assert [path.name for path in folder.path.iterdir()] == ["report.html"]


def test_a_folder_that_another_process_holds_is_taken_until_that_dies(tmp_path: Path) -> None:
    other = holder(tmp_path, "sys.stdin.read()")
    try:
        with pytest.raises(Taken, match=rf"another run \(process {other.pid}\) writes into .*a/b: wait until"):
            Folder.claim(tmp_path / "a" / "b")
    finally:
        other.kill()
        other.communicate()
    assert (tmp_path / "a" / "b" / ".lock").exists()
    Folder.claim(tmp_path / "a" / "b").release()
    assert (tmp_path / "a" / "b").exists()
    assert not (tmp_path / "a" / "b" / ".lock").exists()


def test_a_taken_folder_keeps_what_is_in_it(tmp_path: Path) -> None:
    mine = Folder.claim(tmp_path)
    part = tmp_path / ".journal-gw0.jsonl"
    part.touch()
    with pytest.raises(Taken, match=f"process {os.getpid()}"):
        Folder.claim(tmp_path)
    assert part.exists()
    mine.release()


def test_what_a_killed_run_left_is_cleared(tmp_path: Path) -> None:
    kept = [tmp_path / "journal.jsonl", tmp_path / "report.json"]
    left = (".journal-gw0.jsonl", ".journal-gw11.jsonl", ".journal.new", ".budget.sqlite", ".budget.sqlite-wal")
    for path in (*map(tmp_path.joinpath, left), *kept):
        path.touch()
    Folder.claim(tmp_path).release()
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_numbers_go_around_folders_that_are_there_or_held(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    second = Folder.claim_new(tmp_path / "out")
    third = Folder.claim_new(tmp_path / "out")
    assert [second.path.name, third.path.name] == ["out-2", "out-3"]
    for folder in (second, third):
        folder.release()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_of_that_name_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    for path in ("out", "out/below"):
        with pytest.raises(OSError, match=r"(?i)exists|not a directory"):
            Folder.claim(tmp_path / path)
