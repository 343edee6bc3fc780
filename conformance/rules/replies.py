"""Conversations: what the client added to a history, and whether the answers in it were sent back unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.protocols.memory import Memory
from conformance.protocols.view import Answer
from conformance.rules.decisions import acceptance
from conformance.rules.doubts import doubt_of_step, sent_whole
from conformance.rules.groups import continuations
from conformance.rules.history import blocks, turns
from conformance.rules.payloads import entries, members, words
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Group
from conformance.values import Finding, Intent

_MEMORY: Memory[tuple[tuple[Group, Reply], ...]] = Memory(size=1, weight=1, weigh=len)
_SAID = ("function_call", "reasoning")
_CHANGEABLE = frozenset(
    {"messages", "input", "stream", "tools", "tool_choice", "max_tokens", "max_completion_tokens", "max_output_tokens"}
)
_COMPARED = {  # block type to the fields that must come back as they were
    "text": ("text",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input"),
    "server_tool_use": ("id", "name", "input"),
    "web_search_tool_result": ("tool_use_id", "content"),
}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A request that goes on from an answer, every earlier answer sent back unchanged."""

    before: Answer  # the answer that it goes on from
    added: list[dict[str, Any]]  # the messages or items after that answer
    answer: Answer


def unchanged_replies(answers: Sequence[Answer]) -> Iterator[Group]:
    """A request that goes on from earlier answers, sent back unchanged."""
    return (group for group, _ in _replies(answers))


def tool_replies(answers: Sequence[Answer]) -> Iterator[Group]:
    """A call was made, and its result sent back with the history unchanged."""
    for group, found in _replies(answers):
        if found.before.client_calls and _call_ids(found.before) == _results(found):
            yield group


def parallel_replies(answers: Sequence[Answer]) -> Iterator[Group]:
    """Two or more calls were made in one answer, and all their results sent back."""
    return (group for group in tool_replies(answers) if len(group[-2].client_calls) > 1)


def search_replies(answers: Sequence[Answer]) -> Iterator[Group]:
    """A web search was called on chat, and its arguments sent back as the result of the call."""
    for group in tool_replies(answers):
        found = reply(group)
        if group[-1].protocol is CHAT and found is not None and _echoes(found):
            yield group


def user_replies(answers: Sequence[Answer]) -> Iterator[Group]:
    """An answer was sent back unchanged, with a further user message."""
    for group, found in _replies(answers):
        if found.added and _is_user_message(found.added[-1]) and not _is_partial(found):
            yield group


def _replies(answers: Sequence[Answer]) -> tuple[tuple[Group, Reply], ...]:
    """The conversations sent back unchanged, found once for the finders that ask one after the other."""

    def find() -> tuple[tuple[Group, Reply], ...]:
        replies = ((group, reply(group)) for group in continuations(answers))
        return tuple((group, found) for group, found in replies if found is not None)

    return _MEMORY.recall((id(answers), len(answers)), answers, find)


def reply(group: Group) -> Reply | None:
    """The last step of a conversation; None where its request is at fault, or any answer came back altered."""
    *earlier, answer = group
    asked = answer.asked
    if not earlier or asked.breaches or not sent_whole(answer) or _restarts(earlier[-1], answer):
        return None
    runs = list(_runs(answer))
    if len(runs) != len(earlier) or not all(map(_came_back, earlier, (said for said, _ in runs))):
        return None
    if not all(before.normal for before in earlier):
        return None  # of an answer that was cut off, a half call or an unsigned thought may come back
    if earlier[-1].calls and not _tools(earlier[-1]) <= _tools(answer):
        return None  # calls of tools that are no longer declared
    added = runs[-1][1]
    return (
        None
        if doubt_of_step(earlier[-1].asked, asked, added)
        else Reply(before=earlier[-1], added=added, answer=answer)
    )


def accepted(group: Group, subject: str) -> Findings:
    """The finding for a reply that is refused; raises Inconclusive where something else stopped it."""
    yield from acceptance(group[-1], subject)


def answered(group: Group) -> Findings:
    """The finding for an accepted reply whose answer, come to its normal end, says nothing and calls nothing."""
    answer = group[-1]
    if answer.ok and answer.normal and not answer.calls and not answer.text.strip() and not answer.asked.stop_sequences:
        yield Finding(
            message="the answer to the results has neither text nor a call", expected="an answer", actual="none"
        )


def _restarts(before: Answer, answer: Answer) -> bool:
    """Whether a request sets what the accepted one before it did not, or says that it is extreme."""
    old, new = before.asked.body, answer.asked.body
    changed = {name for name in new if name not in old or (name not in _CHANGEABLE and old[name] != new[name])}
    return bool(changed) or bool({Intent.HOSTILE, Intent.OVERSIZED, Intent.INVALID_KEY} & set(answer.exchange.intents))


def _tools(answer: Answer) -> set[str | None]:
    return {tool.name for tool in answer.asked.tools}


def _is_said(answer: Answer, turn: dict[str, Any]) -> bool:
    """Whether a model wrote this part of a history."""
    return turn.get("role") == "assistant" or (
        answer.protocol is RESPONSES and "role" not in turn and turn.get("type") in _SAID
    )


def _runs(answer: Answer) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """Each answer of a history, and what the client added after it; on Responses an answer may be several items."""
    said: list[dict[str, Any]] = []
    added: list[dict[str, Any]] = []
    for turn in turns(answer.asked):
        if _is_said(answer, turn):
            if said and (added or answer.protocol is not RESPONSES):
                yield said, added
                said, added = [], []
            said.append(turn)
        elif said:
            added.append(turn)
    if said:
        yield said, added


def _came_back(answer: Answer, said: list[dict[str, Any]]) -> bool:
    """Whether an answer is in a history as it was; fields that say nothing may be left out."""
    body = answer.body or {}
    if answer.protocol is CHAT:
        choices = entries(body.get("choices"))
        message = members(members(choices[0]).get("message")) if choices else {}
        return bool(message) and len(said) == 1 and _message(message) == _message(said[0])
    if answer.protocol is MESSAGES:
        content = [block for block in entries(body.get("content")) if isinstance(block, dict)]
        returned = blocks(said[0]) or [{"type": "text", "text": said[0].get("content")}]
        return len(said) == 1 and [_block(block) for block in content] == [_block(block) for block in returned]
    output = [item for item in entries(body.get("output")) if isinstance(item, dict)]
    return bool(output) and [_item(item) for item in output] == [_item(item) for item in said]


def _message(message: dict[str, Any]) -> tuple[object, ...]:
    calls = [
        (members(call).get("id"), members(members(call).get("function")).get("name"), _arguments(members(call)))
        for call in entries(message.get("tool_calls"))
    ]
    return (message.get("content") or "", message.get("reasoning_content") or "", calls)


def _arguments(call: dict[str, Any]) -> object:
    return members(call.get("function")).get("arguments")


def _block(block: dict[str, Any]) -> tuple[object, ...]:
    kind = words(block.get("type"))
    return (kind, *((name, block.get(name) or None) for name in _COMPARED.get(kind, ())))


def _item(item: dict[str, Any]) -> tuple[object, ...]:
    kind = item.get("type", "message")
    if kind == "function_call":
        return (kind, item.get("call_id"), item.get("name"), item.get("arguments"))
    texts = [item["content"]] if isinstance(item.get("content"), str) else []
    parts = [*entries(item.get("summary")), *entries(item.get("content"))]
    return (kind, [*texts, *(members(part).get("text") for part in parts)])


def _results(found: Reply) -> set[str]:
    """The ids of the calls whose results the client added."""
    ids: list[object] = []
    for turn in found.added:
        if found.answer.protocol is CHAT and turn.get("role") == "tool":
            ids.append(turn.get("tool_call_id"))
        elif found.answer.protocol is MESSAGES:
            ids += [block.get("tool_use_id") for block in blocks(turn) if block.get("type") == "tool_result"]
        elif turn.get("type") == "function_call_output":
            ids.append(turn.get("call_id"))
    return {name for name in ids if isinstance(name, str)}


def _echoes(found: Reply) -> bool:
    """Whether the arguments of each search call came back as the content of its result, at least one among them."""
    searches = {call.id: call.arguments for call in found.before.calls if call.search and isinstance(call.id, str)}
    contents = {
        turn.get("tool_call_id"): turn.get("content")
        for turn in found.added
        if turn.get("role") == "tool" and isinstance(turn.get("tool_call_id"), str)
    }
    return bool(searches) and all(contents.get(name) == arguments for name, arguments in searches.items())


def _is_user_message(turn: dict[str, Any]) -> bool:
    results = any(block.get("type") == "tool_result" for block in blocks(turn))
    return turn.get("role") == "user" and not results


def _is_partial(found: Reply) -> bool:
    """Whether the history holds calls without their results, which a server may refuse."""
    return not _call_ids(found.before) <= _results(found)


def _call_ids(answer: Answer) -> set[str]:
    return {call.id for call in answer.client_calls if isinstance(call.id, str)}
