"""Ask a reference application and read what it answers through the package's own view."""

from __future__ import annotations

import itertools
import json
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient

from conformance.protocols import BUILDERS, Answer, read
from conformance.reference import DEFAULT_KEY
from conformance.values import Chunk, Exchange, Protocol, Request, Response

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES
PATHS = {CHAT: "/v1/chat/completions", MESSAGES: "/v1/messages", RESPONSES: "/v1/responses"}
PRO, K3 = "kimi-k3.1-pro", "kimi-k3"
_NUMBERS = itertools.count()


def body_of(protocol: Protocol, user: str | None = None, **options: Any) -> dict[str, Any]:
    """A request of one user message to the pro model with 4,096 tokens of room, unless options say otherwise."""
    model = options.pop("model", PRO)
    options.setdefault("limit", 4096)
    return BUILDERS[protocol].body(model, user=user, **options)


def tool_of(protocol: Protocol, name: str, schema: dict[str, Any], description: str = "") -> dict[str, Any]:
    """A function tool as the surface declares it."""
    return BUILDERS[protocol].tool(name, schema, description)


class Asker(TestClient):
    """A client with the default key whose answers are views."""

    def __init__(self, application: Starlette, key: str = DEFAULT_KEY) -> None:
        super().__init__(application, headers={"authorization": f"Bearer {key}"}, raise_server_exceptions=False)

    def exchange(self, protocol: Protocol, body: dict[str, Any] | bytes, **headers: str) -> Answer:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = self.post(PATHS[protocol], content=content, headers=headers)
        request = Request(method="POST", url=f"http://test{PATHS[protocol]}", body=content)
        response = Response(
            status=answer.status_code,
            headers=tuple(answer.headers.items()),
            chunks=(Chunk(ms=1.0, data=answer.content),),
        )
        name = body.get("model") if isinstance(body, dict) else None
        model = name if isinstance(name, str) else PRO
        number = str(next(_NUMBERS))
        return read(Exchange(id=number, protocol=protocol, model=model, request=request, response=response))

    def ask(self, protocol: Protocol, user: str | None = None, **options: Any) -> Answer:
        return self.exchange(protocol, body_of(protocol, user, **options))
