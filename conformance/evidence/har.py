"""HAR 1.2, as browsers, proxies and recorders write it.

Bodies in a HAR are decoded already (gzip, br), and text is Unicode. What a recorder could not keep is told apart from
what the server did not send: a body that is missing although its size is above 0 is a recording cut short.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from msgspec.structs import replace

from conformance import models, protocols
from conformance.evidence.recording import Recording, Unreadable
from conformance.redact import PLACEHOLDER
from conformance.values import Chunk, Exchange, Failure, Intent, Request, Response

INVALID_KEY_COMMENT = "invalid key"
"""An entry, or its request, with this comment was sent with a key that cannot be valid."""

CHROMIUM = "WebInspector"
"""The creator that Chromium's browsers write. Their export takes Authorization away from every entry, unless sensitive
data is asked for: a file of theirs without any says nothing about keys that were not sent."""

LARGEST_BODY = 256 * 1024**2  # bytes that a compressed body may unfold to

_ERRORS = (  # fragments of the error names that Chromium and Firefox write, and the kind of failure
    ("TIMED_OUT", "timeout"),
    ("TIMEOUT", "timeout"),
    ("REFUSED", "refused"),
    ("NAME_NOT_RESOLVED", "refused"),
    ("ABORTED", "cut"),
    ("CHUNKED", "protocol"),
    ("CONTENT_LENGTH", "protocol"),
    ("PROTOCOL", "protocol"),
    ("RESPONSE", "protocol"),
)


def parse(document: dict[str, Any], path: str) -> Recording:
    """The exchanges of a HAR document; ids are entry numbers counted from 1. Raises ``Unreadable``."""
    log = document.get("log")
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise Unreadable(path, "a HAR file whose log has no list of entries")
    if not entries:
        raise Unreadable(path, "empty: the HAR file has no entry")
    exchanges: list[Exchange] = []
    skipped: Counter[str] = Counter()
    stripped = _dict(log, "creator").get("name") == CHROMIUM and not any(map(_authorized, entries))
    for number, entry in enumerate(entries, 1):
        result = _exchange(entry, str(number), path)
        if isinstance(result, str):
            skipped[result] += 1
        else:
            exchanges.append(_with_key(result) if stripped else result)
    return Recording(path=path, format="har", exchanges=tuple(exchanges), skipped=dict(skipped))


def _exchange(entry: object, name: str, path: str) -> Exchange | str:
    """One exchange, or the reason why the entry is none."""
    sent = _dict(entry, "request")
    method, url = sent.get("method"), sent.get("url")
    if not isinstance(method, str) or not isinstance(url, str):
        return "not a HAR entry: no request with a method and a URL"
    protocol = protocols.surface(method, url)
    if protocol is None:
        return "not a call of one of the three endpoints"
    body = _posted(_dict(sent, "postData"))
    response, failure = _received(entry)
    comments = (_get(entry, "comment"), sent.get("comment"))
    invalid = any(isinstance(text, str) and INVALID_KEY_COMMENT in text.lower() for text in comments)
    return Exchange(
        id=name,
        protocol=protocol,
        model=models.canonical(_model(body)) or models.DEFAULT,
        request=Request(method=method.upper(), url=url, headers=_headers(sent.get("headers")), body=body),
        response=response,
        failure=failure,
        intents=(Intent.INVALID_KEY,) if invalid else (),
        started=_started(_get(entry, "startedDateTime")),
        file=path,
    )


def _authorized(entry: object) -> bool:
    return any(name.lower() == "authorization" for name, _ in _headers(_dict(entry, "request").get("headers")))


def _with_key(exchange: Exchange) -> Exchange:
    headers = (*exchange.request.headers, ("Authorization", f"Bearer {PLACEHOLDER}"))
    return replace(exchange, request=replace(exchange.request, headers=headers))


def _received(entry: object) -> tuple[Response | None, Failure | None]:
    got = _dict(entry, "response")
    status = got.get("status")
    error = next((text for text in (got.get("_error"), _get(entry, "_error")) if isinstance(text, str) and text), None)
    if isinstance(status, bool) or not isinstance(status, int) or status <= 0:
        return None, Failure(kind=_kind(error), message=(error or "no response was recorded")[:200])
    headers = _headers(got.get("headers"))
    data, missing = _content(got, headers)
    failure = None
    if error is not None:
        failure = Failure(kind=_kind(error), message=error[:200])
    elif missing is not None:
        failure = Failure(kind="cut", message=missing)
    elapsed = _get(entry, "time")
    ms = float(elapsed) if isinstance(elapsed, int | float) and 0 <= elapsed < 1e12 else 0.0
    chunks = (Chunk(ms=ms, data=data),) if data else ()
    return Response(status=status, headers=headers, chunks=chunks), failure


def _content(got: dict[str, Any], headers: tuple[tuple[str, str], ...]) -> tuple[bytes, str | None]:
    """The body, and why it is not whole."""
    content = _dict(got, "content")
    text = content.get("text")
    if not isinstance(text, str):
        length = next((value for name, value in headers if name.lower() == "content-length"), "")
        sizes = [content.get("size"), got.get("bodySize"), int(length) if length.isdecimal() else None]
        known = [size for size in sizes if isinstance(size, int) and size >= 0]
        empty = bool(known) and not any(known)
        return b"", None if empty else "the recording left the response body out"
    if str(content.get("encoding", "")).lower() != "base64":
        return _bytes(text), None
    data = _decoded(text)
    return (b"", "the response body is marked base64 and is not") if data is None else _unfold(data, headers)


def _unfold(data: bytes, headers: tuple[tuple[str, str], ...]) -> tuple[bytes, str | None]:
    """Undo gzip where a recorder kept the bytes of the wire; JSON and event streams never start with gzip's mark."""
    coding = next((value.lower() for name, value in headers if name.lower() == "content-encoding"), "")
    if "gzip" not in coding or not data.startswith(b"\x1f\x8b"):
        return data, None
    reader = zlib.decompressobj(wbits=31)
    try:
        plain = reader.decompress(data, LARGEST_BODY)
    except zlib.error:
        return b"", "the response body is marked gzip and is not"
    return plain, None if reader.eof else "the gzip body is cut off or too large"


def _posted(post: dict[str, Any]) -> bytes:
    text = post.get("text")
    if isinstance(text, str) and text:
        if str(post.get("encoding", "")).lower() == "base64":
            return _decoded(text) or _bytes(text)
        return _bytes(text)
    fields = [
        (str(item["name"]), str(item.get("value", "")))
        for item in _list(post.get("params"))
        if isinstance(item, dict) and "name" in item
    ]
    return urlencode(fields, errors="replace").encode()


def _decoded(text: str) -> bytes | None:
    """The bytes that base64 stands for; None where it is none."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def _headers(raw: object) -> tuple[tuple[str, str], ...]:
    """Name and value pairs; HTTP/2 pseudo headers (``:path``) are no headers."""
    pairs = [(_get(item, "name"), _get(item, "value")) for item in _list(raw)]
    return tuple(
        (name, value)
        for name, value in pairs
        if isinstance(name, str) and isinstance(value, str) and name and not name.startswith(":")
    )


def _started(text: object) -> str | None:
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return aware.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None


def _model(body: bytes) -> object:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value.get("model") if isinstance(value, dict) else None


def _kind(error: str | None) -> str:
    name = (error or "").upper()
    return next((kind for fragment, kind in _ERRORS if fragment in name), "reset")


def _bytes(text: str) -> bytes:
    """The bytes that a recorder read text from; escaped bytes come back as they were, lone surrogates as they can."""
    for handler in ("strict", "surrogateescape", "surrogatepass"):
        try:
            return text.encode("utf-8", handler)
        except UnicodeEncodeError:
            continue
    return text.encode("utf-8", "replace")


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None


def _dict(value: object, key: str) -> dict[str, Any]:
    inner = _get(value, key)
    return inner if isinstance(inner, dict) else {}


def _list(value: object) -> Iterable[Any]:
    return value if isinstance(value, list) else ()
