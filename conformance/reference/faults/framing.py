"""Faults in how events are written: lines, blank lines, bytes, and data that is no JSON object."""

from __future__ import annotations

import json

from conformance.reference.faults.edits import streams
from conformance.reference.faults.registry import EVERY, MESSAGES, RESPONSES, STREAM, fault
from conformance.reference.hooks import Context, Wire

_ONLY = (STREAM,)
_FRAMING = ("stream.sse-framing",)
_DATA = ("stream.data-json",)
_PREFIX = b"data: "


def _written(wire: Wire, place: int, chunk: bytes) -> Wire:
    """The wire with one chunk written otherwise."""
    return [*wire[:place], chunk, *wire[place + 1 :]]


def _bytes(wire: Wire, place: int) -> bytes:
    chunk = wire[place]
    return chunk if isinstance(chunk, bytes) else b""


def _with_data(wire: Wire, place: int, data: bytes) -> Wire:
    """The wire with other data in one event."""
    name, _, _ = _bytes(wire, place).partition(_PREFIX)
    return _written(wire, place, name + _PREFIX + data + b"\n\n")


def _data(wire: Wire, place: int) -> bytes:
    return _bytes(wire, place).partition(_PREFIX)[2].rstrip(b"\n")


@fault(
    "stream-last-event-unterminated",
    "wire",
    modes=_ONLY,
    caught_by=("stream.sse-framing", "stream.complete", "stream.chat.done"),
)
def last_unterminated(context: Context, wire: Wire) -> Wire:
    """The last event lacks its blank line, so that a parser never delivers it."""
    return _written(wire, len(wire) - 1, _bytes(wire, -1).rstrip(b"\n") + b"\n") if streams(context) else wire


@fault("stream-events-run-together", "wire", modes=_ONLY, caught_by=_DATA)
def run_together(context: Context, wire: Wire) -> Wire:
    """No blank line parts the second event from the third."""
    return _written(wire, 1, _bytes(wire, 1)[:-1]) if streams(context) else wire


@fault("stream-unknown-field", "wire", modes=_ONLY, caught_by=_FRAMING)
def unknown_field(context: Context, wire: Wire) -> Wire:
    """An event has a field that the format does not know."""
    return _written(wire, 1, b"timestamp: 1767225600\n" + _bytes(wire, 1)) if streams(context) else wire


@fault("stream-log-line", "wire", modes=_ONLY, caught_by=_FRAMING)
def log_line(context: Context, wire: Wire) -> Wire:
    """A line of the server's log stands between two events."""
    return [*wire[:2], b"INFO request in progress\n\n", *wire[2:]] if streams(context) else wire


@fault("stream-data-on-several-lines", "wire", modes=_ONLY, caught_by=(*_FRAMING, *_DATA))
def several_lines(context: Context, wire: Wire) -> Wire:
    """The data of an event is indented JSON whose later lines lack their field name."""
    if not streams(context):
        return wire
    return _with_data(wire, 1, json.dumps(json.loads(_data(wire, 1)), indent=2, ensure_ascii=False).encode())


@fault("stream-invalid-utf8", "wire", modes=_ONLY, caught_by=(*_FRAMING, "stream.utf8-intact"))
def invalid_utf8(context: Context, wire: Wire) -> Wire:
    """The data of an event holds a byte that is no UTF-8."""
    return _written(wire, 1, _bytes(wire, 1).replace(b'": "', b'": "\xe6', 1)) if streams(context) else wire


@fault("stream-cjk-in-another-encoding", "wire", modes=_ONLY, caught_by=("stream.utf8-intact", *_FRAMING))
def another_encoding(context: Context, wire: Wire) -> Wire:
    """Text beyond Latin is sent in GB 18030 instead of UTF-8."""
    if not streams(context):
        return wire
    return [part.decode().encode("gb18030") if isinstance(part, bytes) else part for part in wire]


@fault(
    "stream-name-apart-from-data",
    "wire",
    on=(MESSAGES, RESPONSES),
    modes=_ONLY,
    caught_by=(*_FRAMING, "stream.messages.event-names"),
)
def apart(context: Context, wire: Wire) -> Wire:
    """A blank line stands between the name of an event and its data."""
    return _written(wire, 2, _bytes(wire, 2).replace(b"\ndata", b"\n\ndata", 1)) if streams(context) else wire


@fault("stream-data-without-field-name", "wire", modes=_ONLY, caught_by=_FRAMING)
def without_field_name(context: Context, wire: Wire) -> Wire:
    """The data of the second event stands alone, without its field name."""
    return _written(wire, 1, _bytes(wire, 1).replace(_PREFIX, b"", 1)) if streams(context) else wire


@fault("stream-bare-json-lines", "wire", modes=_ONLY, caught_by=("http.stream.flag-honoured", *_FRAMING))
def bare_lines(context: Context, wire: Wire) -> Wire:
    """The stream is one JSON text a line, though it says that it is an event stream."""
    return [_data(wire, place) + b"\n" for place in range(len(wire))] if streams(context) else wire


@fault("stream-data-as-python", "wire", modes=_ONLY, caught_by=_DATA)
def as_python(context: Context, wire: Wire) -> Wire:
    """The data of an event is written as the server's language shows it, in single quotes."""
    return _with_data(wire, 1, repr(json.loads(_data(wire, 1))).encode()) if streams(context) else wire


@fault("stream-data-as-array", "wire", modes=_ONLY, caught_by=_DATA)
def as_array(context: Context, wire: Wire) -> Wire:
    """The data of an event is an array around the object."""
    return _with_data(wire, 1, b"[" + _data(wire, 1) + b"]") if streams(context) else wire


@fault("stream-data-encoded-twice", "wire", modes=_ONLY, caught_by=_DATA)
def encoded_twice(context: Context, wire: Wire) -> Wire:
    """The data of an event is a JSON string that holds the object."""
    return _with_data(wire, 1, json.dumps(_data(wire, 1).decode()).encode()) if streams(context) else wire


@fault("stream-data-cut", "wire", modes=_ONLY, caught_by=_DATA)
def data_cut(context: Context, wire: Wire) -> Wire:
    """The data of an event lacks its last bracket."""
    return _with_data(wire, 2, _data(wire, 2)[:-1]) if streams(context) else wire


@fault("stream-heartbeat-as-data", "wire", on=EVERY, modes=_ONLY, caught_by=_DATA)
def heartbeat(context: Context, wire: Wire) -> Wire:
    """A sign of life is sent as the data of an event instead of a comment."""
    return [*wire[:2], b"data: keep-alive\n\n", *wire[2:]] if streams(context) else wire


@fault("stream-null-as-data", "wire", modes=_ONLY, caught_by=_DATA)
def null_as_data(context: Context, wire: Wire) -> Wire:
    """An event carries null."""
    return [*wire[:2], b"data: null\n\n", *wire[2:]] if streams(context) else wire
