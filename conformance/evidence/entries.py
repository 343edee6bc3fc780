"""What every recorded format shares: values of any shape turned into the parts of an exchange.

Values of wrong types are taken as absent; nothing here raises on what a file holds.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from conformance import models, protocols
from conformance.evidence.bodies import Body
from conformance.evidence.codings import Unfolding
from conformance.evidence.recording import LARGEST
from conformance.redact import PLACEHOLDER
from conformance.values import Chunk, Exchange, Failure, Intent, Protocol, Request, Response

OTHER = "not a call of one of the three endpoints"
"""Why a call is left out: it is of another endpoint."""

MARKER = "x-kimi-conformance-proxy"
"""The header on answers that our proxy made up itself: they are not the upstream's, whoever recorded them."""

MADE_UP = Failure(kind="refused", message="the proxy could not reach the upstream")

Headers = tuple[tuple[str, str], ...]

_SLOWEST = 1e12  # milliseconds; a larger number is no time
_STREAM = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:data|event|id|retry)?:")
_KEYS = frozenset({"authorization", "x-api-key", "api-key"})
_VERSION = re.compile(r"/v\d[^/]*/[a-z]+/?$")
_ENDS = {"chat.completion": "/v1/chat/completions", "response": "/v1/responses", "message": "/v1/messages"}
AUTHORIZED = ("Authorization", f"Bearer {PLACEHOLDER}")
"""Stands for the key where a recorder kept no header of a request, so that its absence says nothing."""


def exchange(
    name: str,
    path: str,
    request: Request,
    response: Response | None,
    failure: Failure | None = None,
    *,
    started: str | None = None,
    invalid_key: bool = False,
) -> Exchange | str:
    """One exchange, or the reason why it is none."""
    protocol = protocols.surface(request.method, request.url)
    if protocol is None or _is_a_page(protocol, request):
        return OTHER
    if response is not None and any(name.lower() == MARKER for name, _ in response.headers):
        response, failure = None, MADE_UP
    if response is None and failure is None:
        failure = Failure(kind="cut", message="no response was recorded")
    return Exchange(
        id=name,
        protocol=protocol,
        model=models.canonical(_model(request, response)) or models.DEFAULT,
        request=request,
        response=response,
        failure=failure,
        intents=(Intent.INVALID_KEY,) if invalid_key else (),
        started=started,
        file=path,
    )


def _is_a_page(protocol: Protocol, request: Request) -> bool:
    """Whether a path without a version is an endpoint by its last word only: pages are called messages too."""
    versioned = protocol is Protocol.CHAT or _VERSION.search(request.url.partition("?")[0]) is not None
    return not versioned and named_model(request.body) is None


def left_out(method: str, headers: Headers, body: bytes, size: object = None) -> Headers:
    """A header for what a recorder left out of a request's body: its size, or, where none was kept, a coding."""
    if method.upper() != "POST" or any(name.lower() in ("content-length", "transfer-encoding") for name, _ in headers):
        return ()
    known = size if isinstance(size, int) and size >= 0 else None
    if known is None:
        return () if body else (("Transfer-Encoding", "chunked"),)
    return (("Content-Length", str(known)),) if known > len(body) else ()


def with_key(exchange: Exchange) -> Exchange:
    """The exchange with a key that stands for the one which the recorder took away."""
    headers = (*exchange.request.headers, AUTHORIZED)
    return replace(exchange, request=replace(exchange.request, headers=headers))


def with_keys(exchanges: Iterable[Exchange]) -> tuple[Exchange, ...]:
    """The exchanges of a recorder that can take keys away: where no request has one any more, all count as sent."""
    found = tuple(exchanges)
    return found if any(map(has_key, found)) else tuple(map(with_key, found))


def has_key(exchange: Exchange) -> bool:
    """Whether a request has a header for its key, whatever stands in it."""
    return not _KEYS.isdisjoint(name.lower() for name, _ in exchange.request.headers)


def received(
    status: int, headers: Headers, body: bytes | Iterable[bytes], *, ms: float = 0.0, missing: str | None = None
) -> tuple[Response, Failure | None]:
    """A response with its codings undone and its body within bounds; a failure of kind cut where that is not whole."""
    unfolding, kept = Unfolding(headers), Body()
    for piece in unfolding.pieces((body,) if isinstance(body, bytes) else body):
        kept.feed(piece, ms)
        if kept.size > LARGEST:
            missing = missing or f"the response body is larger than {LARGEST // 1024**3} GiB"
            break
    parts, unread = kept.kept()
    missing = missing or unfolding.problem or unread
    data = b"" if unfolding.spoiled else b"".join(part.data for part in parts)
    chunks = (Chunk(ms=ms, data=data),) if data else ()
    failure = Failure(kind="cut", message=missing) if missing else None
    return Response(status=status, headers=headers, chunks=chunks), failure


def named_model(body: bytes) -> object:
    """The model that a request body names; None where it names none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value.get("model") if isinstance(value, dict) else None


def _model(request: Request, response: Response | None) -> object:
    """The model that a request names; where its body was left out, the one that the answer names."""
    if request.body or response is None:
        return named_model(request.body)
    return named_model(b"".join(chunk.data for chunk in response.chunks))


def guessed_url(request: object, response: object) -> str | None:
    """The path that an answer's own words belong to, for logs that keep no URL; None where they do not say."""
    said = response if isinstance(response, dict) else {}
    kind = said.get("object") or said.get("type")
    if isinstance(kind, str):
        end = next((end for word, end in _ENDS.items() if kind == word or kind.startswith(f"{word}.")), None)
        if end is not None:
            return end
    asked = request if isinstance(request, dict) else {}
    if "input" in asked:
        return _ENDS["response"]
    return None


def media_type(body: bytes) -> tuple[str, str]:
    """The header that stands in where a recorder kept none of a response."""
    markup = body[:64].lstrip().startswith(b"<")
    other = "text/html" if markup else "application/json"
    return ("Content-Type", "text/event-stream" if _STREAM.match(body) else other)


def encoded(text: str) -> bytes:
    """The bytes that a recorder read text from; escaped bytes come back as they were, lone surrogates as they can."""
    for handler in ("strict", "surrogateescape", "surrogatepass"):
        try:
            return text.encode("utf-8", handler)
        except UnicodeEncodeError:
            continue
    return text.encode("utf-8", "replace")


def unbase64(text: str) -> bytes | None:
    """The bytes that base64 stands for; None where it is none."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def body_bytes(value: object) -> bytes | None:
    """A body that a file holds as bytes, as text, as JSON, or as an object that names one of them; None for none."""
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, str):
        return encoded(value)
    if value is None:
        return None
    try:
        return encoded(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
    except (ValueError, RecursionError):
        return None


def headers(raw: object) -> Headers:
    """Names and values from a list of objects or pairs, or from a mapping to values or lists of them.

    HTTP/2 pseudo headers (``:path``) are no headers.
    """
    return tuple((name, text) for name, text in _pairs(raw) if name and not name.startswith(":"))


def _pairs(raw: object) -> Iterable[tuple[str, str]]:
    if isinstance(raw, Mapping):
        for name, value in raw.items():
            for one in value if isinstance(value, list | tuple) else (value,):
                if isinstance(name, str) and (text := _scalar(one)) is not None:
                    yield name, text
    elif isinstance(raw, list | tuple):
        for item in raw:
            if isinstance(item, Mapping):
                name, value = item.get("name", item.get("key")), item.get("value")
            elif isinstance(item, list | tuple) and len(item) == 2:
                name, value = item
            else:
                continue
            if isinstance(name, str) and isinstance(value, str):
                yield name, value


def _scalar(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None


def status_code(value: object) -> int | None:
    """A status from a number or from text such as ``200 OK``; None for anything else."""
    if isinstance(value, str):
        digits = value.strip().split(" ", 1)[0]
        value = int(digits) if digits.isdecimal() and len(digits) == 3 else None
    if isinstance(value, bool) or not isinstance(value, int) or not 100 <= value <= 999:
        return None
    return value


def milliseconds(value: object) -> float:
    """A time in milliseconds; 0 where it is none."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value < _SLOWEST else 0.0  # type: ignore[operator,arg-type]


def moment(value: object) -> str | None:
    """A time in ISO 8601, or in seconds or milliseconds since 1970, as UTC; None where it is none."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if value > 1e11 else value
            aware = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds) if seconds > 1e8 else None
        elif isinstance(value, str):
            read = datetime.fromisoformat(value)
            aware = read if read.tzinfo else read.replace(tzinfo=UTC)
        else:
            return None
        return (
            None if aware is None else aware.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        )
    except (ValueError, OverflowError):
        return None


def get(value: object, key: str) -> object:
    """A member of an object; None where it is no object or has none."""
    return value.get(key) if isinstance(value, Mapping) else None


def part(value: object, key: str) -> dict[str, Any]:
    """A member that is an object itself, else an empty one."""
    inner = get(value, key)
    return inner if isinstance(inner, dict) else {}
