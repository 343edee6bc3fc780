"""Reads a request: where it went, with which key, and what its body asks for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from conformance.models import canonical
from conformance.protocols import chat, messages, responses
from conformance.protocols.json_text import read_bytes
from conformance.protocols.memory import Memory
from conformance.protocols.terms import Terms
from conformance.protocols.view import MISSING, Asked
from conformance.values import Protocol, Request

_TERMS: dict[Protocol, Callable[[dict[str, Any]], Terms]] = {
    Protocol.CHAT: chat.terms,
    Protocol.MESSAGES: messages.terms,
    Protocol.RESPONSES: responses.terms,
}
_MEMORY: Memory[Asked] = Memory(size=256, weight=16 * 2**20, weigh=lambda asked: len(asked.raw))
_ENDS = {  # messages and responses are common words in paths, so that they need their version before them
    re.compile(r"(?:^|/)chat/completions$"): Protocol.CHAT,
    re.compile(r"(?:^/?|://[^/]*/|/v\d[^/]*/)messages$"): Protocol.MESSAGES,
    re.compile(r"(?:^/?|://[^/]*/|/v\d[^/]*/)responses$"): Protocol.RESPONSES,
}


def surface(method: str, url: str) -> Protocol | None:
    """The surface that a request is for, by the end of its path, behind any prefix; None for any other request.

    ``/v1/messages`` and ``/v1/responses`` count behind a prefix, and so do both without a version at the root.

    A HEAD or OPTIONS request (a browser's preflight) is for none, and neither is the opening of a web socket.
    """
    if method.upper() in ("HEAD", "OPTIONS") or url[:4].lower() in ("ws:/", "wss:"):
        return None
    path = _path(url).rstrip("/")
    return next((protocol for end, protocol in _ENDS.items() if end.search(path)), None)


def ask(protocol: Protocol, request: Request) -> Asked:
    """What a request asks for, read once for each request object.

    Never raises on what was sent; of a repeated key the last value counts.
    """
    return _MEMORY.recall((protocol, id(request)), request, lambda: _read(protocol, request))


def _read(protocol: Protocol, request: Request) -> Asked:
    read = read_bytes(request.body)
    body = read.value if isinstance(read.value, dict) else {}
    malformed = read.error
    if malformed is None and not isinstance(read.value, dict):
        malformed = "not an object"
    if malformed is not None:
        body = {}
    return Asked(
        protocol=protocol,
        method=request.method,
        url=request.url,
        host=_host(request),
        headers=request.headers,
        scheme=_scheme(request.headers),
        raw=request.body,
        malformed=malformed,
        body=body,
        model=canonical(body.get("model")),
        names_model=body.get("model", MISSING) is not MISSING,
        stream=body.get("stream") is True,
        **vars(_TERMS[protocol](body)),
    )


def _path(url: str) -> str:
    return url.split("#", 1)[0].split("?", 1)[0]


def _host(request: Request) -> str:
    _, slashes, rest = request.url.partition("://")
    if slashes:
        return _path(rest).split("/", 1)[0].rsplit("@", 1)[-1].lower()
    return next((value for name, value in request.headers if name.lower() == "host"), "").lower()


def _scheme(headers: tuple[tuple[str, str], ...]) -> str:
    value = next((value for name, value in headers if name.lower() == "authorization"), None)
    if value is None:
        return "missing"
    scheme, _, key = value.strip().partition(" ")
    return "bearer" if scheme.lower() == "bearer" and key.strip() else "other"
