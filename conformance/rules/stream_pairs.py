"""The same request streamed and not: the same ending, and a forced call in both."""

from __future__ import annotations

from conformance.protocols.view import Answer, Call, Finish
from conformance.rules import parts
from conformance.rules.groups import modes
from conformance.rules.json_schemas import Unusable, breach
from conformance.rules.limits import unfinished
from conformance.rules.payloads import brief, is_filled
from conformance.rules.registry import CHAT, Findings, Group, Inconclusive, rule
from conformance.rules.streams import FORMAT
from conformance.rules.tool_arguments import reached_limit
from conformance.rules.tools import declared
from conformance.values import Basis, Finding, Intent, Level, Over


def _forced(answer: Answer) -> bool:
    """Whether a request demands a call of a declared function."""
    asked = answer.asked
    return bool(asked.functions) and (
        asked.choice == "required"
        or (asked.choice == "named" and any(t.name == asked.choice_name for t in asked.functions))
    )


def _whole(answer: Answer) -> bool:
    return answer.ok and answer.complete and answer.broken is None and answer.ending is not None


@rule(
    "stream.same-ending-as-json",
    Level.SHOULD,
    Basis.PROTOCOL,
    over=Over.PAIR,
    source=FORMAT,
    find=modes,
    when=_whole,
    applies="the same request with a certain ending (limit, forced tool, stop sequence), streamed and not",
)
def both_modes_end_alike(group: Group) -> Findings:
    """A request with a certain ending ends alike as JSON and as a stream."""
    plain, streamed = group
    if plain.ending is streamed.ending and plain.finish == streamed.finish:
        return
    if any(_refused(answer) or answer.ending is Finish.FAILED for answer in group):
        raise Inconclusive("one of the two answers was refused or failed")
    if not _certain(plain, streamed):
        raise Inconclusive("the request may end one way or the other")
    yield Finding(
        message="the same request ends otherwise as a stream than as JSON",
        pointer="/choices/0/finish_reason" if plain.protocol is CHAT else "",
        expected=brief(plain.finish),
        actual=brief(streamed.finish),
        exchange=streamed.exchange.id,
    )


def _refused(answer: Answer) -> bool:
    return answer.ending is Finish.REFUSAL or parts.refuses(answer)


def _certain(plain: Answer, streamed: Answer) -> bool:
    """Whether the two endings cannot both be right."""
    if plain.intends(Intent.CUT_OFF) or (_used_up(plain) and _used_up(streamed)) or _same(plain, streamed):
        return True
    if any(answer.truncated and _may_be_cut(answer) for answer in (plain, streamed)):
        return False  # one of them thought for longer, and its limit cut it off
    if Finish.TOOL in (plain.ending, streamed.ending):  # the model may choose to call, unless it must
        return _forced(plain)
    return bool(plain.asked.stop_sequences)


def _used_up(answer: Answer) -> bool:
    """Whether the limit cut the answer off; one that ended by itself shortly before the limit, or at it, was not."""
    return reached_limit(answer) and (answer.truncated or unfinished(answer))


def _may_be_cut(answer: Answer) -> bool:
    """Whether nothing speaks against an answer that says that the limit cut it off."""
    return answer.usage is None or answer.usage.output is None or reached_limit(answer)


def _same(plain: Answer, streamed: Answer) -> bool:
    """Whether both say the same, word for word and call for call."""

    def said(answer: Answer) -> tuple[str, list[tuple[object, object]]]:
        return answer.text, [(call.name, call.value) for call in answer.calls]

    return said(plain) == said(streamed) and bool(plain.text or plain.calls)


@rule(
    "stream.tools-equal-json",
    Level.MUST,
    Basis.PROTOCOL,
    over=Over.PAIR,
    source=FORMAT,
    find=modes,
    when=lambda answer: answer.ok and _forced(answer),
    applies="a forced call, streamed and not",
)
def both_modes_call(group: Group) -> Findings:
    """A forced call is in the JSON answer and in the stream, with name, id and arguments valid under the schema."""
    for answer in group:
        if answer.truncated or answer.broken is not None or not answer.complete:
            raise Inconclusive("one of the two answers is not whole")
        if _refused(answer):
            raise Inconclusive("the model refused one of the two")
    usable = [_usable(answer) for answer in group]
    for answer, fault, other in zip(group, usable, reversed(usable), strict=True):
        lacking = not answer.client_calls and not (answer.asked.searches and answer.calls)
        if fault is not None and (lacking or other is None):
            mode = "stream" if answer.asked.stream else "JSON answer"
            yield Finding(
                message=f"the {mode} to a request that forces a call {fault}",
                pointer=answer.client_calls[0].pointer if answer.client_calls else "",
                expected="a call with name, id and valid arguments",
                actual=brief(answer.finish),
                exchange=answer.exchange.id,
            )


def _usable(answer: Answer) -> str | None:
    """What a client would miss in the calls of an answer; None where one at least can be run."""
    faults = [_fault(answer, call) for call in answer.client_calls]
    if not faults:
        searched = answer.asked.searches and bool(answer.calls)
        return None if searched else "has none"
    return None if None in faults else faults[0]


def _fault(answer: Answer, call: Call) -> str | None:
    tool = declared(answer, call)
    if not is_filled(call.name):
        return "has one without a name"
    if not is_filled(call.id):
        return "has one without an id"
    if not isinstance(call.value, dict):
        return "has one whose arguments are no object"
    try:
        wrong = tool is not None and tool.schema is not None and breach(tool.schema, call.value) is not None
    except Unusable:
        wrong = False
    return "has one whose arguments are not valid under the schema" if wrong else None
