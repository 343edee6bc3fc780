"""What our own cassettes hold beyond vcrpy's: enough to play an exchange again byte for byte.

An interaction has its ``step`` and ``attempt`` in the probe, ``recorded_at``, ``intents``, a ``failure``, the ``json``
style of a body that is shown over several lines, and ``shortened`` for a request whose long texts are not shown.
"""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec

from conformance import models
from conformance.evidence import beside, entries, shown
from conformance.evidence.entries import get, part
from conformance.values import Chunk, Exchange, Failure, Intent, Request, Response

FORMAT = "kimi-conformance-cassette"
VERSION = 1
SHORTENED = "a request whose long texts the cassette does not show"
"""Why ``check`` leaves an interaction out."""


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded exchange; the request's body is only ``shown``, as the cassette shows it."""

    step: int
    attempt: int
    request: Request
    shown: str | bytes
    shortened: bool
    intents: tuple[Intent, ...]
    response: Response | None
    failure: Failure | None
    started: str | None
    live: bool  # its times were kept


def is_ours(document: object) -> bool:
    """Whether a cassette says that this package wrote it."""
    return get(get(document, "metadata"), "format") == FORMAT


def item(exchange: Exchange, number: int, step: int) -> tuple[dict[str, Any], beside.Line | None]:
    """An exchange, redacted already, as an interaction of a cassette, and what is kept of it beside."""
    body, shortened = shown.request(exchange.request.body)
    entry: dict[str, Any] = {"step": step}
    if exchange.attempt > 1:
        entry["attempt"] = exchange.attempt
    entry["recorded_at"] = exchange.started
    if exchange.intents:
        entry["intents"] = [intent.value for intent in exchange.intents]
    entry["request"] = {
        "method": exchange.request.method,
        "uri": exchange.request.url,
        "headers": _headers(exchange.request.headers),
        "body": body,
    }
    if shortened:
        entry["shortened"] = True
    response, kept = exchange.response, None
    if response is None:
        entry["response"] = {"status": {"code": 0, "message": "no answer"}, "headers": {}, "body": {"string": ""}}
    else:
        if len(response.chunks) > 1:
            kept, data = beside.line(number, response.chunks)
        else:
            data = b"".join(chunk.data for chunk in response.chunks)
            entry["ms"] = response.chunks[0].ms if response.chunks else 0.0
        pretty = shown.pretty(data)
        if pretty is not None:
            entry["json"] = pretty[1]
        entry["response"] = {
            "status": {"code": response.status, "message": _phrase(response.status)},
            "headers": _headers(response.headers),
            "body": {"string": pretty[0] if pretty else _text(data)},
        }
    if exchange.failure is not None:
        entry["failure"] = {"kind": exchange.failure.kind, "message": exchange.failure.message}
    return entry, kept


def interaction(entry: object, kept: beside.Line | None) -> Interaction | str:
    """An interaction of our own cassette, or the reason why it is none."""
    sent = part(entry, "request")
    step, attempt = get(entry, "step"), get(entry, "attempt") or 1
    method, url = sent.get("method"), sent.get("uri")
    if not isinstance(step, int) or not isinstance(attempt, int) or step < 1 or attempt < 1:
        return "no step that is a number from 1"
    if not isinstance(method, str) or not isinstance(url, str):
        return "no request with a method and an address"
    body = sent.get("body") or ""
    if not isinstance(body, str | bytes):
        return "a request body that is neither text nor bytes"
    code, told = get(part(entry, "response").get("status"), "code"), part(entry, "failure")
    status = entries.status_code(code)
    if status is None and (code != 0 or not told):
        return "no response with a status, and no failure"
    response = None if status is None else _response(entry, status, kept)
    if isinstance(response, str):
        return response
    raw = get(entry, "intents")
    known = [intent for intent in Intent if isinstance(raw, list) and intent.value in raw]
    started = get(entry, "recorded_at")
    return Interaction(
        step=step,
        attempt=attempt,
        request=Request(method=method, url=url, headers=entries.headers(sent.get("headers"))),
        shown=body,
        shortened=get(entry, "shortened") is True,
        intents=tuple(known),
        response=response,
        failure=Failure(kind=str(told.get("kind")), message=str(told.get("message"))) if told else None,
        started=started if isinstance(started, str) else None,
        live=response is None or _timed(entry, response, kept),
    )


def _response(entry: object, status: int, kept: beside.Line | None) -> Response | str:
    answer = part(entry, "response")
    data = entries.body_bytes(part(answer, "body").get("string")) or b""
    style = get(entry, "json")
    if isinstance(style, str):
        restored = shown.compact(data.decode("utf-8", "replace"), style)
        if restored is None:
            return "a response body that is marked as JSON and is none"
        data = restored
    chunks: tuple[Chunk, ...] | None = None
    if kept is not None:
        restored = beside.whole(data, kept)
        if restored is None:
            return "a stream that does not fit to what is kept beside the cassette"
        data = restored
        chunks = beside.chunks(data, kept)
    elif b"\n: " in data and b" events, are in the file beside this one\n" in data:
        return "a stream whose file beside the cassette is missing"
    if chunks is None:  # one part, or edited since
        ms = entries.milliseconds(get(entry, "ms"))
        chunks = (Chunk(ms=ms, data=data),) if data else ()
    return Response(status=status, headers=entries.headers(answer.get("headers")), chunks=chunks)


def _timed(entry: object, response: Response, kept: beside.Line | None) -> bool:
    """Whether the times of a response were kept: of one part with the interaction, of several beside the cassette."""
    if kept is None:
        return get(entry, "ms") is not None
    return len(response.chunks) == len(kept.sizes)


def exchange(entry: object, kept: beside.Line | None, name: str, path: str, model: str | None) -> Exchange | str:
    """One exchange for ``check``, or the reason why it is left out.

    It counts for the model that its request names, and for that of its cassette where it names none: a request that is
    no JSON says nothing of another model than its probe was for.
    """
    found = interaction(entry, kept)
    if isinstance(found, str):
        return found
    if found.shortened:
        return SHORTENED
    request = msgspec.structs.replace(found.request, body=_sent(found.shown))
    made = entries.exchange(name, path, request, found.response, found.failure, started=found.started)
    if isinstance(made, str):
        return made
    if model is not None and models.canonical(entries.named_model(request.body)) is None:
        made = msgspec.structs.replace(made, model=model)
    return msgspec.structs.replace(made, intents=found.intents, attempt=found.attempt, live=found.live)


def model_of(document: object) -> str | None:
    """The model that a cassette of ours was recorded for; None where it does not say, and for those of others."""
    return models.canonical(get(get(document, "metadata"), "model")) if is_ours(document) else None


def kept_beside(document: object, path: str) -> dict[int, beside.Line]:
    """What lies beside a cassette of ours; nothing for those of others. Raises ``Unreadable``."""
    return beside.read(beside.path_of(Path(path))) if is_ours(document) else {}


def _sent(body: str | bytes) -> bytes:
    """The bytes of a request that is shown whole: JSON as our builders write it, anything else as it stands."""
    if isinstance(body, bytes):
        return body
    data = shown.compact(body, "compact")
    leads_back = data is not None and shown.request(data)[0] == body
    return data if data is not None and leads_back else entries.encoded(body)


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _headers(pairs: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "unknown"
