"""Faults in web search: chat's builtin call and its round trip, the searches that messages runs itself."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.models import K31
from conformance.reference.faults.edits import Events, data, of
from conformance.reference.faults.histories import Problems, unless
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, STREAM, fault
from conformance.reference.faults.terms import sent
from conformance.reference.hooks import Context
from conformance.reference.prompts import SEARCH, Prompt
from conformance.reference.results import Finish, Result, Search

_CHAT = (CHAT,)
_MESSAGES = (MESSAGES,)
_BUILTIN = ("search.chat-builtin-call",)
_TRIP = ("search.chat-round-trip", "tool.round-trip")
_PAIRS = ("search.server-pairing",)
_SHAPE = ("search.result-shape", "body.schema")
_MOST = ("search.max-uses",)
_RESULT = "web_search_tool_result"
_USE = "server_tool_use"
Block = dict[str, Any]


def _named(result: Result, name: str) -> Result:
    return replace(result, calls=tuple(replace(call, name=name) if call.builtin else call for call in result.calls))


@fault("search-name-without-dollar", "result", on=_CHAT, caught_by=(*_BUILTIN, "tool.declared-only"))
def without_dollar(_: Context, result: Result) -> Result:
    """The search call is named web_search, without its dollar sign."""
    return _named(result, "web_search")


@fault("search-name-of-template", "result", on=_CHAT, caught_by=(*_BUILTIN, "tool.declared-only"))
def of_template(_: Context, result: Result) -> Result:
    """The search call is named as the model's template writes it."""
    return _named(result, "builtin_function.$web_search")


@fault("search-finishes-with-stop", "result", on=_CHAT, caught_by=(*_BUILTIN, "finish.tool-iff-call"))
def finishes_with_stop(_: Context, result: Result) -> Result:
    """An answer that asks for a search finishes with stop."""
    return replace(result, finish=Finish.STOP) if any(call.builtin for call in result.calls) else result


def _echoed(context: Context) -> bool:
    """Whether the last message of a chat request answers a search call."""
    called = sent(context, "messages", -2, "tool_calls", 0, "function", "name")
    return bool(sent(context, "messages", -1, "role") == "tool" and called == SEARCH)


@fault("search-echo-refused", "problems", on=_CHAT, caught_by=_TRIP)
def echo_refused(context: Context, problems: Problems) -> Problems:
    """The arguments of a search call, sent back, are refused."""
    return unless(problems, not _echoed(context), "a tool message must hold the results of the search")


@fault("search-echo-unanswered", "result", on=_CHAT, caught_by=(*_TRIP, "body.text-not-empty"))
def echo_unanswered(context: Context, result: Result) -> Result:
    """The answer to the arguments of a search call, sent back, is empty."""
    return replace(result, text="") if _echoed(context) else result


@fault("search-result-of-unknown-id", "block", on=_MESSAGES, caught_by=_PAIRS)
def unknown_id(_: Context, block: Block) -> Block:
    """The result of a search names another id than the search."""
    return block | {"tool_use_id": "srvtoolu_0"} if block["type"] == _RESULT else block


@fault("search-result-id-prefixed", "block", on=_MESSAGES, caught_by=_PAIRS)
def id_prefixed(_: Context, block: Block) -> Block:
    """The result of a search names it with the prefix of function calls."""
    if block["type"] == _RESULT:
        block["tool_use_id"] = block["tool_use_id"].replace("srvtoolu_", "toolu_")
    return block


@fault("search-result-without-id", "block", on=_MESSAGES, caught_by=(*_PAIRS, "body.schema"))
def without_id(_: Context, block: Block) -> Block:
    """The result of a search does not name it."""
    if block["type"] == _RESULT:
        del block["tool_use_id"]
    return block


@fault("search-result-as-text", "block", on=_MESSAGES, caught_by=_PAIRS)
def as_text(_: Context, block: Block) -> Block:
    """The result of a search comes as a text block."""
    if block["type"] != _RESULT:
        return block
    return {"type": "text", "text": "; ".join(found["url"] for found in block["content"])}


@fault("search-result-missing", "body", on=_MESSAGES, modes=(JSON,), caught_by=_PAIRS)
def result_missing(_: Context, body: Block) -> Block:
    """A search has no result block."""
    body["content"] = [block for block in body["content"] if block["type"] != _RESULT]
    return body


def _without_block(events: Events, block: str) -> Events:
    """The events without the first block of a type, the later ones counted down."""
    gone = next((each["index"] for each in of(events, "content_block_start") if _is(each, block)), None)
    found: Events = []
    for event in events:
        index = data(event).get("index")
        if gone is None or index is None or index < gone:
            found.append(event)
        elif index > gone:
            data(event)["index"] -= 1
            found.append(event)
    return found


def _is(each: Block, block: str) -> bool:
    return bool(each["content_block"]["type"] == block)


@fault("search-result-missing-in-streams", "events", on=_MESSAGES, modes=(STREAM,), caught_by=_PAIRS)
def result_missing_in_streams(_: Context, events: Events) -> Events:
    """A streamed search has no result block."""
    return _without_block(events, _RESULT)


@fault("search-use-missing", "body", on=_MESSAGES, modes=(JSON,), caught_by=_PAIRS)
def use_missing(_: Context, body: Block) -> Block:
    """The result of a search comes without the search."""
    body["content"] = [block for block in body["content"] if block["type"] != _USE]
    return body


@fault("search-use-missing-in-streams", "events", on=_MESSAGES, modes=(STREAM,), caught_by=_PAIRS)
def use_missing_in_streams(_: Context, events: Events) -> Events:
    """The streamed result of a search comes without the search."""
    return _without_block(events, _USE)


@fault("search-result-twice", "body", on=_MESSAGES, modes=(JSON,), caught_by=_PAIRS)
def result_twice(_: Context, body: Block) -> Block:
    """The result of a search comes twice."""
    body["content"] = [each for block in body["content"] for each in [block] * (2 if block["type"] == _RESULT else 1)]
    return body


@fault("search-result-first", "body", on=_MESSAGES, modes=(JSON,), caught_by=_PAIRS)
def result_first(_: Context, body: Block) -> Block:
    """The results of all searches come before the searches."""
    body["content"].sort(key=lambda block: block["type"] != _RESULT)
    return body


def _with_content(block: Block, content: object) -> Block:
    return block | {"content": content} if block["type"] == _RESULT else block


@fault("search-error-in-array", "block", on=_MESSAGES, caught_by=_SHAPE)
def error_in_array(_: Context, block: Block) -> Block:
    """The error of a search stands in an array."""
    return _with_content(block, [{"type": "web_search_tool_result_error", "error_code": "unavailable"}])


@fault("search-error-as-string", "block", on=_MESSAGES, caught_by=_SHAPE)
def error_as_string(_: Context, block: Block) -> Block:
    """The error of a search is a string."""
    return _with_content(block, "unavailable")


@fault("search-error-of-another-type", "block", on=_MESSAGES, caught_by=_SHAPE)
def error_of_another_type(_: Context, block: Block) -> Block:
    """The error of a search is an object of type error."""
    return _with_content(block, {"type": "error", "error_code": "unavailable"})


@fault("search-results-null", "block", on=_MESSAGES, caught_by=_SHAPE)
def results_null(_: Context, block: Block) -> Block:
    """The results of a search are null."""
    return _with_content(block, None)


@fault("search-results-as-strings", "block", on=_MESSAGES, caught_by=_SHAPE)
def results_as_strings(_: Context, block: Block) -> Block:
    """The results of a search are an array of addresses."""
    return _with_content(block, ["https://www.kimi.com/"])


@fault("search-one-result-as-object", "block", on=_MESSAGES, caught_by=_SHAPE)
def one_as_object(_: Context, block: Block) -> Block:
    """The results of a search are one result instead of an array."""
    return _with_content(block, block["content"][0]) if block["type"] == _RESULT else block


@fault("search-once-more-than-allowed", "result", on=_MESSAGES, caught_by=_MOST)
def once_more(context: Context, result: Result) -> Result:
    """There is one search more than max_uses allows."""
    allowed = context.prompt.search if context.prompt is not None else 0
    if not result.searches or result.finish is not Finish.STOP or sent(context, "tools", 0, "max_uses") is None:
        return result
    made = [*result.searches]
    while len(made) <= allowed:
        made.append(Search(id=f"{context.id}{len(made)}", query=made[0].query, results=made[0].results))
    usage = replace(result.usage, searches=len(made))
    return replace(result, searches=tuple(made), usage=usage)


@fault("search-maximum-ignored", "prompt", on=_MESSAGES, modes=(JSON,), caught_by=_MOST)
def maximum_ignored(_: Context, prompt: Prompt) -> Prompt:
    """The server searches as often as it is asked to, whatever max_uses says."""
    return replace(prompt, search=max(prompt.search, 10)) if prompt.search else prompt


@fault("search-stops-for-tool-use", "result", on=_MESSAGES, caught_by=("search.end-turn", "finish.tool-iff-call"))
def stops_for_tool_use(_: Context, result: Result) -> Result:
    """An answer whose only calls are the server's own searches stops for tool_use."""
    return replace(result, finish=Finish.CALLS) if result.searches and result.finish is Finish.STOP else result


@fault(
    "search-never-made",
    "prompt",
    on=_MESSAGES,
    modes=(JSON,),
    models=K31,
    caught_by=("search.messages-performed",),
)
def never_made(_: Context, prompt: Prompt) -> Prompt:
    """The web search tool is accepted, but no search is ever made."""
    return replace(prompt, search=0)
