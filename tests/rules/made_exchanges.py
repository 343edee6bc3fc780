"""Exchanges for tests, made from a request body and an answer."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from conformance.judge import judge
from conformance.models import DEFAULT, canonical
from conformance.rules import RULES
from conformance.values import RANK, Chunk, Exchange, Failure, Intent, Level, Protocol, Request, Response

PATHS = {
    Protocol.CHAT: "/v1/chat/completions",
    Protocol.MESSAGES: "/v1/messages",
    Protocol.RESPONSES: "/v1/responses",
}
KEY = {"Authorization": "Bearer REDACTED", "Content-Type": "application/json"}
_NUMBERS = count(1)


def body(protocol: Protocol, model: str = DEFAULT, **more: Any) -> dict[str, Any]:
    """A minimal request; a field set to ... is left out."""
    if protocol is Protocol.RESPONSES:
        made = {"model": model, "input": "In which year did the Berlin Wall fall?"}
    else:
        made = {"model": model, "messages": [{"role": "user", "content": "In which year did the Berlin Wall fall?"}]}
        if protocol is Protocol.MESSAGES:
            made["max_tokens"] = 1024
    return {name: value for name, value in {**made, **more}.items() if value is not ...}


def answer(protocol: Protocol, model: str = DEFAULT, text: str = "In 1989.") -> dict[str, Any]:
    number = next(_NUMBERS)
    if protocol is Protocol.CHAT:
        message = {"role": "assistant", "content": text, "reasoning_content": "It was 1989."}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1781429460,
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 24, "completion_tokens": 13, "total_tokens": 37},
        }
    if protocol is Protocol.MESSAGES:
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [
                {"type": "thinking", "thinking": "It was 1989.", "signature": "c2lnbmVk"},
                {"type": "text", "text": text},
            ],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 24, "output_tokens": 13},
        }
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1781429460,
        "status": "completed",
        "model": model,
        "output": [
            {
                "type": "message",
                "id": f"msg_{number}",
                "role": "assistant",
                "content": [{"type": "output_text", "text": text}],
                "status": "completed",
            }
        ],
        "usage": {"input_tokens": 24, "output_tokens": 13, "total_tokens": 37},
    }


def error(protocol: Protocol, message: str = "Invalid request parameters", **more: Any) -> dict[str, Any]:
    kind = more.pop("type", "invalid_request_error")
    if protocol is Protocol.MESSAGES:
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return {"error": {"message": message, "type": kind, "code": more.pop("code", None)}}


def exchange(
    protocol: Protocol,
    sent: object,
    status: int | None = 200,
    got: object = None,
    *,
    headers: dict[str, str] | None = None,
    answered: dict[str, str] | None = None,
    method: str = "POST",
    intents: tuple[Intent, ...] = (),
    failure: str | None = None,
    host: str = "https://direct.evolink.ai",
    live: bool = False,
) -> Exchange:
    """One exchange; ``got`` None means the usual answer or error, and bytes or a string are taken as they are."""
    named = sent.get("model") if isinstance(sent, dict) else None
    model = canonical(named) or DEFAULT
    if got is None:
        got = answer(protocol, named if isinstance(named, str) else DEFAULT) if status == 200 else error(protocol)
    raw = got if isinstance(got, bytes) else (got if isinstance(got, str) else json.dumps(got)).encode()
    kind = "text/event-stream" if raw[:5] in (b"data:", b"event") else "application/json"
    response = None
    if status is not None:
        response = Response(
            status=status,
            headers=tuple({"Content-Type": kind, **(answered or {})}.items()),
            chunks=(Chunk(ms=10, data=raw),),
        )
    return Exchange(
        id=str(next(_NUMBERS)),
        protocol=protocol,
        model=model,
        request=Request(
            method=method,
            url=host + PATHS[protocol],
            headers=tuple((KEY if headers is None else headers).items()),
            body=sent if isinstance(sent, bytes) else json.dumps(sent).encode(),
        ),
        response=response,
        failure=Failure(kind=failure, message=failure) if failure else None,
        intents=intents,
        live=live,
    )


def found(*exchanges: Exchange, families: tuple[str, ...] = ("http", "error", "request", "model")) -> dict[str, Level]:
    """The rules of these families that find something above info, with the heaviest level."""
    result = judge(exchanges, rules=[rule for rule in RULES.values() if rule.family in families])
    assert not [verdict for verdict in result.verdicts if verdict.outcome == "error"]
    levels: dict[str, Level] = {}
    for finding in result.findings:
        if finding.level is Level.INFO:
            continue
        before = levels.get(finding.rule, Level.INFO)
        levels[finding.rule] = max(before, finding.level or Level.INFO, key=RANK.__getitem__)
    return levels


def exercised(rule: str, *exchanges: Exchange) -> bool:
    return any(verdict.exercised for verdict in judge(exchanges, rules=[RULES[rule]]).verdicts)
