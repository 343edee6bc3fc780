"""What is hidden wherever an exchange is written: the key's value, and the headers that carry credentials."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from urllib.parse import quote

import msgspec

from conformance.values import Chunk, Exchange, Request, Response

KEY_MARK = "[key redacted]"
"""Stands wherever the key's value stood. In a response it proves that the server echoed the key."""

SHORTEST_KEY = 8  # a shorter value would hide ordinary text
HIDDEN_HEADERS = frozenset({"x-api-key", "api-key", "cookie", "set-cookie", "proxy-authorization", "x-goog-api-key"})
PLACEHOLDER = "REDACTED"


def redact(exchange: Exchange, keys: Iterable[str] = ()) -> Exchange:
    """The exchange without credentials: header values, and each key's value anywhere, also in base64 and URL encoding.

    The scheme of Authorization stays, since rules judge it. A key that is split between two chunks is found too; the
    chunks that it touches then become one.
    """
    request = exchange.request
    known = [key for key in keys if len(key) >= SHORTEST_KEY]
    known += [key for key in _sent_keys(request) if len(key) >= SHORTEST_KEY and key not in known]
    forms = [form for key in known for form in _forms(key)]
    clean_request = Request(
        method=request.method,
        url=_text(request.url, forms),
        headers=_headers(request.headers, forms),
        body=_bytes(request.body, forms),
    )
    response = exchange.response
    if response is not None:
        response = Response(
            status=response.status,
            headers=_headers(response.headers, forms),
            chunks=_chunks(response.chunks, forms),
        )
    failure = exchange.failure
    if failure is not None:
        failure = msgspec.structs.replace(failure, message=_text(failure.message, forms))
    return msgspec.structs.replace(exchange, request=clean_request, response=response, failure=failure)


def hide(text: str, keys: Iterable[str]) -> str:
    """Text for a log, a report or a terminal, without any key's value."""
    return _text(text, [form for key in keys if len(key) >= SHORTEST_KEY for form in _forms(key)])


def _sent_keys(request: Request) -> list[str]:
    values = [value for name, value in request.headers if name.lower() in HIDDEN_HEADERS | {"authorization"}]
    keys = [value.split(None, 1)[-1] for value in values if value.strip()]
    return [key for key in keys if PLACEHOLDER not in key and key != KEY_MARK]


def _forms(key: str) -> list[str]:
    forms = {key, quote(key, safe=""), base64.b64encode(key.encode()).decode().rstrip("=")}
    return sorted(forms, key=len, reverse=True)


def _text(text: str, forms: list[str]) -> str:
    for form in forms:
        text = text.replace(form, KEY_MARK)
    return text


def _bytes(data: bytes, forms: list[str]) -> bytes:
    for form in forms:
        data = data.replace(form.encode(), KEY_MARK.encode())
    return data


def _headers(headers: tuple[tuple[str, str], ...], forms: list[str]) -> tuple[tuple[str, str], ...]:
    def value(name: str, text: str) -> str:
        lower = name.lower()
        if lower == "authorization":
            scheme, _, rest = text.partition(" ")
            return f"{scheme} {PLACEHOLDER}" if rest else PLACEHOLDER
        return PLACEHOLDER if lower in HIDDEN_HEADERS else _text(text, forms)

    return tuple((name, value(name, text)) for name, text in headers)


def _chunks(chunks: tuple[Chunk, ...], forms: list[str]) -> tuple[Chunk, ...]:
    whole = b"".join(chunk.data for chunk in chunks)
    if _bytes(whole, forms) == whole:
        return chunks
    single = tuple(Chunk(ms=chunk.ms, data=_bytes(chunk.data, forms)) for chunk in chunks)
    joined = b"".join(chunk.data for chunk in single)
    if _bytes(whole, forms) == joined:
        return single
    return (Chunk(ms=chunks[-1].ms, data=_bytes(whole, forms)),)
