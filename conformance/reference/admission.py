"""Who may ask, and how often: bearer keys and the rate limit."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict, deque
from collections.abc import Mapping

from conformance.reference.refusals import Layer, Refusal
from conformance.reference.settings import Settings

WINDOW = 60.0  # seconds
_KEYS_WATCHED = 10_000


def bearer(headers: Mapping[str, str]) -> str | None:
    """The bearer key of a request; None where there is none or another scheme is used."""
    scheme, _, key = headers.get("authorization", "").strip().partition(" ")
    return key.strip() or None if scheme.lower() == "bearer" else None


def _unauthorized(message: str) -> Refusal:
    return Refusal(
        layer=Layer.AUTHENTICATION,
        status=401,
        type="authentication_error",
        message=message,
        code="invalid_api_key",
        headers={"www-authenticate": "Bearer"},
    )


class Admission:
    """Decides on keys, and counts each key's requests over the last 60 seconds; safe between threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._sent: OrderedDict[str, deque[float]] = OrderedDict()

    def _known(self, key: str) -> bool:
        keys = self._settings.keys
        return not key.lower().startswith("invalid") if keys is None else key in keys

    def refusal(self, headers: Mapping[str, str]) -> Refusal | None:
        """Why a request with these headers is not let in: 401, 429, or None when it is."""
        key = bearer(headers)
        if key is None:
            return _unauthorized("The API key is missing: send it as 'Authorization: Bearer YOUR_API_KEY'.")
        if not self._known(key):
            return _unauthorized("The API key is invalid.")
        wait = self._wait(key)
        if wait is None:
            return None
        return Refusal(
            layer=Layer.RATE,
            status=429,
            type="rate_limit_error",
            message=f"Rate limit exceeded: {self._settings.rpm} requests a minute. Try again in {wait} seconds.",
            code="rate_limit_exceeded",
            headers={"retry-after": str(wait)},
        )

    def _wait(self, key: str) -> int | None:
        """Count one request; the seconds to wait instead where the limit is reached."""
        rpm = self._settings.rpm
        if rpm is None:
            return None
        now = self._settings.clock()
        with self._lock:
            sent = self._sent.setdefault(key, deque())
            self._sent.move_to_end(key)
            while len(self._sent) > _KEYS_WATCHED:
                self._sent.popitem(last=False)
            while sent and sent[0] <= now - WINDOW:
                sent.popleft()
            if len(sent) >= rpm:
                oldest = sent[0] if sent else now
                return max(1, math.ceil(oldest + WINDOW - now))
            sent.append(now)
            return None
