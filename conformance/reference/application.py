"""The server as an ASGI application: one request through every stage, hooks in between."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterable
from email.utils import formatdate
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from conformance.reference import encoding, engine, rehearsal
from conformance.reference.admission import Admission, bearer
from conformance.reference.bodies import MAX_BYTES, json_object, nested_too_deeply
from conformance.reference.cache import Cache, measured, overflow, with_usage
from conformance.reference.hooks import Context, Cut, Head, Hooks, Pause, Wire, applied
from conformance.reference.problems import Problem, joined
from conformance.reference.reading import orphans, read
from conformance.reference.refusals import Layer, Refusal, Refused, envelope, invalid
from conformance.reference.settings import Settings
from conformance.reference.validation import problems
from conformance.values import Protocol

PATHS = {
    "/v1/chat/completions": Protocol.CHAT,
    "/v1/messages": Protocol.MESSAGES,
    "/v1/responses": Protocol.RESPONSES,
}
_log = logging.getLogger("conformance.reference")
_METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]
_JSON = ("content-type", "application/json")


class CutError(ConnectionError):
    """Raised in the middle of an answer to break the connection off, where a hook asks for that."""


def app(settings: Settings | None = None, *, hooks: Hooks | None = None) -> Starlette:
    """A reference server; its cache and rate limit live as long as the application does."""
    server = Server(settings or Settings(), hooks or Hooks())
    routes = [Route("/{path:path}", server.answer, methods=_METHODS)]
    return Starlette(routes=routes)


class Server:
    """The state of one server, and the way of a request through its stages.

    ``answer`` is for ASGI; ``respond`` is the same without a network.
    """

    def __init__(self, settings: Settings, hooks: Hooks) -> None:
        self._settings = settings
        self._hooks = hooks
        self._admission = Admission(settings)
        self._cache = Cache(settings.clock)

    async def answer(self, request: Request) -> Response:
        """Read a request to its end, and answer it."""
        raw = await _received(request)
        context = _context(request.method, request.url.path, request.headers, raw)
        head, wire = await run_in_threadpool(self._answered, context)
        return _response(head, wire, self._settings.chunk_delay if context.stream else 0.0)

    def respond(self, method: str, path: str, headers: Iterable[tuple[str, str]], raw: bytes) -> tuple[Head, Wire]:
        """Status, headers and body for a request; never raises."""
        given = Headers(raw=[(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers])
        return self._answered(_context(method, path, given, raw[: MAX_BYTES + 1]))

    def _answered(self, context: Context) -> tuple[Head, Wire]:
        """Status, headers and body for a request; never raises."""
        try:
            head, wire = self._accepted(context)
        except Refused as refused:
            head, wire = self._refused(context, refused.refusal)
        except RecursionError:
            head, wire = self._refused(context, nested_too_deeply().refusal)
        except Exception:  # noqa: BLE001 (a bug of ours must be a documented 500, not a dropped connection)
            _log.exception("internal error")
            failure = Refusal(
                layer=Layer.INTERNAL, status=500, type="internal_error", message="Internal service error."
            )
            head, wire = self._refused(context, failure)
        head = applied(self._hooks.head, context, head)
        return applied(self._hooks.sent, context, (head, applied(self._hooks.wire, context, wire)))

    def _accepted(self, context: Context) -> tuple[Head, Wire]:
        """The way of a good request; raises Refused at the stage that refuses."""
        hooks, settings = self._hooks, self._settings
        _route(context)
        refusal = applied(hooks.admission, context, self._admission.refusal(context.headers))
        if refusal is not None:
            raise Refused(refusal)
        body = context.body = applied(hooks.body_read, context, json_object(context.raw))
        found = problems(context.protocol, body)
        self._settled(context, found, Layer.VALIDATION)
        prompt = context.prompt = applied(hooks.prompt, context, read(context.protocol, body, forgiven=found))
        measure = measured(prompt)
        self._settled(context, [*orphans(prompt), *overflow(measure)], Layer.PROMPT)
        result = engine.answer(prompt, measure, seed=settings.seed)
        result = with_usage(result, prompt, measure, self._cache.share(context.key or "", prompt, measure))
        result = applied(hooks.result, context, result)
        created = int(settings.clock())
        failure = rehearsal.asked(prompt)
        if prompt.stream:
            events = encoding.events(prompt, result, created, body)
            events = applied(hooks.events, context, rehearsal.ended(failure, prompt, events) if failure else events)
            head = self._head(
                context, 200, ("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache")
            )
            return head, [encoding.framed(event) for event in events]
        answer = encoding.body(prompt, result, created, body)
        answer = applied(hooks.body, context, rehearsal.failed(answer) if failure else answer)
        return self._head(context, 200, _JSON), [_dumped(answer)]

    def _settled(self, context: Context, found: list[Problem], layer: Layer) -> None:
        """Refuse the request unless it has no problem, or a hook forgives them."""
        left = applied(self._hooks.problems, context, found)
        if left:
            raise invalid(joined(left), layer=layer, code=left[0].code)

    def _refused(self, context: Context, refusal: Refusal) -> tuple[Head, Wire]:
        context.refused = refusal.layer
        refusal = applied(self._hooks.refusal, context, refusal)
        body = applied(self._hooks.envelope, context, envelope(context.protocol, refusal, context.id))
        return self._head(context, refusal.status, _JSON, *refusal.headers.items()), [_dumped(body)]

    def _head(self, context: Context, status: int, *headers: tuple[str, str]) -> Head:
        date = ("date", formatdate(self._settings.clock(), usegmt=True))
        name = "request-id" if context.protocol is Protocol.MESSAGES else "x-request-id"
        return Head(status=status, headers=(date, *headers, (name, context.id)))


def _context(method: str, path: str, headers: Headers, raw: bytes) -> Context:
    return Context(protocol=_protocol(path), method=method, path=path, headers=headers, raw=raw, key=bearer(headers))


def _protocol(path: str) -> Protocol:
    """The surface whose envelope a path gets, known or not."""
    if path.startswith("/v1/messages"):
        return Protocol.MESSAGES
    return Protocol.RESPONSES if path.startswith("/v1/responses") else Protocol.CHAT


def _route(context: Context) -> None:
    """Refuse unknown paths and methods other than POST."""
    if context.path not in PATHS:
        message = f"Unknown path; known are {', '.join(PATHS)}."
        raise Refused(Refusal(layer=Layer.ROUTING, status=404, type="not_found_error", message=message))
    if context.method != "POST":
        refusal = Refusal(
            layer=Layer.ROUTING,
            status=405,
            type="invalid_request_error",
            message="Only POST is allowed here.",
            code="method_not_allowed",
            headers={"allow": "POST"},
        )
        raise Refused(refusal)


async def _received(request: Request) -> bytes:
    """The body, read to its end; what exceeds the bound by more than a byte is thrown away."""
    kept = bytearray()
    async for chunk in request.stream():
        kept += chunk[: MAX_BYTES + 1 - len(kept)]
    return bytes(kept)


def _dumped(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


def _response(head: Head, wire: Wire, delay: float) -> Response:
    """A whole body with its length, or chunks as they are to be sent."""
    chunks = [chunk for chunk in wire if isinstance(chunk, bytes)]
    if len(wire) == 1 and len(chunks) == 1:
        response = Response(chunks[0], status_code=head.status)
        length = [(b"content-length", str(len(chunks[0])).encode())]
    else:
        response = StreamingResponse(_sent(wire, delay), status_code=head.status)
        length = []
    response.raw_headers = [*((name.encode(), value.encode("latin-1")) for name, value in head.headers), *length]
    return response


async def _sent(wire: Wire, delay: float) -> AsyncIterator[bytes]:
    for number, chunk in enumerate(wire):
        if isinstance(chunk, Pause):
            await asyncio.sleep(chunk.seconds)
        elif isinstance(chunk, Cut):
            raise CutError("a hook broke the connection off")
        else:
            if number:
                await asyncio.sleep(delay)
            yield chunk
