"""Context caching: which writes a TTL gives, and what comes back from a cache.

Caches are best-effort, so that a single miss proves nothing: three tries do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from conformance.models import K31
from conformance.protocols.view import Answer
from conformance.rules import groups, parts, sameness
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Group, Inconclusive, cite, rule
from conformance.rules.usage_pairs import counts_input, input_tokens
from conformance.values import Basis, Finding, Intent, Level, Over, Protocol

LONG = 1_100  # tokens: a prompt that a cache surely takes
TRIES = 3
LONG_WORDS = 2_000
MINUTE = 60  # seconds
LIFETIME = 300  # seconds that the shortest cache lives
_COLD = 10  # percent of a prompt that a cold cache may give back
_NONCE = re.compile(  # set off by a sign: the hash of a commit, or an id, may open an old prompt
    r"\W{1,3}(?=[0-9a-f-]*[0-9])(?=[0-9a-f-]*[a-f])[0-9a-f-]{6,64}\b"
    r"|\[[0-9]{6}\]"  # hexadecimal too, and no letter in it by chance; eight digits are a date
)

_OPTIONS = "#/components/schemas/ChatCompletionRequest/properties/prompt_cache_options"
_CONTROL = "#/components/schemas/CreateMessageRequest/properties/cache_control"


def _reads(answer: Answer) -> int:
    return (answer.usage.cached or 0) if answer.usage is not None else 0


def _writes(answer: Answer) -> int:
    return (answer.usage.written or 0) if answer.usage is not None else 0


def _pointer(answer: Answer) -> str:
    return answer.usage.pointer if answer.usage is not None else "/usage"


def _ttl(answer: Answer) -> str | None:
    """The TTL that a messages request asks for at its top level; None where it asks for something else."""
    control = answer.asked.body.get("cache_control")
    if control is None:
        return "5m"
    ttl = control.get("ttl", "5m") if isinstance(control, dict) else None
    return ttl if ttl in ("5m", "1h") else None


def _marks(value: Any) -> Iterator[str]:
    """The TTLs that cache markers inside messages, system and tools ask for."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack += item
        elif isinstance(item, dict):
            marker = item.get("cache_control")
            if isinstance(marker, dict):
                ttl = marker.get("ttl", "5m")
                if isinstance(ttl, str):
                    yield ttl
            stack += [item.get("content")]


def _other_marks(answer: Answer) -> bool:
    """Whether a marker inside a block asks for another TTL than the top level."""
    body = answer.asked.body
    return any(ttl != _ttl(answer) for ttl in _marks([body.get(name) for name in ("system", "messages", "tools")]))


def wrote_by_ttl(answer: Answer) -> bool:
    """Whether tokens were written and reported by TTL, for a TTL that is documented."""
    usage = answer.usage
    if not answer.ok or usage is None or _ttl(answer) is None:
        return False
    return (usage.written_5m or 0) + (usage.written_1h or 0) > 0


def _misplaced(answer: Answer, message: str) -> Findings:
    usage = answer.usage
    if usage is None:
        return
    name, wrong = (
        ("ephemeral_5m_input_tokens", usage.written_5m)
        if _ttl(answer) == "1h"
        else ("ephemeral_1h_input_tokens", usage.written_1h)
    )
    if wrong:
        yield Finding(
            message=message,
            pointer=f"/usage/cache_creation/{name}" if usage.pointer.startswith("/") else usage.pointer,
            expected=0,
            actual=parts.shown(wrong),
        )


@rule(
    "cache.ttl-category",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    models=K31,
    source=cite("messages-k31", "#/components/schemas/MessageUsage/properties/cache_creation"),
    when=lambda answer: wrote_by_ttl(answer) and not _other_marks(answer),
    applies="a 200 answer that wrote tokens to the cache and reports them by TTL",
)
def writes_fit_the_ttl(answer: Answer) -> Findings:
    """A ttl of 1h writes ephemeral_1h tokens only; 5m, or none, ephemeral_5m tokens only."""
    yield from _misplaced(answer, f"tokens were written to the wrong cache: the request's TTL is {_ttl(answer)}")


@rule(
    "cache.block-marker-does-not-set-ttl",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    models=K31,
    source=cite("messages-k31", f"{_CONTROL}/description"),
    when=lambda answer: wrote_by_ttl(answer) and _other_marks(answer),
    applies="a 200 answer that wrote tokens, to a request whose blocks ask for another TTL than its top level",
)
def top_level_sets_the_ttl(answer: Answer) -> Findings:
    """Whatever a marker inside a block asks for, all writes are of the top level's TTL."""
    yield from _misplaced(
        answer, f"a marker inside a block set the TTL: the top level's is {_ttl(answer)}, and it alone counts"
    )


def warm_ups(answers: Sequence[Answer]) -> Iterator[Group]:
    """A prompt of 2,000 words or more sent again within a minute, all tries on one surface and model."""
    found: dict[tuple[Protocol, str, str], list[Answer]] = {}
    for group in groups.repeats(answers):
        counted = [answer for answer in group if counts_input(answer)]
        if len(counted[:2]) == 2 and len(counted[0].asked.prompt.split()) >= LONG_WORDS and not _reads(counted[0]):
            near = [counted[0]]
            for answer in counted[1:]:
                gap = parts.seconds_between(near[-1], answer)
                if gap is None or not 0 <= gap <= MINUTE:
                    break
                near.append(answer)
            if len(near) > 1:
                found.setdefault((near[0].protocol, near[0].model, near[0].asked.host), []).extend(near)
    yield from (tuple(series) for series in found.values())


@rule(
    "cache.read-after-write",
    Level.SHOULD,
    Basis.DOCUMENTED,
    over=Over.PAIR,
    protocols=(CHAT, MESSAGES),
    models=K31,
    source={
        CHAT: cite("chat-all", f"{_OPTIONS}/description"),
        MESSAGES: cite("messages-k31", f"{_CONTROL}/properties/ttl"),
    },
    find=warm_ups,
)
def long_prompts_are_cached(group: Group) -> Findings:
    """A long prompt is written to the cache, and read from it when it is sent again."""
    series: dict[str, list[Answer]] = {}
    for answer in group:
        series.setdefault(sameness.canonical(answer, "stream"), []).append(answer)
    for tries in series.values():
        read = next((place for place, answer in enumerate(tries) if _reads(answer)), None)
        if read is not None and not any(_writes(answer) for answer in tries[:read]):
            yield Finding(
                message="a prompt was read from the cache, and no answer before reported that it was written",
                pointer=_pointer(tries[0]),
                expected="cache writes above 0",
                actual=parts.shown(_writes(tries[0])),
                exchange=tries[0].exchange.id,
            )
    again = [answer for tries in series.values() for answer in tries[1:]]
    if any(_reads(answer) for answer in again):
        return
    if len(again) < TRIES:
        raise Inconclusive(f"no cache reads, and {TRIES} tries would tell")
    yield Finding(
        message="a long prompt that was sent again and again was never read from the cache",
        pointer=_pointer(again[-1]),
        expected="cache reads above 0",
        actual=0,
        exchange=again[-1].exchange.id,
    )


def _opening(answer: Answer) -> str:
    return answer.asked.prompt.lstrip()[:48]


def cold_prompts(answers: Sequence[Answer]) -> Iterator[Group]:
    """A long prompt that starts with fresh random text: its probe says so, or it opens with a new number."""
    seen: set[str] = set()
    for answer in answers:
        opening = _opening(answer)
        known = opening in seen
        seen.add(opening)
        fresh = answer.intends(Intent.FRESH) or (
            not known and bool(_NONCE.match(answer.asked.last_user.lstrip())) and _single(answer)
        )
        if fresh and counts_input(answer) and input_tokens(answer) >= LONG:
            yield (answer,)


def _single(answer: Answer) -> bool:
    """Whether a request is one user message and nothing before it."""
    body = answer.asked.body
    turns = body.get("input" if answer.protocol is RESPONSES else "messages")
    return "system" not in body and "tools" not in body and (isinstance(turns, str) or len(turns or ()) == 1)


@rule(
    "cache.no-read-when-cold",
    Level.SHOULD,
    Basis.PROTOCOL,
    source={
        CHAT: cite("chat-all", "Input tokens served from cache."),
        MESSAGES: cite("messages-k31", "Input tokens served from cache."),
        RESPONSES: cite("responses", "Context caching stores repeated prefix content from requests"),
    },
    find=cold_prompts,
)
def cold_prompts_are_not_read(group: Group) -> Findings:
    """What was never sent before is not read from a cache: reads are below 10 % of the prompt."""
    (answer,) = group
    prompt, reads = input_tokens(answer), _reads(answer)
    if reads * 100 >= prompt * _COLD:
        yield Finding(
            message="a prompt that was never sent before was read from the cache",
            pointer=_pointer(answer),
            expected=f"below {_COLD} % of {parts.shown(prompt)}",
            actual=parts.shown(reads),
        )


def ttl_writes(answers: Sequence[Answer]) -> Iterator[Group]:
    """Long fresh prompts with and without prompt_cache_options, all in one mode."""
    found: dict[tuple[str, str, bool], list[Answer]] = {}
    seen: set[str] = set()
    for answer in answers:
        if answer.protocol is not CHAT or answer.model not in K31:
            continue
        prompt = answer.asked.prompt
        fresh = prompt not in seen
        seen.add(prompt)
        if fresh and counts_input(answer) and input_tokens(answer) >= LONG and _option(answer) is not None:
            cold = _reads(answer) * 100 < input_tokens(answer) * _COLD
            if cold:
                found.setdefault((answer.asked.host, answer.model, answer.streamed), []).append(answer)
    for group in found.values():
        if any(_option(answer) != "omitted" for answer in group):
            yield tuple(group)


def _option(answer: Answer) -> str | None:
    """The TTL that a chat request asks for: 5m, 1h or omitted; None where it asks for something else."""
    options = answer.asked.body.get("prompt_cache_options")
    if options is None:
        return "omitted"
    ttl = options.get("ttl", "5m") if isinstance(options, dict) else None
    return ttl if ttl in ("5m", "1h") else None


@rule(
    "cache.chat-ttl-writes",
    Level.SHOULD,
    Basis.DOCUMENTED,
    over=Over.CONVERSATION,
    protocols=(CHAT,),
    models=K31,
    source=cite(
        "chat-all",
        "#/components/schemas/ChatUsage/properties/prompt_tokens_details/properties/cache_write_tokens/description",
    ),
    find=ttl_writes,
)
def every_ttl_writes(group: Group) -> Findings:
    """A long fresh prompt is written to the cache with ttl 5m, with ttl 1h and without the object."""
    tries: dict[str, list[Answer]] = {}
    for answer in group:
        tries.setdefault(_option(answer) or "", []).append(answer)
    wrote = {option: any(map(_writes, found)) for option, found in tries.items()}
    if not any(wrote.values()):
        raise Inconclusive("nothing was written to the cache, with or without prompt_cache_options")
    silent = [option for option, written in wrote.items() if not written]
    for option in silent:
        if len(tries[option]) >= TRIES:
            yield Finding(
                message=f"long fresh prompts with ttl {option} were never written to the cache"
                if option != "omitted"
                else "long fresh prompts without prompt_cache_options were never written to the cache",
                pointer=_pointer(tries[option][-1]),
                expected="cache_write_tokens above 0",
                actual=0,
                exchange=tries[option][-1].exchange.id,
            )
    if silent and all(len(tries[option]) < TRIES for option in silent):
        raise Inconclusive(f"no cache writes with some options, and {TRIES} tries would tell")


def warm_modes(answers: Sequence[Answer]) -> Iterator[Group]:
    """After a warm-up, the same long prompt twice streamed and twice not."""
    for group in groups.repeats(answers):
        warm: list[Answer] = []
        counted = [answer for answer in group if counts_input(answer)]
        for before, answer in pairwise(counted):
            gap = parts.seconds_between(before, answer)
            if gap is None or not 0 <= gap <= LIFETIME:
                break
            warm.append(answer)
        streamed = sum(answer.streamed for answer in warm)
        if streamed >= 2 and len(warm) - streamed >= 2 and input_tokens(warm[0]) >= LONG:
            yield tuple(warm)


@rule(
    "usage.modes-agree-on-cache",
    Level.SHOULD,
    Basis.PROTOCOL,
    over=Over.PAIR,
    protocols=(CHAT, MESSAGES),
    source={
        CHAT: cite("chat-all", "Input tokens served from cache."),
        MESSAGES: cite("messages-k31", "Input tokens served from cache."),
    },
    find=warm_modes,
)
def modes_read_alike(group: Group) -> Findings:
    """Where one mode shows cache reads each time, the other shows some."""
    streams = [answer for answer in group if answer.streamed]
    plain = [answer for answer in group if not answer.streamed]
    for readers, others, name in ((streams, plain, "JSON answers"), (plain, streams, "streams")):
        if all(map(_reads, readers)) and not any(map(_reads, others)):
            yield Finding(
                message=f"a prompt that the other mode reads from the cache each time is never read in {name}",
                pointer=_pointer(others[-1]),
                expected="cache reads above 0",
                actual=0,
                exchange=others[-1].exchange.id,
            )
