"""Files that are no evidence are refused by name and reason."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import pytest

from conformance.evidence import Unreadable, files, open_file, parse, read
from conformance.reports.runfile import FORMAT


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty: the file has 0 bytes"),
        (b" \n\n", "empty: the file has no content"),
        (b"<!doctype html>", "no JSON at byte 0"),
        (b"\x89PNG\r\n\x1a\n", "no text at byte 0"),
        (b"\xff\xfe\x00", "no text at byte"),
        (b'{"openapi": "3.1.0"}', "JSON lines that are no exchanges: no request and response at the places"),
        (b'{\n"openapi": "3.1.0"}', "JSON without a log object or interactions; expected a HAR file, a vcrpy"),
        (b"[]", "JSON without a log object"),
        (b"null", "JSON without a log object"),
        (b'{"a": 1}\n{"a": 2}', "--map says where they are; expected a HAR file"),
    ],
)
def test_foreign_content_is_refused(data, reason):
    with pytest.raises(Unreadable, match=reason):
        parse(data, "x")


def test_a_run_file_is_told_from_a_journal(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text(f'{{"format":"{FORMAT}","version":1,"run":{{}}}}\n', "utf-8")
    assert files.is_run_file(path)
    with pytest.raises(Unreadable, match="its exchanges are in the journal"):
        read(path)


@pytest.mark.parametrize(
    ("name", "reason"), [("absent.har", "no such file"), (".", "a directory"), ("a\0b", "no such")]
)
def test_what_is_no_file_is_refused(tmp_path, monkeypatch, name, reason):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Unreadable, match=reason):
        read(name)


def test_a_pipe_in_the_file_system_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unreadable, match="no regular file"):
        read(tmp_path / "pipe")


def test_a_file_that_is_too_large_is_refused_without_reading_it_whole(monkeypatch):
    monkeypatch.setattr(files, "LARGEST", 100)
    monkeypatch.setattr(files, "PART", 10)

    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return b" " * size

    with pytest.raises(Unreadable, match="larger than"):
        files._bounded(Endless(), "x")


def test_a_device_that_fails_while_it_is_read_is_named(monkeypatch, tmp_path):
    class Failing(io.BytesIO):
        def read(self, *_: object) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "a.har"
    path.write_text("{}", "utf-8")
    monkeypatch.setattr(Path, "open", lambda *_: Failing())
    for reading in (read, open_file):
        with pytest.raises(Unreadable, match="Input/output error"):
            reading(path)


def test_a_closed_standard_input_is_named(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(Unreadable, match="standard input is closed"):
        read("-")
