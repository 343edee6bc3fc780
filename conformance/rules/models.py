"""What holds for every model: the answer names the model that was asked for, and Highspeed decides as Pro does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from conformance.models import K31, canonical
from conformance.protocols.view import MISSING, Answer
from conformance.rules.decisions import decision, posted, told
from conformance.rules.groups import hosts, siblings
from conformance.rules.parts import shown
from conformance.rules.places import FASTER, HIGHSPEED, MODEL, SERVERS
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Group, Inconclusive, cite, rule
from conformance.rules.sameness import canonical as canonical_request
from conformance.values import Basis, Finding, Level, Over

ROUNDS = 3  # streamed answers of each model that are compared in speed


def names_model(answer: Answer) -> bool:
    """A 200 to a request that names a model, whose answer carries one."""
    asked = answer.asked.body.get("model")
    return answer.ok and isinstance(asked, str) and bool(asked.strip()) and any(_carried(answer))


@rule(
    "model.echoed",
    Level.MUST,
    Basis.DOCUMENTED,
    by_analogy=(CHAT, MESSAGES),
    source=MODEL | {RESPONSES: cite("responses", "Model used for this call.")},
    when=names_model,
)
def model_is_echoed(answer: Answer) -> Findings:
    """The answer's model is the one that was asked for, in every chunk that carries it."""
    asked = str(answer.asked.body["model"])
    for pointer, came in _carried(answer):
        if came == asked:
            continue
        another = isinstance(came, str) and bool(came.strip()) and _same_model(asked, came)
        yield Finding(
            message="the answer spells the model differently" if another else "the answer names another model",
            pointer=pointer,
            expected=asked[:100],
            actual=shown(came),
            level=Level.SHOULD if another else None,
        )
        return


def _carried(answer: Answer) -> Iterator[tuple[str, object]]:
    """Each place that carries the model, with what stands there; null is none."""
    holders: list[tuple[str, object]] = [("/model", answer.body)]
    if answer.streamed:
        holders = []
        for event, payload in zip(answer.events, answer.payloads, strict=False):
            inner = {MESSAGES: "message", RESPONSES: "response"}.get(answer.protocol)
            holder = payload.get(inner) if inner and isinstance(payload, dict) else payload
            holders.append((f"event {event.number}", holder))
    for pointer, holder in holders:
        value = holder.get("model", MISSING) if isinstance(holder, dict) else MISSING
        if value is not MISSING and value is not None:
            yield pointer, value


def _same_model(asked: str, came: str) -> bool:
    """Whether a name is another spelling of the model: other capitals, a prefix, a date or version behind it."""
    wanted, found = canonical(asked.lower()), canonical(came.lower())
    if wanted and found:
        return wanted == found
    one, two = (re.sub(r"[^a-z0-9]+", "", name.rsplit("/", 1)[-1].lower()) for name in (asked, came))
    longer, shorter = max(one, two, key=len), min(one, two, key=len)
    rest = longer.removeprefix(shorter)
    return bool(shorter) and rest != longer and re.fullmatch(r"v?\d*|latest|preview", rest) is not None


@rule(
    "model.highspeed.same-decisions",
    Level.MUST,
    Basis.DOCUMENTED,
    models=K31,
    over=Over.PAIR,
    source=HIGHSPEED,
    find=siblings,
    when=posted,
)
def highspeed_decides_as_pro(group: Group) -> Findings:
    """kimi-k3.1-pro and kimi-k3.1-pro-highspeed both accept a request, or both refuse it."""
    yield from _alike(group, "one of the two models accepts the request, the other refuses it")


@rule("http.base-urls.agree", Level.SHOULD, Basis.DOCUMENTED, over=Over.PAIR, source=SERVERS, find=hosts, when=posted)
def base_urls_agree(group: Group) -> Findings:
    """The same request is accepted by both base URLs, or refused by both."""
    yield from _alike(group, "one base URL accepts the request, the other refuses it")


def _alike(group: Group, message: str) -> Findings:
    first, second = group[0], group[-1]
    one, two = decision(first), decision(second)
    if one is None or two is None:
        raise Inconclusive("one of the two requests was not decided")
    if one is not two:
        yield Finding(message=message, expected=told(first), actual=told(second))


def races(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same streamed request, live, three times to each of the two K3.1 models."""

    def request(answer: Answer) -> tuple[str, str, str]:
        return answer.protocol.value, answer.asked.host, canonical_request(answer, "model")

    usable = [a for a in answers if posted(a) and a.asked.model in K31 and _rate(a) is not None]
    for _, members in groupby(sorted(usable, key=request), key=request):
        run = tuple(members)
        chosen = [[a for a in run if a.asked.model == model][:ROUNDS] for model in K31]
        if all(len(found) == ROUNDS for found in chosen):
            yield tuple(answer for found in chosen for answer in found)


def _rate(answer: Answer) -> float | None:
    """Output tokens a second of a live streamed answer, from its first to its last event."""
    if not (answer.exchange.live and answer.streamed and answer.ok and answer.complete):
        return None
    times = [event.ms for event in answer.events if event.ms is not None]
    tokens = answer.usage.output if answer.usage else None
    if not tokens or len(times) < 2 or times[-1] <= times[0]:
        return None
    return 1000 * tokens / (times[-1] - times[0])


@rule(
    "model.highspeed.faster",
    Level.INFO,
    Basis.DOCUMENTED,
    models=K31,
    over=Over.PAIR,
    source=FASTER,
    find=races,
)
def highspeed_is_faster(group: Group) -> Findings:
    """kimi-k3.1-pro-highspeed generates faster than kimi-k3.1-pro: both speeds are recorded."""
    speeds = {}
    for model in K31:
        rates = [rate for a in group if a.asked.model == model and (rate := _rate(a)) is not None]
        speeds[model] = round(sum(rates) / len(rates), 1)
    faster = speeds[K31[1]] > speeds[K31[0]]
    yield Finding(
        message=f"highspeed is {'faster' if faster else 'not faster'} in output tokens a second", actual=speeds
    )
