"""Requests that must be accepted: documented examples, the edges of ranges, every documented form of a field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.models import EFFORT_ALIASES, MODELS
from conformance.protocols.view import MISSING, Answer, Finish
from conformance.rules.decisions import NEAR_THE_WINDOW, acceptance, decision, posted, told, weight
from conformance.rules.doubts import doubt
from conformance.rules.groups import forms
from conformance.rules.history import blocks, turns
from conformance.rules.parts import choice_count
from conformance.rules.past_turns import results
from conformance.rules.places import EXAMPLES, REQUEST_BODY, REQUEST_SCHEMA
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Group, Inconclusive, cite, rule
from conformance.values import Basis, Finding, Intent, Level, Over

_K3 = "kimi-k3"
_SAMPLING = ("temperature", "top_p")
MARGIN = 8  # tokens by which the counts of two forms may differ, or 2 % of them


def acceptable(answer: Answer, *, at_limit: bool = False) -> bool:
    """Whether the request breaks nothing, and was accepted or cannot rightly be refused.

    A limit near the context window may be refused together with its prompt, which only ``at_limit`` counts as wrong.
    """
    if not posted(answer) or answer.asked.breaches or answer.asked.model is None:
        return False
    if answer.status == 200 and answer.error is None:
        return True
    return doubt(answer) is None and (at_limit or (answer.asked.limit or 0) <= NEAR_THE_WINDOW)


def must_be_accepted(answer: Answer) -> bool:
    """A valid request that means something and holds nothing undocumented, but for what a rule of kimi-k3 covers."""
    return acceptable(answer, at_limit=True) and not _is_k3_matter(answer)


def _is_k3_matter(answer: Answer) -> bool:
    asked = answer.asked
    return asked.model == _K3 and (
        any(name in asked.body for name in _SAMPLING) or (asked.protocol is CHAT and asked.format == "json_schema")
    )


def with_parameters(answer: Answer) -> bool:
    """A valid request with Content-Type application/json in another spelling: with charset utf-8, or in capitals."""
    sent = (answer.asked.header("content-type") or "").strip()
    kind, _, parameters = sent.partition(";")
    charset = parameters.strip().lower().replace('"', "").replace(" ", "")
    if kind.strip().lower() != "application/json" or sent == "application/json" or charset not in ("", "charset=utf-8"):
        return False
    return acceptable(answer) or answer.status == 415


def with_alias(answer: Answer) -> bool:
    """A valid chat request with max_tokens and without max_completion_tokens."""
    return "max_tokens" in answer.asked.body and "max_completion_tokens" not in answer.asked.body and acceptable(answer)


def in_other_form(answer: Answer) -> bool:
    """A valid request with a field in its other documented form."""
    return acceptable(answer) and any(_forms(answer))


def with_effort(answer: Answer) -> bool:
    """A Responses request with an effort: low, high or max on K3.1, max on kimi-k3, or an alias, which is recorded."""
    asked = answer.asked
    if asked.effort is MISSING or asked.model is None:
        return False
    if asked.effort in MODELS[asked.model].efforts:
        return acceptable(answer)
    return _is_alias(asked.effort) and posted(answer) and not asked.breaches and answer.status in (200, 400)


def with_feature(answer: Answer) -> bool:
    """A valid chat request that uses a documented feature: streaming, tools, web search or structured output."""
    asked = answer.asked
    used = asked.stream or bool(asked.tools) or asked.format in ("json_object", "json_schema") or _is_example(answer)
    return used and acceptable(answer)


@rule("request.valid-accepted", Level.MUST, Basis.DOCUMENTED, source=EXAMPLES, when=must_be_accepted)
def valid_request_is_accepted(answer: Answer) -> Findings:
    """A request built from a documented example, or from an allowed edge, is accepted."""
    yield from acceptance(answer, "a valid request", level=weight(answer))


@rule("http.request-charset-accepted", Level.SHOULD, Basis.PROTOCOL, source=REQUEST_BODY, when=with_parameters)
def charset_is_accepted(answer: Answer) -> Findings:
    """A request with the media type application/json in another spelling is answered like any other."""
    sent = (answer.asked.header("content-type") or "")[:80]
    if answer.status == 415:
        yield Finding(message=f"a request with Content-Type {sent} is refused", expected=200, actual=told(answer))
    else:
        yield from acceptance(answer, f"a request with Content-Type {sent}")


@rule(
    "request.max-tokens-alias",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    source={CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/max_tokens")},
    when=with_alias,
)
def alias_limits_output(answer: Answer) -> Findings:
    """max_tokens without max_completion_tokens is accepted and limits the output."""
    level = Level.MUST if answer.intends(Intent.CUT_OFF) else weight(answer, "max_tokens", "max_completion_tokens")
    yield from acceptance(answer, "max_tokens alone", level=level)
    limit, usage = answer.asked.body["max_tokens"], answer.usage
    if not answer.ok or isinstance(limit, bool) or not isinstance(limit, (int, float)):
        return
    limit *= choice_count(answer)
    if usage is not None and usage.output is not None and usage.output > limit:
        yield Finding(
            message="more tokens than max_tokens allows",
            pointer=f"{usage.pointer}/completion_tokens" if usage.pointer.startswith("/") else usage.pointer,
            expected=f"at most {limit}",
            actual=usage.output,
        )
    ended = answer.complete and answer.broken is None and answer.ending is not None
    if answer.intends(Intent.CUT_OFF) and ended and answer.ending is not Finish.LENGTH:
        yield Finding(
            message="an answer that max_tokens cut off does not say so",
            pointer="/choices/0/finish_reason",
            expected="length",
            actual=str(answer.finish)[:40],
        )


@rule("request.forms-accepted", Level.MUST, Basis.DOCUMENTED, source=REQUEST_SCHEMA, when=in_other_form)
def other_form_is_accepted(answer: Answer) -> Findings:
    """A field in its other documented form is accepted."""
    form, folded = next(_forms(answer))
    level = Level.SHOULD if folded else weight(answer, "system", "tool_result")
    yield from acceptance(answer, form, level=level)


Form = tuple[str, bool]  # what it is, and whether its page leaves it folded


def _forms(answer: Answer) -> Iterator[Form]:
    """The other documented forms that a request uses."""
    asked = answer.asked
    if asked.protocol is RESPONSES:
        if isinstance(asked.body.get("input"), list):
            yield "input as an array", True
    elif asked.protocol is CHAT:
        for turn in turns(asked):
            yield from ((form, False) for form in _chat_forms(turn))
    else:
        folded = asked.model == _K3
        for turn in turns(asked):
            yield from ((form, folded) for form in _result_forms(turn))
        if "system" in asked.body:
            yield f"system as {'text blocks' if isinstance(asked.body['system'], list) else 'a string'}", folded
        for turn in turns(asked):
            if _is_text_only(turn):
                yield "content as text blocks", folded


def _chat_forms(turn: dict[str, Any]) -> Iterator[str]:
    if any(part.get("type") == "video_url" for part in blocks(turn)):
        yield "a video_url"
    if turn.get("role") == "assistant" and turn.get("tool_calls") and turn.get("content", "") is None:
        yield "assistant content null beside tool_calls"
    if _is_text_only(turn):
        yield "content as text parts"


def _result_forms(turn: dict[str, Any]) -> Iterator[str]:
    for result in results(turn):
        if result.get("is_error") is True:
            yield "a tool_result with is_error"
        if isinstance(result.get("content"), list):
            yield "a tool_result whose content is blocks"


def _is_text_only(turn: dict[str, Any]) -> bool:
    parts = blocks(turn)
    return turn.get("role") != "assistant" and bool(parts) and all(part.get("type") == "text" for part in parts)


@rule(
    "request.forms-equal",
    Level.SHOULD,
    Basis.PROTOCOL,
    protocols=(CHAT, MESSAGES),
    over=Over.PAIR,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatMessage/properties/content"),
        MESSAGES: cite("messages-k31", "#/components/schemas/Message/properties/content"),
    },
    find=forms,
)
def forms_are_equal(group: Group) -> Findings:
    """The same words as a string and as one text block are decided alike, and count about the same input tokens."""
    string, parts = group[0], group[-1]
    decisions = decision(string), decision(parts)
    if None in decisions:
        raise Inconclusive("one of the two forms was not decided")
    if decisions[0] is not decisions[1]:
        yield Finding(message="one form is accepted and the other refused", expected=told(string), actual=told(parts))
        return
    one, two = (member.usage.input if member.usage else None for member in (string, parts))
    if one is not None and two is not None and abs(one - two) > max(MARGIN, 0.02 * max(one, two)):
        yield Finding(
            message="the two forms count different input tokens",
            pointer=parts.usage.pointer if parts.usage else "",
            expected=one,
            actual=two,
        )


def _is_alias(effort: object) -> bool:
    return isinstance(effort, str) and effort in EFFORT_ALIASES


@rule(
    "request.responses-effort-accepted",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(RESPONSES,),
    source={RESPONSES: cite("responses", "reasoning.effort for reasoning effort")},
    when=with_effort,
)
def effort_is_accepted(answer: Answer) -> Findings:
    """reasoning.effort low, high and max are accepted on K3.1, max on kimi-k3."""
    asked = answer.asked
    if asked.model is not None and asked.effort not in MODELS[asked.model].efforts:
        verdict = "accepted" if answer.status == 200 else "refused"
        yield Finding(message=f"the alias {asked.effort} is {verdict}", actual=answer.status, level=Level.INFO)
        return
    yield from acceptance(answer, f"reasoning.effort {asked.effort}")


@rule(
    "model.chat-features-accepted",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    source={
        CHAT: cite(
            "chat-all", "support multi-turn conversations, streaming, tool calling, web search, structured output"
        )
    },
    when=with_feature,
)
def chat_features_are_accepted(answer: Answer) -> Findings:
    """The documented features of Chat Completions are accepted for each of the three models."""
    level = (
        Level.SHOULD if _is_k3_sampling(answer) else weight(answer, "tool", "web_search", "response_format", "stream")
    )
    yield from acceptance(answer, f"a documented feature ({_feature(answer)}) on {answer.asked.model}", level=level)


def _is_k3_sampling(answer: Answer) -> bool:
    return answer.asked.model == _K3 and any(name in answer.asked.body for name in _SAMPLING)


def _feature(answer: Answer) -> str:
    asked = answer.asked
    found = {
        "web search": asked.searches,
        "tools": bool(asked.functions),
        "structured output": asked.format in ("json_object", "json_schema"),
        "streaming": asked.stream,
    }
    return ", ".join(name for name, used in found.items() if used) or "the minimal request"


def _is_example(answer: Answer) -> bool:
    return answer.asked.last_user == "Reply with OK."
