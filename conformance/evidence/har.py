"""HAR 1.2, as browsers, proxies and recorders write it.

Bodies in a HAR are decoded already (gzip, br), and text is Unicode; some recorders keep the coded bytes as base64. What
a recorder could not keep is told apart from what the server did not send: a body that is missing although its size is
above 0 is a recording cut short.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from conformance.evidence import bodies, entries
from conformance.evidence.entries import Headers, encoded, get, part, unbase64
from conformance.evidence.recording import Recording, Unreadable
from conformance.values import Exchange, Failure, Request, Response

INVALID_KEY_COMMENT = "invalid key"
"""An entry, or its request, with this comment was sent with a key that cannot be valid."""

CHROMIUM = "WebInspector"
"""The creator that Chromium's browsers write. Their export takes Authorization away from every entry, unless sensitive
data is asked for: a file of theirs without any says nothing about keys that were not sent."""

_ERRORS = (  # fragments of the errors that browsers and proxies write, and the kind of failure
    *((name, "cut") for name in ("CLIENT", "CANCEL", "KILLED", "BLOCKED_BY", "CERT", "SSL")),  # the client's own
    *((name, "cut") for name in ("NETWORK_CHANGED", "INTERNET_DISCONNECTED", "IO_SUSPENDED", "INSUFFICIENT")),
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


_DIGITS = 16  # of a length; one with more is none
_MARK = 3  # bytes of a byte order mark, which browsers take away


def parse(document: dict[str, Any], path: str, *, cut: str | None = None) -> Recording:
    """The exchanges of a HAR document; ids are entry numbers counted from 1. Raises ``Unreadable``.

    ``cut`` says why the document holds only the first entries of its file.
    """
    log = document.get("log")
    listed = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(listed, list):
        raise Unreadable(path, "a HAR file whose log has no list of entries")
    if not listed:
        raise Unreadable(path, "empty: the HAR file has no entry")
    exchanges: list[Exchange] = []
    skipped: Counter[str] = Counter()
    stripped = strips_keys(get(log, "creator")) and not any(map(is_authorized, listed))
    for number, entry in enumerate(listed, 1):
        result = exchange(entry, str(number), path)
        if isinstance(result, str):
            skipped[result] += 1
        else:
            exchanges.append(entries.with_key(result) if stripped else result)
    return Recording(
        path=path,
        format="har",
        exchanges=tuple(exchanges),
        skipped=dict(skipped),
        cut=cut or bodies.unread_of(exchanges),
    )


def exchange(entry: object, name: str, path: str) -> Exchange | str:
    """One exchange, or the reason why the entry is none."""
    sent = part(entry, "request")
    method, url = sent.get("method"), sent.get("url")
    if not isinstance(method, str) or not isinstance(url, str):
        return "not a HAR entry: no request with a method and a URL"
    comments = (get(entry, "comment"), sent.get("comment"))
    headers, body = entries.headers(sent.get("headers")), _posted(part(sent, "postData"))
    response, failure = _received(entry)
    return entries.exchange(
        name,
        path,
        Request(
            method=method.upper(),
            url=url,
            headers=(*headers, *entries.left_out(method, headers, body, sent.get("bodySize"))),
            body=body,
        ),
        response,
        failure,
        started=entries.moment(get(entry, "startedDateTime"))
        if isinstance(get(entry, "startedDateTime"), str)
        else None,
        invalid_key=any(isinstance(text, str) and INVALID_KEY_COMMENT in text.lower() for text in comments),
    )


def strips_keys(creator: object) -> bool:
    """Whether the creator of a file is one that takes keys away."""
    return get(creator, "name") == CHROMIUM


def is_authorized(entry: object) -> bool:
    """Whether the request of an entry has a key."""
    return any(name.lower() == "authorization" for name, _ in entries.headers(part(entry, "request").get("headers")))


def _received(entry: object) -> tuple[Response | None, Failure | None]:
    got = part(entry, "response")
    status = got.get("status")
    error = next((text for text in (got.get("_error"), get(entry, "_error")) if isinstance(text, str) and text), None)
    if isinstance(status, bool) or not isinstance(status, int) or status <= 0:
        return None, Failure(kind=_kind(error), message=(error or "no response was recorded")[:200])
    headers = entries.headers(got.get("headers")) or _media_type(part(got, "content"))
    data, missing = _content(got, headers)
    response, failure = entries.received(
        status, headers, data, ms=entries.milliseconds(get(entry, "time")), missing=missing
    )
    failure = failure or _cut_short(part(got, "content"), response)
    return response, failure if error is None else Failure(kind=_kind(error), message=error[:200])


def _content(got: dict[str, Any], headers: Headers) -> tuple[bytes, str | None]:
    """The body, and why it is not whole."""
    content = part(got, "content")
    text = content.get("text")
    if not isinstance(text, str):
        length = next((value for name, value in headers if name.lower() == "content-length"), "")
        sizes = [content.get("size"), got.get("bodySize"), int(length) if length.isdecimal() else None]
        known = [size for size in sizes if isinstance(size, int) and size >= 0]
        empty = bool(known) and not any(known)
        return b"", None if empty else "the recording left the response body out"
    if str(content.get("encoding", "")).lower() != "base64":
        return encoded(text), None
    data = unbase64(text)
    return (b"", "the response body is marked base64 and is not") if data is None else (data, None)


def _media_type(content: dict[str, Any]) -> Headers:
    """The one header that is known where a recorder kept none of a response."""
    kind = content.get("mimeType")
    return (("Content-Type", kind),) if isinstance(kind, str) and kind not in ("", "x-unknown") else ()


def _cut_short(content: dict[str, Any], response: Response) -> Failure | None:
    """The failure of an answer of which the recorder kept less than arrived, as browsers do with large ones."""
    kept = bodies.size(response.chunks)
    named = {name.lower(): value for name, value in response.headers}
    length = "" if "content-encoding" in named else named.get("content-length", "")
    sizes = [content.get("size"), int(length) if length.isdecimal() and len(length) < _DIGITS else None]
    whole = max((size for size in sizes if isinstance(size, int)), default=0)
    if kept + _MARK >= whole:
        return None
    return Failure(kind="cut", message=f"the recording holds {kept} of {whole} bytes of the response body")


def _posted(post: dict[str, Any]) -> bytes:
    text = post.get("text")
    if isinstance(text, str) and text:
        if str(post.get("encoding", "")).lower() == "base64":
            return unbase64(text) or encoded(text)
        return encoded(text)
    fields = [
        (str(item["name"]), str(item.get("value", "")))
        for item in _list(post.get("params"))
        if isinstance(item, dict) and "name" in item
    ]
    return urlencode(fields, errors="replace").encode()


def _kind(error: str | None) -> str:
    name = (error or "").upper()
    return next((kind for fragment, kind in _ERRORS if fragment in name), "reset" if name else "cut")


def _list(value: object) -> Iterable[Any]:
    return value if isinstance(value, list) else ()
