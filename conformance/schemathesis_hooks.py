"""Our rules as checks of schemathesis: ``hooks = "conformance.schemathesis_hooks"`` in schemathesis.toml.

Each rule over one exchange or stream is a check whose name, and whose failures' code, is the rule's id. A must finding
fails it; with ``KIMI_CONFORMANCE_STRICT=1`` a should finding too. Requests that are valid get a small output limit
(``KIMI_CONFORMANCE_LIMIT`` tokens), so that generated requests cost little. See docs/schemathesis.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import schemathesis
from schemathesis.core.failures import Failure
from schemathesis.generation import GenerationMode

from conformance.judge import judge
from conformance.models import ALL, DEFAULT
from conformance.probes.costs import LIMIT_NAMES
from conformance.protocols.asking import ask, surface
from conformance.protocols.memory import Memory
from conformance.rules import RULES, Rule
from conformance.values import Chunk, Exchange, Finding, Level, Protocol, Request, Response
from conformance.values import Failure as Broken

STRICT = "KIMI_CONFORMANCE_STRICT"
LIMIT = "KIMI_CONFORMANCE_LIMIT"
DEFAULT_LIMIT = 256  # tokens
_JUDGED: Memory[Mapping[str, Finding]] = Memory(size=8, weight=2**24, weigh=lambda _: 1)


def exchange_of(response: schemathesis.Response) -> Exchange | None:
    """A response of schemathesis, with the request that it answers, as evidence; None for another endpoint."""
    sent = response.request
    protocol = surface(str(sent.method), str(sent.url))
    if protocol is None:
        return None
    request = Request(
        method=str(sent.method),
        url=str(sent.url),
        headers=tuple((_text(name), _text(value)) for name, value in sent.headers.items()),
        body=_bytes(sent.body),
    )
    return Exchange(
        id="schemathesis",
        protocol=protocol,
        model=ask(protocol, request).model or DEFAULT,
        request=request,
        response=Response(
            status=response.status_code,
            headers=tuple((name, value) for name, values in response.headers.items() for value in values),
            chunks=(Chunk(ms=0, data=response.content),),
        ),
        failure=Broken(kind="cut", message="read no further than max-stream-events") if _cut(response) else None,
    )


def findings_of(response: schemathesis.Response) -> Mapping[str, Finding]:
    """The first finding of each rule that a response fails; judged once for all checks."""
    return _JUDGED.recall(id(response), response, lambda: _judge(response))


def before_call(_: schemathesis.HookContext, case: schemathesis.Case[Any], __: dict[str, Any]) -> None:
    """Lower the output limit of a request that is meant to be valid, in every phase."""
    if case.meta is not None and case.meta.generation.mode is GenerationMode.NEGATIVE:
        return
    protocol = surface(case.method, case.path)
    if protocol is not None and isinstance(case.body, dict):
        case.body = clamped(protocol, case.body, int(os.environ.get(LIMIT, DEFAULT_LIMIT)))


def clamped(protocol: Protocol, body: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """The body with no output limit above the given one, and with one where it has none."""
    names = [name for name in LIMIT_NAMES[protocol] if name in body] or [LIMIT_NAMES[protocol][0]]
    lowered = {name: _lower(body.get(name, limit), limit) for name in names}
    return {**body, **lowered}


def _lower(value: Any, limit: int) -> Any:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return limit if numeric and value > limit else value


def _judge(response: schemathesis.Response) -> Mapping[str, Finding]:
    exchange = exchange_of(response)
    if exchange is None:
        return {}
    levels = (Level.MUST, Level.SHOULD) if os.environ.get(STRICT) == "1" else (Level.MUST,)
    judged = judge([exchange], rules=checkable(), protocols=[exchange.protocol], models=ALL)
    found: dict[str, Finding] = {}
    for finding in judged.findings:
        if finding.level in levels:
            found.setdefault(finding.rule, finding)
    return found


def checkable() -> list[Rule]:
    """The rules that one exchange is enough for; those of level info record, and fail nothing."""
    return [rule for rule in RULES.values() if rule.find is None and rule.level is not Level.INFO]


def _check(rule: Rule) -> Callable[..., None]:
    kind = type(_class_name(rule.id), (Failure,), {"code": rule.id, "checks": (rule.id,), "kind_title": rule.statement})

    def check(_: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]) -> None:
        finding = findings_of(response).get(rule.id)
        if finding is not None:
            raise kind(operation=case.operation.label, message=_words(rule, finding))

    check.__name__ = check.__qualname__ = rule.id
    check.__doc__ = rule.statement
    return check


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.replace(".", "-").split("-"))


def _words(rule: Rule, finding: Finding) -> str:
    lines = [f"{finding.message} ({finding.pointer})" if finding.pointer else finding.message]
    lines += [f"expected {finding.expected}, actual {finding.actual}"]
    lines += [f"`kimi-conformance explain {rule.id}` says where a document demands this"]
    return "\n".join(lines)


def _cut(response: schemathesis.Response) -> bool:
    return bool(response.stream_cut_short or response.is_truncated)


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _bytes(body: object) -> bytes:
    if body is None:
        return b""
    return body if isinstance(body, bytes) else str(body).encode("utf-8", "surrogatepass")


def _register(rules: Iterable[Rule]) -> None:
    for rule in rules:
        schemathesis.check(_check(rule))
    schemathesis.hook(before_call)


_register(checkable())
