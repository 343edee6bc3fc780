"""Answers that the proxy makes up itself, in the envelope of the surface and marked as not the upstream's."""

from __future__ import annotations

import json

from conformance.evidence.entries import MARKER
from conformance.protocols import surface
from conformance.values import Protocol

Headers = list[tuple[bytes, bytes]]


def refusal(method: str, url: str, status: int, message: str) -> tuple[Headers, bytes]:
    """Headers and body of an error; a client of any surface can read it."""
    words = f"kimi-conformance proxy: {message}"
    kind = "invalid_request_error" if status < 500 else "api_error"
    if surface(method, url) is Protocol.MESSAGES:
        body: dict[str, object] = {"type": "error", "error": {"type": kind, "message": words}}
    else:
        code = "proxy_refused" if status < 500 else "upstream_unreachable"
        body = {"error": {"message": words, "type": kind, "param": None, "code": code}}
    data = json.dumps(body).encode()
    headers = [
        (b"Content-Type", b"application/json"),
        (b"Content-Length", str(len(data)).encode()),
        (MARKER.encode(), b"refused" if status < 500 else b"upstream-unreachable"),
    ]
    return headers, data
