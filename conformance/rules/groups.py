"""Finders: which answers of one evidence set belong together as a pair or a conversation.

They look at the exchanges only, never at probe names, so that a recording yields the same groups as a run. Requests are
compared by their canonical JSON. A finder never joins answers of different surfaces (but ``surfaces`` does), and looks
at well-formed POSTs only. Groups keep the order of the evidence.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from conformance.models import K31
from conformance.protocols.view import Answer
from conformance.rules.registry import Group
from conformance.values import Protocol

MORE_WORDS = 100  # how many words longer the second member of ``longer`` is, at least
_MESSAGES = {Protocol.CHAT: "messages", Protocol.MESSAGES: "messages", Protocol.RESPONSES: "input"}
Key = tuple[str, ...]


def repeats(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request sent twice or more, whether streamed or not."""
    yield from _together(answers, lambda a: (_host(a), _model(a), canonical(a, "stream")))


def tries(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request sent twice or more in the same mode."""
    yield from _together(answers, lambda a: (_host(a), _model(a), _mode(a), canonical(a, "stream")))


def modes(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request asked for as JSON and as a stream."""
    for group in repeats(answers):
        plain = next((a for a in group if not a.asked.stream), None)
        streamed = next((a for a in group if a.asked.stream), None)
        if plain and streamed:
            yield (plain, streamed)


def siblings(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request to kimi-k3.1-pro and to kimi-k3.1-pro-highspeed."""
    for group in _together(answers, lambda a: (_host(a), _mode(a), _credentials(a), canonical(a, "model", "stream"))):
        first: dict[str, Answer] = {}
        for answer in group:
            if answer.asked.model in K31:
                first.setdefault(answer.asked.model, answer)
        if len(first) == len(K31):
            yield tuple(first[model] for model in K31)


def hosts(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request to two base URLs."""
    for group in _together(answers, lambda a: (_model(a), _mode(a), _credentials(a), canonical(a, "stream"))):
        first: dict[str, Answer] = {}
        for answer in group:
            first.setdefault(_host(answer), answer)
        both = tuple(first.values())
        yield from pairwise(both)


def all_answers(answers: Sequence[Answer]) -> Iterator[Group]:
    """Two or more answers in a run."""
    for protocol in Protocol:
        group = tuple(answer for answer in answers if answer.protocol is protocol and answer.ok)
        if len(group) > 1:
            yield group


def efforts(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same question at effort low and at effort max."""
    for group in _together(answers, lambda a: (_host(a), _model(a), _mode(a), canonical(a, "stream", effort=False))):
        low = tuple(a for a in group if a.asked.effort == "low")
        high = tuple(a for a in group if a.asked.effort == "max")
        yield from zip(low, high, strict=False)


def longer(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same request with 100 or more words more in the last user message."""
    yield from _by_last_user(answers, _extends)


def histories(answers: Sequence[Answer]) -> Iterator[Group]:
    """The last user message alone, and after earlier turns."""
    usable = [a for a in answers if _items(a) is not None or _is_string_input(a)]
    for bucket in _buckets(usable, lambda a: (_host(a), _model(a), a.asked.last_user, _settings(a))).values():
        alone = next((a for a in bucket if _turns(a) == 1), None)
        after = next((a for a in bucket if _turns(a) > 2), None)
        if alone is not None and after is not None:
            yield (alone, after)


def inputs(answers: Sequence[Answer]) -> Iterator[Group]:
    """Input as a string, and as an array with one user message."""
    usable = [a for a in answers if a.protocol is Protocol.RESPONSES]
    for bucket in _buckets(usable, lambda a: (_host(a), _model(a), a.asked.last_user, _settings(a))).values():
        string = next((a for a in bucket if _is_string_input(a)), None)
        array = next((a for a in bucket if not _is_string_input(a) and _turns(a) == 1), None)
        if string is not None and array is not None:
            yield (string, array)


def forms(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same words as a string and as one text block."""
    usable = [a for a in answers if a.protocol is not Protocol.RESPONSES]
    for bucket in _buckets(usable, lambda a: (_host(a), _model(a), _dump(_flat_text(_without(a, "stream"))))).values():
        first = {canonical(a, "stream"): a for a in reversed(bucket)}
        ordered = sorted(first.values(), key=_block_count)
        if len(ordered) > 1 and _block_count(ordered[0]) < _block_count(ordered[-1]):
            yield (ordered[0], ordered[-1])


def images(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same message with and without an image."""
    usable = [a for a in answers if a.protocol is not Protocol.RESPONSES]
    for bucket in _buckets(
        usable, lambda a: (_host(a), _model(a), _dump(_flat_text(_imageless(_without(a, "stream")))))
    ).values():
        without = next((a for a in bucket if not _image_count(a.asked.body)), None)
        for answer in bucket:
            if without is not None and _image_count(answer.asked.body):
                yield (without, answer)


def stop_controls(answers: Sequence[Answer]) -> Iterator[Group]:
    """An answer to stop_sequences, after control answers to the same request without them."""
    usable = [a for a in answers if a.protocol is Protocol.MESSAGES]
    for group in _together(usable, lambda a: (_host(a), _model(a), canonical(a, "stream", "stop_sequences"))):
        controls = tuple(a for a in group if "stop_sequences" not in a.asked.body and a.ok)
        for answer in group:
            if controls and answer.asked.stop_sequences:
                yield (*controls, answer)


def surfaces(answers: Sequence[Answer]) -> Iterator[Group]:
    """One user message sent through two or three surfaces."""
    usable = [a for a in answers if _turns(a) == 1 and not a.asked.tools and _plain(a)]
    for bucket in _buckets(usable, lambda a: (_model(a), a.asked.last_user), across=True).values():
        first: dict[Protocol, Answer] = {}
        for answer in bucket:
            if answer.ok:
                first.setdefault(answer.protocol, answer)
        if len(first) > 1:
            yield tuple(first.values())


def continuations(answers: Sequence[Answer]) -> Iterator[Group]:
    """A request whose history holds earlier answers, after those answers."""
    said: dict[Key, list[Answer]] = defaultdict(list)
    for answer in _usable(answers):
        items = _history(answer)
        earlier: dict[int, Answer] = {}
        for place in _answer_places(answer, items):
            marks = set(_marks(items[place]))
            for before in reversed(said[_prefix(answer, items[:place])]):
                if marks.intersection(mark for item in _answered_items(before) for mark in _marks(item)):
                    earlier[id(before)] = before
                    break
        if earlier:
            yield (*earlier.values(), answer)
        if answer.ok:
            said[_prefix(answer, items)].append(answer)


# ------------------------------------------------------------------ requests, compared


def canonical(answer: Answer, *leave_out: str, effort: bool = True) -> str:
    """The request body as one string, keys sorted, without the named fields (and without the effort)."""
    body = _without(answer, *leave_out)
    if not effort:
        body.pop("reasoning_effort", None)
        for name in ("output_config", "reasoning"):
            if isinstance(body.get(name), dict):
                body[name] = {key: value for key, value in body[name].items() if key != "effort"}
    return _dump(body)


def _without(answer: Answer, *names: str) -> dict[str, Any]:
    return {key: value for key, value in answer.asked.body.items() if key not in names}


def _dump(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def _host(answer: Answer) -> str:
    return answer.asked.url.partition("?")[0]


def _model(answer: Answer) -> str:
    return answer.model


def _mode(answer: Answer) -> str:
    return "stream" if answer.asked.stream else "json"


def _credentials(answer: Answer) -> str:
    return _dump([answer.asked.scheme, sorted(answer.exchange.intents), answer.asked.header("content-type")])


def _settings(answer: Answer) -> str:
    return _dump(_without(answer, "stream", _MESSAGES[answer.protocol]))


def _usable(answers: Iterable[Answer]) -> Iterator[Answer]:
    return (a for a in answers if a.asked.method == "POST" and a.asked.malformed is None)


def _buckets(
    answers: Iterable[Answer], key: Callable[[Answer], Key], *, across: bool = False
) -> dict[Key, list[Answer]]:
    found: dict[Key, list[Answer]] = defaultdict(list)
    for answer in _usable(answers):
        found["" if across else answer.protocol.value, *key(answer)].append(answer)
    return found


def _together(answers: Iterable[Answer], key: Callable[[Answer], Key]) -> Iterator[Group]:
    return (tuple(bucket) for bucket in _buckets(answers, key).values() if len(bucket) > 1)


# ------------------------------------------------------------------ messages and their texts


def _items(answer: Answer) -> list[Any] | None:
    value = answer.asked.body.get(_MESSAGES[answer.protocol])
    return value if isinstance(value, list) else None


def _is_string_input(answer: Answer) -> bool:
    return answer.protocol is Protocol.RESPONSES and isinstance(answer.asked.body.get("input"), str)


def _turns(answer: Answer) -> int:
    """How many messages but system ones; a string input is one."""
    if _is_string_input(answer):
        return 1
    return sum(1 for item in _items(answer) or () if isinstance(item, dict) and item.get("role") != "system")


def _plain(answer: Answer) -> bool:
    return "system" not in answer.asked.body and len(_items(answer) or [0]) == 1


def _by_last_user(answers: Sequence[Answer], related: Callable[[Answer, Answer], bool]) -> Iterator[Group]:
    for bucket in _buckets(answers, lambda a: (_host(a), _model(a), _rest(a))).values():
        by_text: dict[str, Answer] = {}
        for answer in bucket:
            by_text.setdefault(answer.asked.last_user, answer)
        ordered = sorted(by_text.values(), key=lambda a: len(a.asked.last_user))
        for place, short in enumerate(ordered):
            long = next((other for other in ordered[place + 1 :] if related(short, other)), None)
            if long is not None:
                yield (short, long)


def _extends(short: Answer, long: Answer) -> bool:
    one, two = short.asked.last_user.strip(), long.asked.last_user.strip()
    grown = len(two.split()) - len(one.split()) >= MORE_WORDS
    return bool(one) and grown and (two.startswith(one) or two.endswith(one))


def _rest(answer: Answer) -> str:
    """The request without the words of its last user message."""
    body = _without(answer, "stream")
    name = _MESSAGES[answer.protocol]
    items = body.get(name)
    if isinstance(items, list):
        last = max((n for n, item in enumerate(items) if _role(item) == "user"), default=None)
        body[name] = [_wordless(item) if n == last else item for n, item in enumerate(items)]
    elif isinstance(items, str):
        body[name] = ""
    return _dump(body)


def _wordless(item: dict[str, Any]) -> dict[str, Any]:
    content = item.get("content")
    if isinstance(content, list):
        content = [{**p, "text": ""} if isinstance(p, dict) and "text" in p else p for p in content]
    elif isinstance(content, str):
        content = ""
    return {**item, "content": content}


def _role(item: object) -> object:
    return item.get("role") if isinstance(item, dict) else None


def _flat_text(body: dict[str, Any]) -> dict[str, Any]:
    """The body with each lone text block written as a string."""

    def flat(value: object) -> object:
        if isinstance(value, list) and len(value) == 1 and _is_text(value[0]):
            return value[0]["text"]
        return value

    flattened = dict(body)
    if "system" in body:
        flattened["system"] = flat(body["system"])
    if isinstance(body.get("messages"), list):
        flattened["messages"] = [
            {**item, "content": flat(item["content"])} if isinstance(item, dict) and "content" in item else item
            for item in body["messages"]
        ]
    return flattened


def _is_text(block: object) -> bool:
    return (
        isinstance(block, dict)
        and block.keys() == {"type", "text"}
        and block["type"] == "text"
        and isinstance(block["text"], str)
    )


def _block_count(answer: Answer) -> int:
    """How many of the fields that may be a string are arrays."""
    body = answer.asked.body
    fields = [body.get("system"), *(i.get("content") for i in _items(answer) or () if isinstance(i, dict))]
    return sum(isinstance(value, list) for value in fields)


def _imageless(body: dict[str, Any]) -> dict[str, Any]:
    def strip(item: object) -> object:
        if isinstance(item, dict) and isinstance(item.get("content"), list):
            return {**item, "content": [block for block in item["content"] if not _is_image(block)]}
        return item

    messages = body.get("messages")
    return {**body, "messages": [strip(item) for item in messages]} if isinstance(messages, list) else body


def _is_image(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") in ("image", "image_url")


def _image_count(body: dict[str, Any]) -> int:
    items = body.get("messages")
    contents = [i.get("content") for i in items if isinstance(i, dict)] if isinstance(items, list) else []
    return sum(_is_image(block) for content in contents if isinstance(content, list) for block in content)


# ------------------------------------------------------------------ what was said, found again in a history


def _history(answer: Answer) -> list[Any]:
    if _is_string_input(answer):
        return [{"role": "user", "content": answer.asked.body["input"]}]
    return _items(answer) or []


def _prefix(answer: Answer, items: list[Any]) -> Key:
    return (answer.protocol.value, _host(answer), _model(answer), _dump(items))


def _is_said(item: object) -> bool:
    """Whether a model wrote this part of a history."""
    return _role(item) == "assistant" or (
        isinstance(item, dict) and "role" not in item and item.get("type") in ("function_call", "reasoning")
    )


def _answer_places(answer: Answer, items: list[Any]) -> Iterator[int]:
    """Where in a history each answer begins; on responses one answer may be several items."""
    for place, item in enumerate(items):
        follows = place > 0 and _is_said(items[place - 1]) and answer.protocol is Protocol.RESPONSES
        if _is_said(item) and not follows:
            yield place


def _answered_items(answer: Answer) -> Iterator[dict[str, Any]]:
    """The parts of an answer that a client sends back."""
    body = answer.body or {}
    if answer.protocol is Protocol.CHAT:
        choices = body.get("choices")
        found = [c.get("message") for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []
    elif answer.protocol is Protocol.MESSAGES:
        found = [{"content": body.get("content")}]
    else:
        output = body.get("output")
        found = output if isinstance(output, list) else []
    yield from (item for item in found if isinstance(item, dict))


def _marks(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What an assistant item is recognised by: the ids of its calls, its signatures, its texts."""
    content = item.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    calls = item.get("tool_calls")
    ids = [call.get("id") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    ids += [block.get("id") for block in blocks if block.get("type") in ("tool_use", "server_tool_use")]
    ids += [item.get("call_id"), item.get("id")]
    texts = [content, item.get("reasoning_content")]
    texts += [block.get(name) for block in blocks for name in ("text", "thinking")]
    signatures = [block.get("signature") for block in blocks]
    for kind, values in (("id", ids), ("signature", signatures), ("text", texts)):
        for value in values:
            if isinstance(value, str) and value.strip():
                yield (kind, value)
