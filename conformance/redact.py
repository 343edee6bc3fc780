"""What is hidden wherever an exchange is written: the key's value, and the headers that carry credentials."""

from __future__ import annotations

import base64
import binascii
import functools
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

import msgspec

from conformance.values import Chunk, Exchange, Request, Response

KEY_MARK = "[key redacted]"
"""Stands wherever the key's value stood. In a response it proves that the server echoed the key."""

PATTERN_MARK = "[redacted]"
"""Stands wherever a pattern of the user's matched."""

SHORTEST_KEY = 8  # a shorter value would hide ordinary text
SHORTEST_COOKIE = 16  # likewise: many cookies hold words
_USUAL = 512  # characters of a key whose forms are kept for the next exchange
HIDDEN_HEADERS = frozenset({"x-api-key", "api-key", "cookie", "set-cookie", "proxy-authorization", "x-goog-api-key"})
PLACEHOLDER = "REDACTED"
_LONGEST_PLACEHOLDER = 100  # characters
_MARKS = (  # what recorders write where a secret stood
    "redacted|filtered|hidden|removed|masked|omitted|scrubbed|stripped|deleted|sanitized|sanitised|dummy|fake|secret|"
    "placeholder|replaced|obfuscated|anonymized|secure"
)
_FILLERS = "authorization|auth|value|token|key|your|api|sk|header|here|by|for|har|sanitizer|security|kimi|x"
_PLACEHOLDER = re.compile(rf"(?:{_MARKS}|{_FILLERS}|[\W_])+", re.IGNORECASE)
_WORDS = re.compile(r"(?!sk\b)[A-Za-z]+(?:[-_][A-Za-z]+)*")
_MARKED = re.compile(rf"\W|(?:{_MARKS})\b", re.IGNORECASE)

_QUERY = re.compile(
    r"([?&;](?:x-)?(?:api[-_]?key|key|(?:[a-z]+[-_])?token|auth(?:orization)?|secret|client[-_]secret|password|sig(?:nature)?)"
    r"=)([^&;#\s\"'<>]+)",
    re.IGNORECASE,
)
_USER = re.compile(r"(://)([^/?#@\s]+)(@)")


def is_placeholder(value: str) -> bool:
    """Whether a header is nothing but what a recorder wrote in the place of a secret, which hides the scheme too.

    Of several words the first is such a mark, or a sign: ``Token REDACTED`` names a scheme.
    """
    value = value.strip()
    if len(value) > _LONGEST_PLACEHOLDER or _PLACEHOLDER.fullmatch(value) is None:
        return False
    return " " not in value or _MARKED.match(value) is not None


def is_ordinary(key: str) -> bool:
    """Whether a key is made of words, as keys that nobody checks are: an answer may hold it without repeating it."""
    return _WORDS.fullmatch(key) is not None or is_placeholder(key)


class Secrets:
    """The keys and patterns that are hidden, from one exchange or text after another."""

    def __init__(self, keys: Iterable[str] = (), patterns: Iterable[re.Pattern[str]] = ()) -> None:
        self._keys = tuple(dict.fromkeys(key for key in keys if len(key) >= SHORTEST_KEY))
        self._forms = [(form, KEY_MARK) for key in self._keys for form in _forms(key)]
        self._patterns = tuple(patterns)
        self._hider = _Hider(self._forms, self._patterns)

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange without credentials: see ``redact``."""
        known = [key for key in sent_keys(exchange.request) if key not in self._keys]
        more = [(form, PATTERN_MARK if is_ordinary(key) else KEY_MARK) for key in known for form in _forms(key)]
        more += [(cookie, PLACEHOLDER) for cookie in _cookies(exchange)]
        hider = _Hider(self._forms + more, self._patterns) if more else self._hider
        return hider.exchange(exchange)

    def text(self, text: str) -> str:
        """Text for a log, a report or a terminal."""
        return self._hider.text(text)

    def value(self, value: Any) -> Any:
        """A value with its strings hidden, the keys of objects too; structs keep their type."""
        if isinstance(value, str):
            return self.text(value) if type(value) is str else value
        if isinstance(value, Mapping):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)([self.value(item) for item in value])
        if isinstance(value, msgspec.Struct):
            fields = msgspec.structs.asdict(value)
            changed = {name: new for name, old in fields.items() if (new := self.value(old)) != old}
            return msgspec.structs.replace(value, **changed) if changed else value
        return value


def redact(exchange: Exchange, keys: Iterable[str] = (), patterns: Iterable[re.Pattern[str]] = ()) -> Exchange:
    """The exchange without credentials.

    Hidden are the values of headers that carry them, of query keys, cookies and a URL's user, and each key's value
    anywhere, also in base64 (within longer text too), URL encoding and the escapes of JSON; and what a pattern matches.
    The scheme of Authorization stays, since rules judge it. A key that is split between two chunks is found too; the
    chunks then become one.
    """
    return Secrets(keys, patterns).exchange(exchange)


def hide(text: str, keys: Iterable[str], patterns: Iterable[re.Pattern[str]] = ()) -> str:
    """Text for a log, a report or a terminal, without any key's value."""
    return Secrets(keys, patterns).text(text)


def address(url: str) -> str:
    """A URL for a message, without its user and the values of its query that are credentials."""
    return _Hider([], ()).url(url)


class _Hider:
    """Replaces forms and patterns wherever text or bytes may hold them."""

    def __init__(self, forms: list[tuple[str, str]], patterns: tuple[re.Pattern[str], ...]) -> None:
        longest_first = sorted(dict(reversed(forms)).items(), key=lambda pair: -len(pair[0]))
        self._texts = longest_first
        self._bytes = [(form.encode("utf-8", "surrogatepass"), mark.encode()) for form, mark in longest_first]
        self._shortest = min((len(form) for form, _ in longest_first), default=0)
        self._patterns = patterns

    def exchange(self, exchange: Exchange) -> Exchange:
        request, response, failure = exchange.request, exchange.response, exchange.failure
        clean_request = Request(
            method=request.method,
            url=self.url(request.url),
            headers=self.headers(request.headers),
            body=self.data(request.body),
        )
        if response is not None:
            response = Response(
                status=response.status, headers=self.headers(response.headers), chunks=self.chunks(response.chunks)
            )
        if failure is not None:
            failure = msgspec.structs.replace(failure, message=self.text(failure.message))
        return msgspec.structs.replace(exchange, request=clean_request, response=response, failure=failure)

    def text(self, text: str) -> str:
        if len(text) >= self._shortest:
            for form, mark in self._texts:
                text = text.replace(form, mark)
        for pattern in self._patterns:
            text = pattern.sub(PATTERN_MARK, text)
        return text

    def data(self, data: bytes) -> bytes:
        for form, mark in self._bytes:
            data = data.replace(form, mark)
        if self._patterns:
            text = data.decode("utf-8", "surrogateescape")
            for pattern in self._patterns:
                text = pattern.sub(PATTERN_MARK, text)
            data = text.encode("utf-8", "surrogateescape")
        return data

    def url(self, url: str) -> str:
        url = _QUERY.sub(rf"\g<1>{PLACEHOLDER}", url)
        return self.text(_USER.sub(rf"\g<1>{PLACEHOLDER}\g<3>", url))

    def headers(self, headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple((self.text(name), self._header(name.lower(), text)) for name, text in headers)

    def _header(self, name: str, text: str) -> str:
        if name == "authorization":
            if text != PLACEHOLDER and is_placeholder(text):
                return PATTERN_MARK
            scheme, _, rest = text.strip().partition(" ")
            return f"{scheme} {PLACEHOLDER}" if rest else PLACEHOLDER
        if name in HIDDEN_HEADERS:
            return PLACEHOLDER
        return self.url(text) if "://" in text or "?" in text else self.text(text)

    def chunks(self, chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
        whole = b"".join(chunk.data for chunk in chunks)
        clean = self.data(whole)
        if clean == whole:
            return chunks
        single = tuple(Chunk(ms=chunk.ms, data=self.data(chunk.data)) for chunk in chunks)
        if b"".join(chunk.data for chunk in single) == clean:
            return single
        return (Chunk(ms=chunks[-1].ms, data=clean),)


def sent_keys(request: Request) -> list[str]:
    """The keys that a request carries: in its headers, its query and the user of its URL."""
    return list(
        dict.fromkeys(
            key
            for key in _carried(request)
            if len(key) >= SHORTEST_KEY and PLACEHOLDER not in key and key not in (KEY_MARK, PATTERN_MARK)
        )
    )


def _carried(request: Request) -> Iterator[str]:
    for name, value in request.headers:
        lower = name.lower()
        if lower in HIDDEN_HEADERS | {"authorization"} and "cookie" not in lower and value.strip():
            scheme, *rest = value.split(None, 1)
            yield from rest or [scheme]
            if rest and scheme.lower() == "basic":
                yield from _basic(rest[0])
    for _, value in _QUERY.findall(request.url):
        yield value
        yield unquote_plus(value)
    for _, user, _ in _USER.findall(request.url):
        yield unquote_plus(user.rpartition(":")[2])


def _basic(coded: str) -> Iterator[str]:
    try:
        yield base64.b64decode(coded, validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError):
        return


def _cookies(exchange: Exchange) -> Iterator[str]:
    headers = exchange.request.headers + (exchange.response.headers if exchange.response is not None else ())
    for name, text in headers:
        lower = name.lower()
        if lower in ("cookie", "set-cookie"):
            pairs = text.split(";") if lower == "cookie" else text.split(";")[:1]
            yield from (value for pair in pairs if len(value := pair.partition("=")[2].strip()) >= SHORTEST_COOKIE)


def _forms(key: str) -> frozenset[str]:
    """How a key's value may be written: as it is, escaped for JSON, URLs and HTML, and in base64 at any place."""
    return _known_forms(key) if len(key) <= _USUAL else _written(key)


def _written(key: str) -> frozenset[str]:
    escaped = {json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1]}
    escaped |= {form.replace("/", "\\/") for form in escaped}
    addresses = {quote(key, safe="", errors="replace"), quote(key, errors="replace"), quote_plus(key, errors="replace")}
    addresses |= {re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), form) for form in addresses}
    forms = {key, html.escape(key), *escaped, *addresses}
    raw = key.encode("utf-8", "surrogatepass")
    for text in (base64.b64encode(raw), base64.urlsafe_b64encode(raw)):
        forms.add(text.decode().rstrip("="))
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        last = len(coded) - (1 if (before + len(raw)) % 3 else 0)
        core = coded[(0, 2, 3)[before] : last]
        if len(core) >= SHORTEST_KEY:
            forms |= {core, core.replace("+", "-").replace("/", "_"), core.replace("/", "\\/")}
    return frozenset(forms)


_known_forms = functools.lru_cache(64)(_written)
