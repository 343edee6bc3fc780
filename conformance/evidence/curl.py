"""The output of ``curl -i``, with the request that it answers.

One file holds the curl command and below it the output; or it holds the output alone, and ``--request FILE`` names a
file with the command or with the request's body.
"""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from conformance.evidence import entries
from conformance.evidence.logs import HOST
from conformance.evidence.recording import Recording, Unreadable
from conformance.redact import PLACEHOLDER
from conformance.values import Exchange, Failure, Request, Response

STATUS = re.compile(rb"HTTP/\d(?:\.\d)? (\d{3})(?: [^\r\n]*)?\r?\n")
COMMAND = re.compile(rb"\s*(?:[$%#>] )?curl\s")
LARGEST_REQUEST = 64 * 1024**2
PIECE = 1024**2  # bytes that are read at a time
LONGEST_VERSION = 40  # bytes that tell whether another head follows
_BODY = ("--data", "--data-raw", "--data-binary", "--data-ascii", "--json")
_SHORT = {"-X": "--request", "-H": "--header", "-u": "--user", "-d": "--data"}
_FLAGS = frozenset("isSkLvfNgG#")  # short options without a value
_LONG_FLAGS = re.compile(
    "--(?:include|silent|show-error|insecure|location|verbose|fail|fail-with-body|no-buffer|compressed|globoff|http.+)"
)
_INTERIM = 2  # heads before the last: 100 Continue, and a proxy's answer to CONNECT


def is_output(data: bytes) -> bool:
    """Whether a file begins as ``curl -i`` prints an answer, or with a curl command."""
    return bool(STATUS.match(data.lstrip()) or COMMAND.match(data))


def parse(data: bytes, path: str, sent: str | Path | None = None) -> Recording:
    """The one exchange of the output; ``sent`` is the file with its request. Raises ``Unreadable``."""
    result = exchange(io.BytesIO(data), path, sent)
    if isinstance(result, str):
        return Recording(path=path, format="curl", exchanges=(), skipped={result: 1})
    cut = result.failure.message if result.failure is not None else None
    return Recording(path=path, format="curl", exchanges=(result,), cut=cut)


def exchange(file: BinaryIO, path: str, sent: str | Path | None = None) -> Exchange | str:
    """As ``parse``, of a file that is read once and piece by piece; the reason where it is no exchange."""
    data = b""
    while part := file.read(PIECE):
        data += part
        if len(data) > LARGEST_REQUEST or _has_begun(data):
            break
    found = _split(data)
    if found is None:
        raise Unreadable(path, "a curl command without the output of curl -i below it, which begins with HTTP/")
    command, output = found
    if command is None and sent is None:
        raise Unreadable(
            path, "the output of curl -i without its request; --request FILE names its body or its command"
        )
    response, failure = _received(output, iter(lambda: file.read(PIECE), b""), path)
    request = _request(command if sent is None else _given(sent), path if sent is None else str(sent), response)
    return entries.exchange("1", path, request, response, failure)


def _split(data: bytes) -> tuple[bytes | None, bytes] | None:
    """The command, where there is one, and the output below it; None without output."""
    if STATUS.match(data.lstrip()):
        return None, data.lstrip()
    for match in re.finditer(rb"(?m)^HTTP/\d", data):
        if STATUS.match(data, match.start()):
            return data[: match.start()], data[match.start() :]
    return None


def _has_begun(data: bytes) -> bool:
    """Whether the beginning of a file holds the heads of the answer, and enough of what follows to know that."""
    found = _split(data)
    last = None if found is None else _last_head(found[1])
    return last is not None and len(last[2]) > LONGEST_VERSION


def _given(sent: str | Path) -> bytes:
    try:
        with Path(sent).open("rb") as file:
            data = file.read(LARGEST_REQUEST + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(str(sent), getattr(error, "strerror", None) or "no such file") from None
    if len(data) > LARGEST_REQUEST:
        raise Unreadable(str(sent), f"larger than {LARGEST_REQUEST // 1024**2} MiB")
    return data


def _last_head(output: bytes) -> tuple[int, bytes, bytes] | None:
    """Status and lines of the answer's head, and what follows it; None where it has no end."""
    rest = output
    for _ in range(_INTERIM + 1):
        match = STATUS.match(rest)
        end = re.search(rb"\r?\n\r?\n", rest)
        if match is None or end is None:
            return None
        status, head, rest = int(match.group(1)), rest[match.end() : end.start()], rest[end.end() :]
        if not STATUS.match(rest):
            break
    return status, head, rest


def _received(output: bytes, more: Iterator[bytes], path: str) -> tuple[Response, Failure | None]:
    """The answer, whose body begins in the output and goes on with more."""
    found = _last_head(output)
    if found is None:
        raise Unreadable(path, f"cut off at byte {len(output)}: the head of the answer has no end")
    status, head, body = found
    pairs = [line.partition(b":") for line in head.splitlines() if b":" in line]
    headers = tuple((name.decode("latin-1").strip(), value.decode("latin-1").strip()) for name, _, value in pairs)
    size = 0

    def counted() -> Iterator[bytes]:
        nonlocal size
        for piece in chain((body,), more):
            size += len(piece)
            yield piece

    response, failure = entries.received(status, headers, counted())
    named = {name.lower(): value for name, value in headers}
    length = named.get("content-length", "")
    if length.isdecimal() and len(length) < 16 and "content-encoding" not in named and size < int(length):
        failure = Failure(kind="cut", message=f"cut off: {size} of {length} bytes of the body")
    return response, failure


def _request(given: bytes | None, name: str, response: Response) -> Request:
    data = given or b""
    if COMMAND.match(data):
        return _command(data.decode("utf-8", "surrogateescape"), name)
    try:
        asked = json.loads(data)
    except (ValueError, RecursionError):
        asked = None
    said: object = None
    try:
        text = b"".join(chunk.data for chunk in response.chunks).decode("utf-8", "replace")
        first = text.partition("data:")[2] if text.lstrip().startswith(("data:", "event:")) else text
        said = json.JSONDecoder().raw_decode(first.strip())[0]
    except (ValueError, RecursionError):
        said = None
    url = entries.guessed_url(asked, said)
    if url is None:
        raise Unreadable(
            name, "a request's body, and the answer does not say which endpoint it is from; give the command"
        )
    headers = (entries.AUTHORIZED, ("Content-Type", "application/json"))
    return Request(method="POST", url=f"{HOST}{url}", headers=headers, body=data.rstrip(b"\r\n"))


def _command(text: str, name: str) -> Request:
    """The request of a curl command, as far as a shell's words say it; variables stay as they are."""
    try:
        words = shlex.split(text.lstrip().lstrip("$%#> ").replace("\\\n", " ").replace("\\\r\n", " "))
    except ValueError as error:
        raise Unreadable(name, f"a curl command that cannot be read ({error})") from None
    options = list(_options(words[1:]))
    headers: list[tuple[str, str]] = []
    pieces: list[bytes] = []
    for option, value in options:
        if option in _BODY:
            pieces += [b"&"] if pieces and option != "--json" else []
            pieces.append(_posted(value, name, option))
            headers += [("Content-Type", "application/json")] if option == "--json" else []
        elif option == "--header" and ":" in value:
            key, _, rest = value.partition(":")
            headers.append((key.strip(), rest.strip()))
        elif option == "--user":
            headers.append(("Authorization", f"Basic {PLACEHOLDER}"))
    url = next((value for option, value in options if option == "--url"), "")
    if not url:
        raise Unreadable(name, "a curl command without a URL")
    method = next((value for option, value in options if option == "--request"), "POST" if pieces else "GET")
    return Request(method=method.upper(), url=url, headers=tuple(headers), body=b"".join(pieces))


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Long names and values of the options; what is no option is the URL."""
    rest = iter(words)
    for word in rest:
        if word.startswith("--"):
            option, equals, value = word.partition("=")
            if not _LONG_FLAGS.fullmatch(option):
                yield option, value if equals else next(rest, "")
        elif word.startswith("-") and len(word) > 1:
            letters = word[1:].lstrip("".join(_FLAGS))
            if letters:
                option = _SHORT.get(f"-{letters[0]}", f"-{letters[0]}")
                yield option, letters[1:] or next(rest, "")
        else:
            yield "--url", word


def _posted(value: str, name: str, option: str) -> bytes:
    """What ``-d`` sends: the words themselves, or after @ the file beside the command, of which -d drops line ends."""
    if option == "--data-raw" or not value.startswith("@"):
        return entries.encoded(value)
    if value == "@-":
        raise Unreadable(name, "a curl command whose body came from standard input; --request FILE names the body")
    data = _given(Path(name).parent / value[1:])
    return data if option in ("--data-binary", "--json") else data.replace(b"\r", b"").replace(b"\n", b"")
