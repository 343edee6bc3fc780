"""The output limit: never exceeded, reported when it cuts an answer off, and only then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from conformance.models import CONTEXT_WINDOW, DEFAULT_LIMIT
from conformance.protocols.view import MISSING, Answer, Finish
from conformance.rules import groups, parts
from conformance.rules.endings import breaks_off
from conformance.rules.finish import REASON
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Group, Inconclusive, cite, rule
from conformance.values import Basis, Finding, Intent, Level, Over

_LIMIT_FIELDS = {
    CHAT: ("max_completion_tokens", "max_tokens"),
    MESSAGES: ("max_tokens",),
    RESPONSES: ("max_output_tokens",),
}
_LIMIT_SOURCES = {
    CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/max_completion_tokens"),
    MESSAGES: cite("messages-k31", "#/components/schemas/CreateMessageRequest/properties/max_tokens"),
    RESPONSES: cite("responses", "max_output_tokens includes both reasoning and the answer"),
}
_REASON_SOURCES = {
    CHAT: cite(
        "chat-all", "#/components/schemas/ChatCompletionResponse/properties/choices/items/properties/finish_reason"
    ),
    MESSAGES: cite("messages-k31", "#/components/schemas/MessageResponse/properties/stop_reason"),
    RESPONSES: cite("responses", "incomplete usually means the max_output_tokens limit was reached"),
}
MOST_OTHERS = 50  # answers to the same request that one is grouped with
_CUT_OFF = {CHAT: "length", MESSAGES: "max_tokens", RESPONSES: "incomplete"}


def limits_sent(answer: Answer) -> tuple[int, ...]:
    """The output limits that a request names: more than one where chat has both names, which stays open."""
    values = (answer.asked.body.get(name) for name in _LIMIT_FIELDS[answer.protocol])
    return tuple(value for value in values if isinstance(value, int) and not isinstance(value, bool) and value > 0)


def sends_no_limit(answer: Answer) -> bool:
    """Whether a request names no output limit at all."""
    return all(answer.asked.body.get(name) is None for name in _LIMIT_FIELDS[answer.protocol])


def output(answer: Answer) -> int | None:
    """The output tokens that an answer reports; None where it reports none."""
    return answer.usage.output if answer.usage is not None else None


@rule(
    "finish.length-at-limit",
    Level.MUST,
    Basis.DOCUMENTED,
    source=_LIMIT_SOURCES,
    when=lambda answer: (
        answer.ok and bool(limits_sent(answer)) and (output(answer) is not None or _fewest(answer) > _most(answer))
    ),
    applies="a 200 answer with usage, or with far more text than the limit allows, to a request with an output limit",
)
def limit_is_kept(answer: Answer) -> Findings:
    """Output tokens never exceed the limit that was set."""
    limit, tokens = _most(answer), output(answer)
    if tokens is not None and tokens > limit:
        yield Finding(
            message="more output tokens than the limit allows",
            pointer=answer.usage.pointer if answer.usage else "/usage",
            expected=f"at most {parts.shown(limit)}",
            actual=parts.shown(tokens),
        )
    elif tokens is None and _fewest(answer) > limit:
        yield Finding(
            message="more text than the limit allows tokens, and no usage",
            expected=f"at most {parts.shown(limit)} tokens",
            actual=f"{len(answer.text.split())} words of text",
        )


def _most(answer: Answer) -> int:
    """The tokens that all choices together may have: a limit is for each of them."""
    return max(limits_sent(answer)) * parts.choice_count(answer)


def _fewest(answer: Answer) -> int:
    """Fewer tokens than any tokenizer makes of the text and the reasoning."""
    said = f"{answer.reasoning} {answer.text}"
    return max(len(said.split()) // 2, len(said) // 20)


@rule(
    "finish.default-limit",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, RESPONSES),
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/max_completion_tokens/default"),
        RESPONSES: cite("responses", "default 131072, maximum 1048576"),
    },
    when=lambda answer: answer.ok and sends_no_limit(answer) and output(answer) is not None,
    applies="a 200 answer with usage to a request without an output limit",
)
def default_limit_is_kept(answer: Answer) -> Findings:
    """Without a limit in the request, output tokens do not exceed 131072."""
    tokens, most = output(answer) or 0, DEFAULT_LIMIT * parts.choice_count(answer)
    if tokens > most:
        yield Finding(
            message="more output tokens than the default limit allows",
            pointer=answer.usage.pointer if answer.usage else "/usage",
            expected=f"at most {most}",
            actual=parts.shown(tokens),
        )


@rule(
    "finish.length-only-at-limit",
    Level.SHOULD,
    Basis.PROTOCOL,
    source=_REASON_SOURCES,
    when=lambda answer: answer.ok and answer.truncated and output(answer) is not None and _applied(answer) is not None,
    applies="a 200 answer with usage that says it was cut off",
)
def cut_off_at_limit(answer: Answer) -> Findings:
    """An answer that says it was cut off has used its limit, or what was left of the context window."""
    limit, tokens = _applied(answer) or 0, output(answer) or 0
    if tokens < limit - max(4, limit // 20):
        yield Finding(
            message="the answer says that it was cut off, well before its limit",
            pointer=f"/{REASON[answer.protocol]}" if answer.protocol is not CHAT else "/choices/0/finish_reason",
            expected=f"about {parts.shown(limit)} output tokens",
            actual=parts.shown(tokens),
        )


def _applied(answer: Answer) -> int | None:
    """The smallest limit that may have applied."""
    sent = limits_sent(answer)
    if answer.asked.malformed is not None or (not sent and (answer.protocol is MESSAGES or not sends_no_limit(answer))):
        return None
    known = answer.usage.input if answer.usage is not None else None
    return min(*(sent or (DEFAULT_LIMIT,)), CONTEXT_WINDOW - (known or 0))


@rule(
    "finish.truncated-not-completed",
    Level.MUST,
    Basis.PROTOCOL,
    protocols=(RESPONSES,),
    source=cite("responses", "incomplete usually means the max_output_tokens limit was reached"),
    when=lambda answer: (
        answer.ok
        and answer.complete
        and not parts.client_runs(answer)
        and not answer.text
        and not parts.refuses(answer)
        and (output(answer) or 0) >= (max(limits_sent(answer), default=DEFAULT_LIMIT))
    ),
    applies="an answer that used its whole limit and holds no output_text",
)
def exhausted_is_not_completed(answer: Answer) -> Findings:
    """An answer whose limit was used up before any text is incomplete, not completed."""
    if answer.finish == "completed":
        yield Finding(
            message="the limit was used up before any text, and the status is completed",
            pointer="/status",
            expected="incomplete",
            actual=parts.shown(answer.finish),
        )


def limited(answers: Sequence[Answer]) -> Iterator[Group]:
    """An answer whose limit was met: its probe asked for far more, or the evidence proves it."""
    together = {id(answer): again for again in map(_Again, groups.repeats(answers)) for answer in again.whole}
    for answer in answers:
        if not (answer.ok and answer.complete and limits_sent(answer)):
            continue
        again = together.get(id(answer))
        proof = again.proof(answer) if again else ()
        if answer.intends(Intent.CUT_OFF) or answer.truncated or _limit_met(answer, proof):
            others = again.others(answer) if again else ()
            more = () if any(_same_cut(answer, other) for other in others) else proof
            yield (*others, *more, answer)


class _Again:
    """The whole answers to one request that was sent again and again."""

    def __init__(self, group: Group) -> None:
        self.whole = tuple(answer for answer in group if answer.ok and answer.complete)
        self._cuts: dict[tuple[str, str], list[Answer]] = {}
        for answer in self.whole:
            if answer.truncated:
                self._cuts.setdefault((answer.reasoning, answer.text), []).append(answer)

    def proof(self, answer: Answer) -> Group:
        """The first other one, if any, that has the same contents and says that it was cut off."""
        same = self._cuts.get((answer.reasoning, answer.text), ())
        return tuple(islice((other for other in same if other is not answer and _same_cut(answer, other)), 1))

    def others(self, answer: Answer) -> Group:
        """The others, the first of very many."""
        return tuple(islice((other for other in self.whole if other is not answer), MOST_OTHERS))


@rule(
    "finish.length-reported",
    Level.MUST,
    Basis.DOCUMENTED,
    over=Over.PAIR,
    by_analogy=(CHAT, MESSAGES),
    source=_REASON_SOURCES,
    find=limited,
)
def cut_off_is_reported(group: Group) -> Findings:
    """An answer that the limit cut off says so: length, max_tokens, incomplete because of max_output_tokens."""
    *others, answer = group
    if answer.truncated:
        return
    intended = answer.intends(Intent.CUT_OFF)
    tokens, limit = output(answer), max(limits_sent(answer))
    if intended and answer.ending is Finish.REFUSAL:
        raise Inconclusive("the model declined")
    if intended and tokens is not None and tokens < limit - max(4, limit // 20) and answer.ending is Finish.STOP:
        raise Inconclusive("the model ended by itself before the limit")
    if intended or _limit_met(answer, tuple(others)):
        yield Finding(
            message=f"the limit cut the answer off, and {REASON[answer.protocol]} does not say so",
            pointer=f"/{REASON[answer.protocol]}" if answer.protocol is not CHAT else "/choices/0/finish_reason",
            expected=_CUT_OFF[answer.protocol],
            actual=parts.shown(answer.finish),
            level=None if intended else Level.SHOULD,
        )


def _limit_met(answer: Answer, others: Group) -> bool:
    """Whether the evidence proves that the limit cut an answer off that its probe did not mean to cut off."""
    if answer.asked.stop_sequences or answer.ending is Finish.REFUSAL or parts.refuses(answer):
        return False
    tokens, limit = output(answer), max(limits_sent(answer))
    if tokens is not None:
        return tokens >= limit and (unfinished(answer) or any(_same_cut(answer, other) for other in others))
    return any(_same_cut(answer, other) for other in others)


def unfinished(answer: Answer) -> bool:
    """Whether the answer ends in the middle of its text or of a call."""
    last = answer.calls[-1] if answer.calls else None
    if last is not None and not last.server:
        return isinstance(last.arguments, str) and last.value is MISSING and bool(last.arguments.strip())
    text = answer.text
    if not text:
        return bool(answer.reasoning)
    return not _ends_as_asked(answer) and breaks_off(text, answer.asked.prompt)


def _ends_as_asked(answer: Answer) -> bool:
    """Whether the text ends like what it was asked to give back, count to or quote, or with an address."""
    asked, text = answer.asked, answer.text
    last = (text.split() or [""])[-1]
    told = (asked.last_user.split() or [""])[-1].rstrip(".!?。")
    quoted = any(len(line) > 2 and text.endswith(line) for line in asked.prompt.splitlines())
    return "://" in last or last == told or quoted or asked.last_user.endswith(text)


def _same_cut(answer: Answer, other: Answer) -> bool:
    """Whether another answer to the same request has the same contents and says that it was cut off."""
    mine, theirs = (answer.reasoning, answer.text), (other.reasoning, other.text)
    return other.truncated and mine == theirs and any(mine)
