"""Which field of a request differs from the recorded one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from conformance.evidence import shown
from conformance.evidence.replayable import Interaction
from conformance.plain import text
from conformance.recording.shapes import hidden
from conformance.redact import HIDDEN_HEADERS, PLACEHOLDER
from conformance.values import Request

_MOST = 60  # characters of a value in the message


def difference(
    recorded: Interaction, sent: Request, places: Sequence[str], recorded_places: Sequence[str]
) -> str | None:
    """The first field in which they differ, with both values; None where they agree.

    ``sent`` is redacted as the recorded one is. Base URLs are compared by their place in the two lists: the ports
    of two runs differ.
    """
    fields = [
        ("method", recorded.request.method, sent.method),
        ("path", urlsplit(recorded.request.url).path, urlsplit(sent.url).path),
        ("base URL", _place(recorded.request.url, recorded_places), _place(sent.url, places)),
        *_headers(recorded.request.headers, sent.headers),
    ]
    for name, old, new in fields:
        if old != new:
            return _told(name, old, new)
    if not recorded.shortened and sent.body in _bodies(recorded.shown):
        return None
    body, _ = shown.request(sent.body)
    return None if body == recorded.shown else _body(recorded.shown, body)


def _bodies(whole: str | bytes) -> Iterator[bytes | None]:
    """What a body that is shown whole may have been on the wire: as it stands, and JSON as our builders write it."""
    if isinstance(whole, bytes):
        yield whole
        return
    yield whole.encode("utf-8", "surrogatepass")
    yield shown.compact(whole, "compact")


def _headers(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str | None, str | None]]:
    before, after = {name.lower(): value for name, value in old}, {name.lower(): value for name, value in new}
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) == after.get(name):
            continue
        secret = name in HIDDEN_HEADERS or name == "authorization"
        old_value, new_value = (_scheme(one.get(name)) if secret else one.get(name) for one in (before, after))
        yield f"header {name}", old_value, new_value


def _scheme(value: str | None) -> str | None:
    """The value of a header for keys, without the key that somebody may have left in it."""
    if value is None or value.rpartition(" ")[2] == PLACEHOLDER:
        return value
    return f"{value.partition(' ')[0]} and a key" if " " in value else "a key"


def _place(url: str, places: Sequence[str]) -> int | None:
    return next((number for number, base in enumerate(places, 1) if url.startswith(f"{base}/")), None)


def _body(old: str | bytes, new: str | bytes) -> str:
    try:
        before, after = json.loads(old), json.loads(new)
    except (ValueError, RecursionError):
        before, after = old, new
    found = next(_values(before, after, ""), None)
    if found is None:
        return "body: the same values, written differently"
    return _told(f"body {found[0]}".rstrip(), *(_line(value) for value in found[1:]))


def _values(old: Any, new: Any, pointer: str) -> Iterator[tuple[str, Any, Any]]:
    """Pointers of the values that differ, in order, and both values; absent ones are ``...``."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            escaped = name.replace("~", "~0").replace("/", "~1")
            yield from _values(old.get(name, ...), new.get(name, ...), f"{pointer}/{escaped}")
    elif isinstance(old, list) and isinstance(new, list):
        for place in range(max(len(old), len(new))):
            before, after = (items[place] if place < len(items) else ... for items in (old, new))
            yield from _values(before, after, f"{pointer}/{place}")
    elif type(old) is not type(new) or old != new:
        yield pointer, old, new


def _line(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) and "\n" in value else value


def _told(name: str, old: object, new: object) -> str:
    return text(f"{name}: recorded {_value(old)}, now {_value(new)}")


def _value(value: object) -> str:
    if value is None or value is ...:
        return "nothing"
    whole = hidden(value if isinstance(value, str) else repr(value))
    return repr(whole if len(whole) <= _MOST else f"{whole[:_MOST]}…") if isinstance(value, str) else whole[:_MOST]
