"""JSONL logs: one object a line, with the parts of an exchange at places that a map names or that are usual.

A body is text, JSON, or a list of the pieces of a stream. What a log does not keep is not held against anybody: without
headers the content type is the one that the body shows, and the key counts as sent, as it does where no line has one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from conformance.evidence import entries
from conformance.evidence.fields import MISSING, FieldMap
from conformance.evidence.logged_bodies import amounts_to_a_stream, joined, left_out
from conformance.evidence.recording import Unreadable
from conformance.values import Exchange, Failure, Request, Response

HOST = "http://log.invalid"
"""Stands for the host where a log keeps paths only."""

FORMS = "a HAR file, a vcrpy or go-vcr cassette, a journal, a JSONL log or the output of curl -i"
NO_PARTS = "no request and response at the places that are looked at; --map says where they are"
NO_LINE = "not a JSON object"
_OF_BODIES = frozenset(
    {"completed", "incomplete", "in_progress", "queued"}
)  # statuses of Responses objects, not HTTP's
MOST = 1000  # lines without any exchange, after which a file counts as foreign


def is_log(head: bytes) -> bool:
    """Whether the first line that is not blank is one whole JSON object, and no HAR file."""
    start = re.match(rb"(?:\xef\xbb\xbf)?\s*+", head).end()  # type: ignore[union-attr]  # it matches the empty text too
    end = head.find(b"\n", start)
    if not head.startswith(b"{", start):
        return False
    first = record(head[start : end if end >= 0 else None])
    return isinstance(first, dict) and not isinstance(entries.get(first.get("log"), "entries"), list)


def record(line: bytes) -> object:
    """The value of one line; None where it is no JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def refuse(path: str, count: int, skipped: Mapping[str, int]) -> None:
    """Raise ``Unreadable`` where a file of JSON lines is none of exchanges."""
    if not count and skipped.get(entries.OTHER, 0) == 0:
        reason = max(skipped, key=lambda words: skipped[words], default="no line")
        raise Unreadable(path, f"JSON lines that are no exchanges: {reason}; expected {FORMS}")


def exchange(line: bytes, name: str, path: str, fields: FieldMap) -> Exchange | str:
    """The exchange of one line, or the reason why it is none."""
    return exchange_of(record(line), name, path, fields)


def exchange_of(entry: object, name: str, path: str, fields: FieldMap) -> Exchange | str:
    """The exchange of the value of one line, or the reason why it is none."""
    if not isinstance(entry, dict):
        return NO_LINE
    asked, said = fields.find(entry, "request"), joined(fields.find(entry, "response"))
    asked, said = (MISSING if left_out(value) else value for value in (asked, said))
    if asked is MISSING and said is MISSING:
        return NO_PARTS
    url = fields.find(entry, "url")
    if not isinstance(url, str):
        url = entries.guessed_url(_value(asked), _value(said))
        if url is None:
            return "no URL, and the answer does not say which endpoint it is from; --map url=… names its place"
    method = fields.find(entry, "method")
    method = method.upper() if isinstance(method, str) else "POST"
    response, failure = _received(entry, asked, said, fields)
    kept = entries.headers(fields.find(entry, "request_headers"))
    kept = kept or (entries.AUTHORIZED, ("Content-Type", "application/json"))
    body = b"" if asked is MISSING else entries.body_bytes(asked) or b""
    request = Request(
        method=method,
        url=url if "://" in url else f"{HOST}/{url.lstrip('/')}",
        headers=(*kept, *entries.left_out(method, kept, body)),
        body=body,
    )
    started = entries.moment(fields.find(entry, "started"))
    return entries.exchange(name, path, request, response, failure, started=started)


def _received(entry: dict[str, Any], asked: Any, said: Any, fields: FieldMap) -> tuple[Response | None, Failure | None]:
    found = fields.find(entry, "status", skip=_OF_BODIES)
    status = entries.status_code(found)
    if status is None and (said is MISSING or found is not MISSING or _is_error(said)):
        return None, Failure(kind="cut", message="the log keeps no status of this answer")
    body = b"" if said is MISSING else entries.body_bytes(said) or b""
    kept = entries.headers(fields.find(entry, "headers"))
    headers = kept or ((entries.media_type(body),) if body else ())
    missing = "the log left the response body out" if said is MISSING else None
    if not kept and amounts_to_a_stream(_value(asked), said):
        missing = "the log keeps what a stream amounted to, not the stream"
    ms = entries.milliseconds(fields.find(entry, "ms"))
    return entries.received(status or 200, headers, body, ms=ms, missing=missing)


def _value(body: Any) -> Any:
    if isinstance(body, str):
        try:
            first = body.partition("data:")[2] if body.lstrip().startswith(("data:", "event:")) else body
            return json.JSONDecoder().raw_decode(first.strip())[0]
        except (ValueError, RecursionError):
            return None
    return body


def _is_error(said: Any) -> bool:
    value = _value(said)
    return isinstance(value, dict) and ("error" in value or value.get("type") == "error") and "id" not in value
