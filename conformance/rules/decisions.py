"""How a request was decided: accepted, or refused, or neither can be told.

A refusal speaks of the request only where the service itself read it. A missing key, a rate limit, a proxy in front and
a broken connection say nothing of it: there the outcome is inconclusive.
"""

from __future__ import annotations

from conformance.protocols.view import MISSING, Answer
from conformance.rules.error_families import Family, families, speaks_of_policy
from conformance.rules.parts import shown
from conformance.rules.registry import Findings, Inconclusive
from conformance.values import RANK, Finding, Intent, Level, Protocol

GATEWAY = frozenset({502, 503, 504, 529, *range(520, 528)})
"""5xx statuses of what stands in front of the service, or of its load."""

UNRELATED = GATEWAY | {401, 402, 403, 404, 405, 407, 408, 409, 413, 415, 421, 425, 426, 429, 431, 451, 499}
"""Statuses that do not tell whether the body of a request is acceptable."""

ENVELOPES = {Protocol.CHAT: "openai", Protocol.MESSAGES: "anthropic", Protocol.RESPONSES: "openai"}
UNKNOWN_MODEL = "request.unknown-model-rejected"
NEAR_THE_WINDOW = 1_000_000  # an output limit that leaves hardly any room for the prompt
_FORMED = ("max_output_tokens", "stream")  # fields of a Responses request whose values the page names


def posted(answer: Answer) -> bool:
    """A POST whose body is a JSON object."""
    return answer.asked.method == "POST" and answer.asked.malformed is None


def breaks_schema(answer: Answer) -> bool:
    """Whether the request breaks a constraint that is not open; another spelling of a known model breaks none."""
    return any(
        not breach.open and not (breach.rule == UNKNOWN_MODEL and answer.asked.model is not None)
        for breach in answer.asked.breaches
    )


def decided(answer: Answer) -> int:
    """The status, where it tells how the service decided; raises Inconclusive where it does not."""
    status = answer.status
    if status is None:
        raise Inconclusive(f"no response: {answer.broken or 'none was recorded'}")
    if status in UNRELATED or status < 200 or 201 <= status < 400:
        raise Inconclusive(f"HTTP {status} does not tell how the request was decided")
    return status


def refused(answer: Answer) -> bool:
    """Whether the service refused the request; raises Inconclusive where that cannot be told."""
    status = decided(answer)
    if status == 200:
        if answer.error is None:
            return False
        if Family.INVALID in families(answer.error):
            return True
        raise Inconclusive("an error came behind HTTP 200")
    if status >= 500:
        raise Inconclusive(f"HTTP {status}: the service failed")
    kinds = families(answer.error) if answer.error else set()
    if answer.error is not None and speaks_of_policy(answer.error):
        raise Inconclusive("the error speaks of content policy, not of the request's form")
    if kinds and Family.INVALID not in kinds:
        raise Inconclusive(f"the error speaks of {min(kinds)}, not of the request")
    return True


def decision(answer: Answer) -> bool | None:
    """Whether a request was accepted; None where that cannot be told."""
    try:
        return not refused(answer)
    except Inconclusive:
        return None


def told(answer: Answer) -> str:
    """The status and the error's own words, bounded, for a finding."""
    message = answer.error.message if answer.error else MISSING
    return f"{answer.status}: {str(shown(message))[:160]}" if isinstance(message, str) else str(answer.status)


def weight(answer: Answer, *names: str) -> Level:
    """How much a wrong refusal weighs: must where a probe vouches for the request, or the error names what is at issue.

    Else should: the request of a recording may be wrong in a way that no schema shows. A limit near the context window
    exceeds it together with the prompt, and an array as the input of a response has no documented form, nor has the
    value of an effort there.
    """
    message = answer.error.message if answer.error else None
    named = isinstance(message, str) and any(name in message[:1000] for name in names)
    if Intent.VALID not in answer.exchange.intents and not named:
        return Level.SHOULD
    if (answer.asked.limit or 0) > NEAR_THE_WINDOW or isinstance(answer.asked.body.get("input"), list):
        return Level.SHOULD
    return Level.SHOULD if _may_be_for_effort(answer) else Level.MUST


def _may_be_for_effort(answer: Answer) -> bool:
    """Whether a refusal may be meant for the effort of a response: the error names it, or no field that has a form."""
    if answer.protocol is not Protocol.RESPONSES or answer.asked.effort is MISSING:
        return False
    message = answer.error.message if answer.error else None
    words = message[:1000] if isinstance(message, str) else ""
    return "effort" in words or "reasoning" in words or not any(name in words for name in _FORMED)


def acceptance(answer: Answer, subject: str, *, level: Level | None = None) -> Findings:
    """A finding where the request was refused; raises Inconclusive where that cannot be told."""
    if refused(answer):
        yield Finding(message=f"{subject} is refused", expected=200, actual=told(answer), level=level)


def refusal(answer: Answer, subject: str, *, level: Level = Level.MUST, any_4xx: bool = False) -> Findings:
    """A finding where the request was not refused with 400, or with ``any_4xx`` not with a 4xx.

    Another 4xx is a should-level finding at most, and so is an error that comes as an event of a 200 stream.
    """
    if answer.status is not None and any_4xx and 400 <= answer.status < 500 and answer.status not in (401, 408, 429):
        return
    status = decided(answer)
    if status == 400:
        return
    mild = level if RANK[level] < RANK[Level.SHOULD] else Level.SHOULD
    if status == 200 and answer.error is None:
        yield Finding(message=f"{subject} is accepted", expected=400, actual=200, level=level)
    elif status == 200:
        yield Finding(
            message=f"{subject} is refused behind HTTP 200",
            expected=400,
            actual=told(answer),
            level=mild if answer.streamed else level,
        )
    elif status >= 500:
        yield Finding(
            message=f"{subject} is answered with a server error", expected=400, actual=told(answer), level=level
        )
    else:
        yield Finding(message=f"{subject} is refused with HTTP {status}", expected=400, actual=told(answer), level=mild)


def enveloped(answer: Answer) -> bool:
    """Whether an error came in the surface's own envelope."""
    return answer.error is not None and answer.error.shape == ENVELOPES[answer.protocol]
