"""Requests that must be refused, and failures of the service on requests that it may refuse or must answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from conformance.protocols.view import Answer
from conformance.rules.decisions import ENVELOPES, GATEWAY, breaks_schema, enveloped, posted, refusal, told
from conformance.rules.doubts import sent_whole
from conformance.rules.groups import tries
from conformance.rules.http import malformed_post
from conformance.rules.parts import shown
from conformance.rules.past_turns import orphans
from conformance.rules.places import MODEL, REQUEST_SCHEMA, SERVER_ERROR
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Group, Inconclusive, cite, rule
from conformance.rules.undocumented import extra_properties
from conformance.specs import Breach
from conformance.values import Basis, Finding, Level, Over

_NUMBERS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "max_uses", "temperature", "top_p"})
_TURN = re.compile(r"/(?:messages|input)/(\d{1,9})(?:/|$)")


def demanded(answer: Answer) -> list[Breach]:
    """The broken constraints whose refusal no rule but request.invalid-rejected demands.

    What a document leaves open is left out, and so is null within an assistant message: that is how clients send back
    what they were given.
    """
    return [
        breach
        for breach in answer.asked.breaches
        if not breach.open and breach.rule is None and not (_value(answer, breach) is None and _is_said(answer, breach))
    ]


def invalid(answer: Answer) -> bool:
    """A request that breaks a constraint of its schema."""
    return posted(answer) and sent_whole(answer) and bool(demanded(answer))


def invalid_or_open(answer: Answer) -> bool:
    """A request that breaks a constraint of its schema, or the tool_choice type tool on messages."""
    return invalid(answer) or (posted(answer) and _names_a_tool(answer) and answer.status in (200, 400))


def broken_request(answer: Answer) -> bool:
    """A request that breaks the schema, or whose body is malformed."""
    if answer.status is None:
        return False
    return (posted(answer) and sent_whole(answer) and breaks_schema(answer)) or malformed_post(answer)


def unknown_model(answer: Answer) -> bool:
    """A request whose model is a string outside the three ids."""
    asked = answer.asked
    return posted(answer) and asked.model is None and isinstance(asked.body.get("model"), str)


def system_role(answer: Answer) -> bool:
    """A message whose role is system."""
    return posted(answer) and any(
        breach.rule == "request.role-system-in-messages-rejected" for breach in answer.asked.breaches
    )


def extra_property(answer: Answer) -> bool:
    """A request with an unknown property at its top level, accepted or refused."""
    return posted(answer) and answer.status in (200, 400) and bool(extra_properties(answer.asked))


def orphan_results(answers: Sequence[Answer]) -> Iterator[Group]:
    """A request with a tool result whose id matches no call before it."""
    for answer in answers:
        if answer.protocol is not RESPONSES and posted(answer) and orphans(answer.asked):
            yield (answer,)


def last_of_tries(answers: Sequence[Answer]) -> Iterator[Group]:
    """A valid request that was answered, or that failed on three tries."""
    seen: set[int] = set()
    for group in tries(answers):
        seen.update(map(id, group))
        settled = next((answer for answer in group if answer.status is not None and answer.status < 500), None)
        failed = [answer for answer in group if answer.status is not None and _own_failure(answer.status)]
        if settled is not None:
            yield (settled,)
        elif len(failed) >= 3:
            yield (failed[2],)
    yield from ((a,) for a in answers if id(a) not in seen and a.status is not None and a.status < 500)


def valid(answer: Answer) -> bool:
    """A request that breaks no constraint."""
    return posted(answer) and not answer.asked.breaches


def _own_failure(status: int) -> bool:
    return status >= 500 and status not in GATEWAY


def _names_a_tool(answer: Answer) -> bool:
    choice = answer.asked.body.get("tool_choice")
    return answer.protocol is MESSAGES and isinstance(choice, dict) and choice.get("type") == "tool"


@rule(
    "request.invalid-rejected",
    Level.MUST,
    Basis.DOCUMENTED,
    by_analogy=(RESPONSES,),
    source=REQUEST_SCHEMA,
    when=invalid_or_open,
)
def invalid_request_is_refused(answer: Answer) -> Findings:
    """A request that breaks a constraint of the schema for its model is refused with 400."""
    found = demanded(answer)
    if not found:
        verdict = "accepted" if answer.status == 200 else "refused"
        yield Finding(message=f"tool_choice of type tool is {verdict}", actual=answer.status, level=Level.INFO)
        return
    worst = next((breach for breach in found if not _is_near(answer, breach)), None)
    breach = worst or found[0]
    others = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    subject = f"{breach.path or 'the body'} {breach.message}{others}: it"
    yield from refusal(answer, subject[:300], level=Level.MUST if worst else Level.SHOULD)


def _is_near(answer: Answer, breach: Breach) -> bool:
    """Whether what came is a number in another spelling: a numeric string, or a fraction for an integer."""
    if breach.keyword != "type" or breach.path.rsplit("/", 1)[-1] not in _NUMBERS:
        return False
    value = _value(answer, breach)
    if isinstance(value, str):
        return re.fullmatch(r"\s*[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})\s*", value) is not None
    return isinstance(value, float)


def _value(answer: Answer, breach: Breach) -> object:
    """What stands at the place of a breach; the object that lacks a property, for a missing one."""
    value: Any = answer.asked.body
    for part in breach.path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict):
            value = value.get(name)
        else:
            return breach.value
    return value


def _is_said(answer: Answer, breach: Breach) -> bool:
    match = _TURN.match(breach.path)
    said = answer.asked.body.get("input" if answer.protocol is RESPONSES else "messages")
    if match is None or not isinstance(said, list) or int(match[1]) >= len(said):
        return False
    turn = said[int(match[1])]
    return isinstance(turn, dict) and turn.get("role") == "assistant"


@rule(
    "http.no-server-error",
    Level.MUST,
    Basis.DOCUMENTED,
    by_analogy=(RESPONSES,),
    source=SERVER_ERROR,
    when=broken_request,
)
def invalid_request_breaks_nothing(answer: Answer) -> Findings:
    """A request that breaks the schema does not get a 5xx."""
    status = answer.status or 0
    if status in GATEWAY:
        raise Inconclusive(f"HTTP {status} comes from a proxy in front")
    if status >= 500:
        why = answer.asked.malformed or f"{answer.asked.breaches[0].path} {answer.asked.breaches[0].message}"
        yield Finding(
            message=f"an invalid request ({why[:160]}) gets a server error", expected=400, actual=told(answer)
        )


@rule(
    "http.no-repeated-server-error", Level.SHOULD, Basis.DOCUMENTED, source=SERVER_ERROR, find=last_of_tries, when=valid
)
def valid_request_does_not_fail_thrice(group: Group) -> Findings:
    """A valid request does not get a 5xx of the service itself on each of three tries."""
    answer = group[-1]
    if answer.status is not None and _own_failure(answer.status):
        yield Finding(message="a valid request gets a server error three times", expected=200, actual=told(answer))


@rule("request.unknown-model-rejected", Level.MUST, Basis.DOCUMENTED, source=MODEL, when=unknown_model)
def unknown_model_is_refused(answer: Answer) -> Findings:
    """A model id outside the enum is refused with a 4xx and the error envelope."""
    subject = f"the model {str(shown(answer.asked.body.get('model')))[:80]}"
    yield from refusal(answer, subject, any_4xx=True)
    if answer.status in (400, 404) and not enveloped(answer):
        yield Finding(
            message=f"{subject} is refused without the error envelope",
            expected=f"the {ENVELOPES[answer.protocol]} envelope",
            actual=answer.raw[:80].decode("utf-8", "replace"),
            level=Level.SHOULD,
        )


@rule(
    "request.role-system-in-messages-rejected",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    should_on=((MESSAGES, "kimi-k3"),),
    source={MESSAGES: cite("messages-k31", "#/components/schemas/Message/properties/role")},
    when=system_role,
)
def system_role_is_refused(answer: Answer) -> Findings:
    """A message with the role system is refused with 400."""
    yield from refusal(answer, "a message with the role system")


@rule("request.extra-properties-tolerated", Level.INFO, Basis.PROTOCOL, source=REQUEST_SCHEMA, when=extra_property)
def extra_property_is_recorded(answer: Answer) -> Findings:
    """An unknown top-level property is ignored or refused: which of the two is recorded."""
    names = ", ".join(extra_properties(answer.asked))[:120]
    if answer.status == 200:
        yield Finding(message=f"a request with {names} is accepted", actual=200)
    else:
        yield Finding(message=f"a request with {names} is refused", actual=told(answer))


@rule(
    "request.orphan-tool-result-rejected",
    Level.SHOULD,
    Basis.PROTOCOL,
    protocols=(CHAT, MESSAGES),
    over=Over.CONVERSATION,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatMessage/properties/tool_call_id"),
        MESSAGES: cite("messages-k31", "#/components/schemas/ToolResultBlock/properties/tool_use_id"),
    },
    find=orphan_results,
)
def orphan_result_is_refused(group: Group) -> Findings:
    """A tool result whose id matches no call in the history is refused with 400."""
    answer = group[-1]
    names = ", ".join(orphans(answer.asked))[:100]
    yield from refusal(answer, f"a tool result for {names}, which no call has", level=Level.SHOULD)
