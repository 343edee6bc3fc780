"""Reading a file of evidence, whatever its format: the content decides, not the name."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from conformance.evidence import beside, broken, cassettes, curl, har, journal, large, logs
from conformance.evidence.fields import FieldMap
from conformance.evidence.large import Large
from conformance.evidence.pulling import names
from conformance.evidence.recording import LARGEST, Recording, Unreadable, opened
from conformance.evidence.scan_cassettes import JsonCassetteScan, YamlCassetteScan
from conformance.evidence.scan_curl import CurlScan
from conformance.evidence.scan_har import HarScan
from conformance.evidence.scan_lines import LineScan
from conformance.evidence.scanning import Scan, recording
from conformance.evidence.spool import Clean, Spool
from conformance.redact import redact

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
    clean: Clean = redact  # hides the credentials of what has to be kept outside memory


def read(path: str | Path, reading: Reading | None = None) -> Recording:
    """The recording in a file, ``-`` for standard input. Raises ``Unreadable`` for a broken, empty or foreign file."""
    name = str(path)
    if name == STDIN:
        return parse(_bounded(_standard_input(), name), name, reading)
    with opened(name) as file:
        data = _bounded(file, name)
    return parse(data, name, reading)


def open_file(path: str | Path, reading: Reading | None = None) -> Recording | Large:
    """As ``read``, in constant memory: what is too large to be judged at once is indexed, to be judged in windows."""
    name, reading = str(path), reading or Reading()
    if name == STDIN:
        return _piped(_standard_input(), reading)
    with opened(name) as file, _readable(name):
        size = file.seek(0, 2)
        file.seek(0)
        scan = None if size <= large.LARGE else scan_of(file.read(HEAD), name, reading)
        if scan is not None:
            file.seek(0)
            return _indexed(Large(name, scan), file)
    return read(name, reading)


def _piped(pipe: BinaryIO, reading: Reading) -> Recording | Large:
    """Standard input, of which no more is held than of a file: a spool takes what is too much."""
    with _readable(STDIN):
        start = pipe.read(large.LARGE + 1)
        scan = scan_of(start[:HEAD], STDIN, reading) if len(start) > large.LARGE else None
        if scan is None:
            return parse(start, STDIN, reading)
        file = io.BufferedReader(_Continued(start, pipe), PART)
        del start
        return _indexed(Large(STDIN, scan, Spool(reading.clean)), file)


def _indexed(found: Large, file: BinaryIO) -> Recording | Large:
    found.index(file)
    return found.whole() or found


class _Continued(io.RawIOBase):
    """A pipe whose beginning was read already."""

    def __init__(self, start: bytes, pipe: BinaryIO) -> None:
        self._start, self._pipe = io.BytesIO(start), pipe

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As many of the next bytes as there is room for."""
        part = self._start.read(len(buffer)) or self._pipe.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)


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


def scan_of(head: bytes, path: str, reading: Reading) -> Scan | None:
    """How a large file that begins so is read piece by piece; None for one that is foreign."""
    if journal.is_journal(head):
        return LineScan(path, "journal", reading.fields)
    if _holds_verdicts(head) or beside.is_beside(head):
        return None
    if curl.is_output(head):
        return CurlScan(path, reading.request)
    in_json = head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    if cassettes.is_cassette(head):
        return JsonCassetteScan(path) if in_json else YamlCassetteScan(path)
    if in_json and not _HAR.match(head) and (_is_log(head) if b"\n" in head.strip() else "log" not in names(head)):
        return LineScan(path, "jsonl", reading.fields)
    return HarScan(path) if in_json or head.startswith((b"\xff\xfe", b"\xfe\xff")) else None


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
        found = recording(path, LineScan(path, "journal", reading.fields), io.BytesIO(data))
        if not found.exchanges:
            raise Unreadable(path, "empty: the journal has no exchange")
        return found
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
        found = recording(path, LineScan(path, "jsonl", reading.fields), io.BytesIO(data))
        logs.refuse(path, len(found.exchanges), found.skipped)
        return found
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
