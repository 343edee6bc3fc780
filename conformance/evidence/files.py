"""Reading a file of evidence, whatever its format: the content decides, not the name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import BinaryIO

from conformance.evidence import har, journal
from conformance.evidence.recording import LARGEST, Recording, Unreadable

STDIN = "-"
PART = 8 * 1024**2  # bytes asked for at a time
HEAD = 4096  # bytes that tell what a file is
RUN_FILE = b'"kimi-conformance/run"'  # the format that the header of a run file names
SCRAP = 5  # characters of a number, literal or escape that a cut left unfinished


def read(path: str | Path) -> Recording:
    """The recording in a file, ``-`` for standard input. Raises ``Unreadable`` for a broken, empty or foreign file."""
    name = str(path)
    if name == STDIN:
        return parse(_bounded(sys.stdin.buffer, name), name)
    try:
        if not Path(name).is_file():
            raise Unreadable(name, _absent(Path(name)))
        with Path(name).open("rb") as file:
            data = _bounded(file, name)
    except OSError as error:
        raise Unreadable(name, error.strerror or str(error)) from None
    except ValueError:
        raise Unreadable(name, "no such file") from None
    return parse(data, name)


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


def parse(data: bytes, path: str) -> Recording:
    """The recording in the bytes of a file; ``path`` names it in findings and errors. Raises ``Unreadable``."""
    if not data.strip():
        raise Unreadable(path, "empty: the file has no content" if data else "empty: the file has 0 bytes")
    if journal.is_journal(data):
        recording = journal.parse(data, path)
        if not recording.exchanges:
            raise Unreadable(path, "empty: the journal has no exchange")
        return recording
    if _holds_verdicts(data[:HEAD]):
        raise Unreadable(path, "a run file, which holds verdicts; its exchanges are in the journal beside it")
    document = _json(data, path)
    if not isinstance(document, dict) or "log" not in document:
        raise Unreadable(path, "neither a HAR file nor a journal: JSON without a log object")
    return har.parse(document, path)


def _json(data: bytes, path: str) -> object:
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        if b'"log"' in data[:HEAD]:
            raise Unreadable(path, f"a HAR file that is not in UTF-8 at byte {error.start}") from None
        raise Unreadable(path, f"neither a HAR file nor a journal: no text at byte {error.start}") from None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        before = len(text[: error.pos].encode("utf-16-le" if wide else "utf-8", "surrogatepass"))
        offset = before + len(data) - len(text.encode("utf-16-le" if wide else "utf-8", "surrogatepass"))
        raise Unreadable(path, _broken(text, error, offset, len(data))) from None
    except RecursionError:
        raise Unreadable(path, "nested too deeply to be a HAR file") from None
    except ValueError as error:
        raise Unreadable(path, f"a HAR file whose JSON is broken ({str(error)[:120]})") from None


def _broken(text: str, error: json.JSONDecodeError, offset: int, size: int) -> str:
    if '"log"' not in text[:HEAD]:
        return f"neither a HAR file nor a journal: no JSON at byte {offset}"
    rest = text[error.pos :].strip()
    if error.msg.startswith("Unterminated string") or (len(rest) <= SCRAP and not rest.endswith("}")):
        return f"a HAR file that is cut off: its JSON ends at byte {size}, inside a value"
    return f"a HAR file whose JSON is broken at byte {offset} ({error.msg})"


def _bounded(file: BinaryIO, path: str) -> bytes:
    """What is left to read, asked for in parts, so that the bound costs no memory of its own."""
    parts: list[bytes] = []
    size = 0
    while part := file.read(PART):
        size += len(part)
        if size > LARGEST:
            raise Unreadable(path, f"larger than {LARGEST // 1024**3} GiB; split the recording")
        parts.append(part)
    return b"".join(parts)
