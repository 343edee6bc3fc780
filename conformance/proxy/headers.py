"""Header fields as they are passed on: what belongs to one connection alone stays behind (RFC 9110, 7.6.1)."""

from __future__ import annotations

from collections.abc import Iterable

Headers = list[tuple[bytes, bytes]]

_HOP_BY_HOP = frozenset({b"connection", b"proxy-connection", b"keep-alive", b"te", b"transfer-encoding", b"upgrade"})
_END_TO_END = frozenset({b"content-length", b"host", b"authorization", b"content-type", b"content-encoding"})
_OURS = frozenset({b"proxy-authorization", b"proxy-authenticate"})  # between a client and this proxy, not the upstream


def onward(headers: Iterable[tuple[bytes, bytes]], *, authority: bytes, via: bytes) -> Headers:
    """The fields of a request for the upstream: its Host, and Via as the last one.

    Spelling and order of the others stay. A body of unknown length stays chunked, and trailers stay welcome.
    """
    headers = list(headers)
    kept: Headers = [(b"Host", authority)]
    kept += [(name, value) for name, value in _end_to_end(headers) if name.lower() != b"host"]
    if _lists(headers, b"transfer-encoding", b"chunked"):
        kept = [(name, value) for name, value in kept if name.lower() != b"content-length"]
        kept.append((b"Transfer-Encoding", b"chunked"))
    if _lists(headers, b"te", b"trailers"):
        kept += [(b"TE", b"trailers"), (b"Connection", b"TE")]
    kept.append((b"Via", via))
    return kept


def homeward(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The fields of a response for the client, in their spelling and order."""
    return _end_to_end(list(headers))


def looped(headers: Iterable[tuple[bytes, bytes]], pseudonym: bytes) -> bool:
    """Whether a request has been through the proxy of this name before: the upstream is the proxy itself."""
    return any(name.lower() == b"via" and pseudonym in value for name, value in headers)


def _end_to_end(headers: Headers) -> Headers:
    """Without the fields of one connection: the known ones, and those that Connection names."""
    named = {word for name, value in headers if name.lower() == b"connection" for word in _words(value)}
    dropped = _HOP_BY_HOP | _OURS | (named - _END_TO_END)
    return [(name, value) for name, value in headers if name.lower() not in dropped]


def _lists(headers: Headers, field: bytes, word: bytes) -> bool:
    return any(name.lower() == field and word in _words(value) for name, value in headers)


def _words(value: bytes) -> list[bytes]:
    return [word.split(b";")[0].strip().lower() for word in value.split(b",")]
