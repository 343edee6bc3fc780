"""Where a JSONL log keeps the parts of an exchange: paths into its objects, detected or told by ``--map``."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

MISSING: Any = object()
_REQUESTS = ("request", "req", "input")
_RESPONSES = ("response", "res", "resp", "output")


def _under(parents: Iterable[str], *names: str) -> tuple[str, ...]:
    return tuple(f"{parent}{join}{name}" for name in names for parent in parents for join in (".", "_"))


DETECTED: dict[str, tuple[str, ...]] = {
    "request": (*_under(_REQUESTS, "body", "json", "data"), *_REQUESTS, "body.request", "payload"),
    "response": (*_under(_RESPONSES, "body", "json", "data"), *_RESPONSES, "body.response"),
    "status": (
        *_under(_RESPONSES, "status", "status_code", "statusCode", "code"),
        "status",
        "status_code",
        "statusCode",
        "http_status",
    ),
    "url": (*_under(_REQUESTS, "url", "uri", "path"), "url", "uri", "path", "endpoint"),
    "method": (*_under(_REQUESTS, "method"), "method", "http_method"),
    "headers": (*_under(_RESPONSES, "headers"), "headers"),
    "request_headers": _under(_REQUESTS, "headers"),
    "started": ("started", "timestamp", "time", "ts", "@timestamp", "created_at", "startedDateTime"),
    "ms": ("duration_ms", "latency_ms", "elapsed_ms", "ms"),
}
"""The places that are looked at for each part, in this order, where no map says otherwise.

``headers`` are those of the response; ``started`` is ISO 8601 or seconds or milliseconds since 1970.
"""


class BadMap(Exception):
    """A map of fields cannot be used; the message says why."""


@dataclass(frozen=True, kw_only=True)
class FieldMap:
    """The place of each part that was told; the others are looked for at the usual places."""

    paths: Mapping[str, str] = field(default_factory=dict)

    def find(self, record: Mapping[str, Any], part: str, skip: Container[Any] = ()) -> Any:
        """The value of a part in one record, but for the texts to skip; ``MISSING`` where it has none."""
        told = self.paths.get(part)
        for path in (told,) if told is not None else DETECTED[part]:
            value = _at(record, path)
            if value is not MISSING and value is not None and not (isinstance(value, str) and value in skip):
                return value
        return MISSING


def field_map(texts: Iterable[str]) -> FieldMap:
    """Read ``request=req.body,response=res.body``. Raises ``BadMap``, naming the nearest part."""
    paths: dict[str, str] = {}
    for pair in (pair.strip() for text in texts for pair in text.split(",") if pair.strip()):
        name, equals, path = pair.partition("=")
        name, path = name.strip(), path.strip()
        if not equals or not path:
            raise BadMap(f"expected PART=PATH, as in request=req.body, got {pair[:80]!r}")
        if name not in DETECTED:
            close = get_close_matches(name, DETECTED, n=1)
            hint = f"did you mean {close[0]}?" if close else f"expected one of {', '.join(DETECTED)}"
            raise BadMap(f"{name[:80]!r} is no part of an exchange; {hint}")
        if name in paths:
            raise BadMap(f"{name} is given twice")
        paths[name] = path
    return FieldMap(paths=paths)


def _at(record: Any, path: str) -> Any:
    """The value at a dotted path; a key that holds dots itself is found too, and a number counts into a list."""
    if isinstance(record, Mapping):
        if path in record:
            return record[path]
        name, dot, rest = path.partition(".")
        return _at(record[name], rest) if dot and name in record else MISSING
    if isinstance(record, list):
        name, dot, rest = path.partition(".")
        if name.isdecimal() and len(name) < 6 and int(name) < len(record):
            return _at(record[int(name)], rest) if dot else record[int(name)]
    return MISSING
