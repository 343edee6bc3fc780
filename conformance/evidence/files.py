"""Reading a file of evidence, whatever its format: the content decides, not the name."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from conformance.evidence import beside, broken, cassettes, curl, har, journal, large, logs
from conformance.evidence.fields import FieldMap
from conformance.evidence.large import LONGEST_LINE, Large, needs_windows, open_large
from conformance.evidence.recording import LARGEST, Recording, Unreadable

STDIN = "-"
PART = 8 * 1024**2  # bytes asked for at a time
HEAD = 65_536  # bytes that tell what a file is
RUN_FILE = b'"kimi-conformance/run"'  # the format that the header of a run file names
_HAR = re.compile(rb'(?:\xef\xbb\xbf)?\s*+\{\s*+"log"\s*+:')
EXPECTED = f"expected {logs.FORMS}"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What the caller knows of the files: where a log keeps its fields, and which file holds curl's request."""

    fields: FieldMap = field(default_factory=FieldMap)
    request: str | None = None


def read(path: str | Path, reading: Reading | None = None) -> Recording:
    """The recording in a file, ``-`` for standard input. Raises ``Unreadable`` for a broken, empty or foreign file."""
    name = str(path)
    if name == STDIN:
        return parse(_bounded(_standard_input(), name), name, reading)
    with _opened(name) as file:
        data = _bounded(file, name)
    return parse(data, name, reading)


def open_file(path: str | Path, reading: Reading | None = None) -> Recording | Large:
    """As ``read``; a large file of lines (a journal, a JSONL log) is indexed instead, to be judged in windows."""
    name = str(path)
    if name == STDIN:
        return read(name, reading)
    with _opened(name) as file, _readable(name):
        size = file.seek(0, 2)
        file.seek(0)
        head = file.read(HEAD)
        if size > large.LARGE and b"\n" not in head:
            head += file.readline(LONGEST_LINE)
        ours = journal.is_journal(head)
        lines = ours or (size > large.LARGE and not _holds_verdicts(head) and _is_log(head))
        windows = lines and needs_windows(file, size, is_journal=ours)
    if windows:
        return open_large(name, (reading or Reading()).fields)
    return read(name, reading)


def _standard_input() -> BinaryIO:
    if sys.stdin is None:  # the caller closed it
        raise Unreadable(STDIN, "standard input is closed")
    return sys.stdin.buffer


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """A device that fails while it is read is no fault of ours."""
    try:
        yield
    except OSError as error:
        raise Unreadable(name, error.strerror or str(error)) from None


def _opened(name: str) -> BinaryIO:
    try:
        if not Path(name).is_file():
            raise Unreadable(name, _absent(Path(name)))
        return Path(name).open("rb")
    except OSError as error:
        raise Unreadable(name, error.strerror or str(error)) from None
    except ValueError:
        raise Unreadable(name, "no such file") from None


def _absent(path: Path) -> str:
    if path.is_dir():
        return "a directory"
    return "no regular file" if path.exists() else "no such file"


def is_run_file(path: Path) -> bool:
    """Whether a file is a run's verdicts, which lie beside the run's journal."""
    with path.open("rb") as file:
        return _holds_verdicts(file.read(HEAD))


def _holds_verdicts(head: bytes) -> bool:
    return RUN_FILE in head.partition(b"\n")[0]


def _is_log(data: bytes) -> bool:
    """Whether the first line is one JSON object, and is neither a HAR file nor a cassette."""
    return not _HAR.match(data) and logs.is_log(data) and not cassettes.is_cassette(data)


def parse(data: bytes, path: str, reading: Reading | None = None) -> Recording:
    """The recording in the bytes of a file; ``path`` names it in findings and errors. Raises ``Unreadable``."""
    reading = reading or Reading()
    if not data.strip():
        raise Unreadable(path, "empty: the file has no content" if data else "empty: the file has 0 bytes")
    if journal.is_journal(data):
        recording = journal.parse(data, path)
        if not recording.exchanges:
            raise Unreadable(path, "empty: the journal has no exchange")
        return recording
    head = data[:HEAD]
    if _holds_verdicts(head):
        raise Unreadable(path, "a run file, which holds verdicts; its exchanges are in the journal beside it")
    if beside.is_beside(head):
        raise Unreadable(path, "what is kept beside a cassette; its exchanges are in the .yaml file of the same name")
    if curl.is_output(head):
        return curl.parse(data, path, reading.request)
    if cassettes.is_cassette(head):
        return cassettes.parse(data, path)
    if _is_log(data):
        return logs.parse(data, path, reading.fields)
    return _har(data, path)


def _har(data: bytes, path: str) -> Recording:
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and b'"log"' in data[:HEAD]:
            text = data[: error.start].decode("utf-16" if wide else "utf-8-sig")  # a cut inside a character
        elif b'"log"' in data[:HEAD]:
            raise Unreadable(path, f"a HAR file that is not in UTF-8 at byte {error.start}") from None
        else:
            raise Unreadable(path, f"no text at byte {error.start}; {EXPECTED}") from None
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        before = len(text[: error.pos].encode("utf-16-le" if wide else "utf-8", "surrogatepass"))
        offset = before + len(data) - len(text.encode("utf-16-le" if wide else "utf-8", "surrogatepass"))
        return _broken(text, error, offset, data, path)
    except RecursionError:
        raise Unreadable(path, "nested too deeply to be a HAR file") from None
    except ValueError as error:
        raise Unreadable(path, f"a HAR file whose JSON is broken ({str(error)[:120]})") from None
    if not isinstance(document, dict) or "log" not in document:
        raise Unreadable(path, f"JSON without a log object or interactions; {EXPECTED}")
    return har.parse(document, path)


def _broken(text: str, error: json.JSONDecodeError, offset: int, data: bytes, path: str) -> Recording:
    """The entries before a cut; an error for a file that is broken in its middle, or is foreign."""
    if '"log"' not in text[:HEAD]:
        raise Unreadable(path, f"no JSON at byte {offset}; {EXPECTED}")
    if not broken.ends_inside(text, error):
        raise Unreadable(path, f"a HAR file whose JSON is broken at byte {offset} ({error.msg})")
    items = broken.whole_items(text, "entries")
    if not items:
        raise Unreadable(path, f"a HAR file that is cut off: its JSON ends at byte {len(data)}, inside a value")
    many = "entry" if len(items) == 1 else "entries"
    cut = f"cut off at byte {len(data)}; {len(items)} whole {many} stand before it"
    creator = broken.creator(text)
    return har.parse({"log": {"creator": {"name": creator}, "entries": items}}, path, cut=cut)


def _bounded(file: BinaryIO, path: str) -> bytes:
    """What is left to read, asked for in parts, so that the bound costs no memory of its own."""
    parts: list[bytes] = []
    size = 0
    with _readable(path):
        while part := file.read(PART):
            size += len(part)
            if size > LARGEST:
                raise Unreadable(path, f"larger than {LARGEST // 1024**3} GiB; split the recording")
            parts.append(part)
    return b"".join(parts)
