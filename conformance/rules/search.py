"""Web search within one answer: chat's builtin call, the server's own searches on Messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.models import K31
from conformance.protocols.view import Answer, Call, SearchResult
from conformance.rules import parts
from conformance.rules.groups import tries
from conformance.rules.history import blocks, turns
from conformance.rules.payloads import brief, entries, is_filled, members
from conformance.rules.registry import CHAT, MESSAGES, Findings, Group, Inconclusive, cite, rule
from conformance.rules.tools import K3_MESSAGES
from conformance.values import Basis, Finding, Intent, Level, Over

SEARCH = "$web_search"
_ERROR = "web_search_tool_result_error"
_RESULT = cite("messages-k31", "#/components/schemas/WebSearchResultBlock/properties/tool_use_id")
_EXAMPLE = cite("messages-k31", "#/paths/~1v1~1messages/post/requestBody/content/application~1json/examples/web_search")
_EXAMPLE_PROMPT = "Use web search to find the official Kimi homepage URL."
_TRIES = 3


def _outside_functions(answer: Answer) -> list[Call]:
    """The calls that are of none of the declared functions, and so are meant for web search."""
    names = {tool.name for tool in answer.asked.functions}
    return [call for call in answer.calls if not isinstance(call.name, str) or call.name not in names]


def _searches_on_chat(answer: Answer) -> bool:
    """A chat answer that calls the offered web search."""
    return answer.ok and answer.asked.searches and bool(_outside_functions(answer))


@rule(
    "search.chat-builtin-call",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    source=cite("chat-all", "#/components/schemas/ToolCall/properties/type"),
    when=_searches_on_chat,
)
def search_is_a_builtin_call(answer: Answer) -> Findings:
    """A web search is a call named $web_search, and the answer finishes with tool_calls."""
    for call in _outside_functions(answer):
        if call.name != SEARCH:
            yield Finding(
                message="a search call of another name",
                pointer=f"{call.pointer}/function/name",
                expected=SEARCH,
                actual=brief(call.name),
            )
    if answer.normal and answer.finish != "tool_calls":
        yield Finding(
            message="an answer that asks for a search finishes otherwise than with tool_calls",
            pointer="/choices/0/finish_reason",
            expected="tool_calls",
            actual=brief(answer.finish),
        )


def _searches(answer: Answer) -> list[Call]:
    return [call for call in answer.calls if call.server]


def has_searches(answer: Answer) -> bool:
    """A server_tool_use or web_search_tool_result block."""
    return answer.ok and bool(_searches(answer) or answer.results)


@rule(
    "search.server-pairing",
    Level.MUST,
    Basis.PROTOCOL,
    protocols=(MESSAGES,),
    source=_RESULT,
    when=has_searches,
    should_on=K3_MESSAGES,
)
def searches_and_results_pair(answer: Answer) -> Findings:
    """Each server_tool_use is followed by one web_search_tool_result with its id; no result is without a use."""
    open_uses: dict[str, str] = {}  # id to pointer, of the uses without a result so far
    answered: set[str] = set()
    content = entries((answer.body or {}).get("content"))
    earlier = _earlier_uses(answer)
    for place, block in enumerate(content):
        pointer, fields = f"/content/{place}", members(block)
        if fields.get("type") == "server_tool_use" and is_filled(fields.get("id")):
            open_uses[fields["id"]] = pointer
        elif fields.get("type") == "web_search_tool_result":
            use = fields.get("tool_use_id")
            if isinstance(use, str) and use in open_uses:
                del open_uses[use]
                answered.add(use)
            elif not isinstance(use, str) or use not in earlier:
                again = isinstance(use, str) and use in answered
                yield Finding(
                    message="a second result of one search" if again else "a search result without its use",
                    pointer=f"{pointer}/tool_use_id",
                    expected=sorted(open_uses)[:20],
                    actual=brief(use),
                )
    unfinished = not answer.normal and answer.ending is not None
    for use, pointer in list(open_uses.items())[: -1 if unfinished or answer.broken or not answer.complete else None]:
        yield Finding(message="a search without its result", pointer=pointer, expected=brief(use), actual="no result")


def _earlier_uses(answer: Answer) -> set[str]:
    """The searches of the history that have no result there: the answer may go on with them."""
    ids: set[str] = set()
    for block in (block for turn in turns(answer.asked) for block in blocks(turn)):
        if block.get("type") == "server_tool_use" and isinstance(block.get("id"), str):
            ids.add(block["id"])
        elif block.get("type") == "web_search_tool_result" and isinstance(block.get("tool_use_id"), str):
            ids.discard(block["tool_use_id"])
    return ids


@rule(
    "search.result-shape",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    source=cite("messages-k31", "#/components/schemas/WebSearchResultBlock/properties/content"),
    when=lambda answer: answer.ok and bool(answer.results),
    applies="a web_search_tool_result block",
    should_on=K3_MESSAGES,
)
def results_are_shaped(answer: Answer) -> Findings:
    """The content of a result is an array of result objects, or one web_search_tool_result_error object."""
    for result in answer.results:
        fault = _shape_fault(result.content)
        if fault is not None:
            yield Finding(
                message="the content of a search result is neither an array of results nor an error object",
                pointer=f"{result.pointer}/content",
                expected=f"an array of objects, or an object of type {_ERROR}",
                actual=fault,
            )


def _shape_fault(content: object) -> str | None:
    """What is wrong with the content of a result, as a finding shows it; None for a right one."""
    if isinstance(content, dict):
        return None if content.get("type") == _ERROR else f"an object of type {brief(content.get('type'))}"
    if not isinstance(content, list):
        return f"{brief(content)}"
    for entry in content:
        if not isinstance(entry, dict):
            return f"an array that holds {brief(entry)}"
        if entry.get("type") == _ERROR:
            return f"an array that holds a {_ERROR}"
    return None


def _limited(answer: Answer) -> bool:
    """An answer to a request that sets max_uses, to 1 or more."""
    return answer.ok and (_allowed(answer) or 0) > 0


def _allowed(answer: Answer) -> int | None:
    return next((tool.max_uses for tool in answer.asked.tools if tool.search and tool.max_uses is not None), None)


@rule(
    "search.max-uses",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    source=cite("messages-k31", "#/components/schemas/WebSearchTool/properties/max_uses"),
    when=_limited,
    should_on=K3_MESSAGES,
)
def searches_stay_within_max_uses(answer: Answer) -> Findings:
    """An answer holds no more searches than max_uses allows; one whose result is an error was not made."""
    allowed = _allowed(answer)
    failed = Counter(result.use_id for result in answer.results if result.failed and isinstance(result.use_id, str))
    cut = parts.cut_search(answer)
    made = [
        call for call in _searches(answer) if call is not cut and not (isinstance(call.id, str) and failed[call.id])
    ]
    if allowed is not None and len(made) > allowed:
        yield Finding(
            message="more searches than max_uses allows",
            pointer=made[allowed].pointer,
            expected=allowed,
            actual=len(made),
        )


def _only_searched(answer: Answer) -> bool:
    """An answer with searches by the server and no call for the client."""
    return answer.ok and bool(_searches(answer)) and not answer.client_calls


@rule(
    "search.end-turn",
    Level.SHOULD,
    Basis.PROTOCOL,
    protocols=(MESSAGES,),
    source=cite("messages-k31", "#/components/schemas/MessageResponse/properties/stop_reason"),
    when=_only_searched,
)
def searching_is_not_tool_use(answer: Answer) -> Findings:
    """An answer whose only calls are searches by the server does not stop for tool_use."""
    if answer.finish == "tool_use":
        yield Finding(
            message="stop_reason is tool_use, and the client has nothing to run",
            pointer="/stop_reason",
            expected="end_turn",
            actual="tool_use",
        )


def documented_searches(answers: Sequence[Answer]) -> Iterator[Group]:
    """The documented web search example, sent three times or more."""
    for group in tries(answers):
        whole = tuple(answer for answer in group if answer.protocol is MESSAGES and _is_example(answer) and answer.ok)
        if len(whole) >= _TRIES:
            yield whole


def _is_example(answer: Answer) -> bool:
    """Whether a request is the documented example, in words, tool and choice."""
    asked = answer.asked
    plain = asked.searches and not asked.functions and asked.choice in (None, "auto")
    return plain and (answer.intends(Intent.DOCUMENTED_SEARCH) or _EXAMPLE_PROMPT in asked.last_user)


@rule(
    "search.messages-performed",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    models=K31,
    source=_EXAMPLE,
    over=Over.CONVERSATION,
    find=documented_searches,
)
def the_example_searches(group: Group) -> Findings:
    """Of three tries of the documented search example, one at least holds a search and its result."""
    if any(_searched(answer) for answer in group):
        return
    if sum(answer.normal for answer in group) < _TRIES:
        raise Inconclusive("fewer than three tries came to their normal end")
    yield Finding(
        message=f"none of {len(group)} tries of the documented search example made a search",
        pointer="/content",
        expected="a server_tool_use block and its result",
        actual=[brief(members(block).get("type")) for block in entries((group[-1].body or {}).get("content"))][:20],
    )


def _searched(answer: Answer) -> bool:
    results: tuple[SearchResult, ...] = answer.results
    return any(call.id == result.use_id for call in _searches(answer) for result in results)
