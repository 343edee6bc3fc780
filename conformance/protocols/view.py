"""The protocol-neutral view of an exchange: what was asked, and what was answered.

Data only. Each surface has a reader beside this file that fills it in, from JSON and from SSE alike; rules read it and
nothing else. Nothing here raises on a hostile body: what is absent, or is of the wrong type, is None, and a wrong type
leaves a note. Text that came from the wire is kept as it came.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

import msgspec

from conformance import specs
from conformance.models import DEFAULT
from conformance.sse import Event, Stream
from conformance.values import Exchange, Intent, Protocol


class Missing:
    """The type of ``MISSING``: a field that is not there, as opposed to one that is null."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()


class Kind(StrEnum):
    """What a response is by its content, whatever its headers say."""

    JSON = "json"  # the body is (or, by its media type, was meant to be) JSON
    STREAM = "stream"  # the body is an event stream
    TEXT = "text"  # anything else: HTML, plain text
    EMPTY = "empty"
    NONE = "none"  # no response arrived


class Finish(StrEnum):
    """Why an answer ended, across the three vocabularies."""

    STOP = "stop"  # stop, end_turn (and the undocumented stop_sequence), completed
    LENGTH = "length"  # length, max_tokens, incomplete because of max_output_tokens
    TOOL = "tool"  # tool_calls, tool_use (and function_call), completed with a function call as the last item
    REFUSAL = "refusal"  # refusal, content_filter, incomplete because of content_filter
    FAILED = "failed"
    OTHER = "other"  # a value outside all of these


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something a reader could not take as it was: where, and what was expected and came."""

    pointer: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool that a request declares."""

    name: str | None
    schema: dict[str, Any] | None = None
    strict: bool | None = None
    search: bool = False
    max_uses: int | None = None
    description: str | None = None


class Asked(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a request asked for."""

    protocol: Protocol
    method: str
    url: str
    host: str  # with port
    headers: tuple[tuple[str, str], ...]
    scheme: str  # of Authorization: "missing", "bearer", or "other" (Basic, a bare key)
    raw: bytes
    malformed: str | None  # why the body is not one JSON object; None when it is
    body: dict[str, Any]  # empty when malformed
    model: str | None  # the canonical id; None when the request names none, or another
    names_model: bool  # the body has a model field
    stream: bool  # stream is exactly true
    limit: int | None  # the output limit in force: max_completion_tokens before max_tokens on chat
    stop_sequences: tuple[str, ...]  # on messages
    tools: tuple[Tool, ...]
    choice: str | None  # auto, none, required (any on messages), named; None when absent or malformed
    choice_name: str | None
    effort: object  # as sent, MISSING when absent
    format: str | None  # text, json_object, json_schema
    format_schema: dict[str, Any] | None
    format_strict: bool | None
    prompt: str  # every text of the request that a model may quote: system, messages, results, tools
    last_user: str  # the text of the last user message

    @cached_property
    def breaches(self) -> tuple[specs.Breach, ...]:
        """Every constraint of the request schema that the body breaks; empty for a malformed body."""
        if self.malformed is not None:
            return ()
        return specs.breaches(self.protocol, self.model or DEFAULT, self.body)

    @cached_property
    def forms(self) -> dict[str, str]:
        """Canonical forms of the body, by what they leave out: finders keep here what is dear to compute twice."""
        return {}

    @cached_property
    def fields(self) -> dict[str, str]:
        """Canonical forms of the fields of the body, likewise."""
        return {}

    @cached_property
    def tools_by_name(self) -> dict[str, Tool]:
        """The first tool of each name."""
        return {tool.name: tool for tool in reversed(self.tools) if tool.name is not None}

    @property
    def searches(self) -> bool:
        """Whether web search is offered."""
        return any(tool.search for tool in self.tools)

    @property
    def functions(self) -> tuple[Tool, ...]:
        """The declared function tools."""
        return tuple(tool for tool in self.tools if not tool.search)

    def header(self, name: str) -> str | None:
        """The first value of a header, whatever the case of its name."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call of an answer; raw fields hold whatever JSON value came, MISSING where none did."""

    pointer: str  # into the (assembled) body
    id: object
    name: object
    type: object
    arguments: (
        object  # chat, responses: the arguments field; messages: the input, or the joined partial_json of a stream
    )
    value: object  # the arguments as a JSON value; MISSING where they do not parse
    server: bool = False  # a server_tool_use block, run by the service itself
    search: bool = False  # $web_search on chat, a web_search server_tool_use on messages
    item_id: object = MISSING  # responses: the item's own id, beside call_id


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """A web_search_tool_result block."""

    pointer: str
    use_id: object
    content: object
    failed: bool  # content is an error object


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Token counts; an attribute is None where it is absent or no integer of 0 or more. ``raw`` keeps what came."""

    raw: dict[str, Any]
    pointer: str  # where it stands: "/usage", or "event N" for one taken from a stream
    input: int | None = None  # all input tokens: on messages input + creation + read
    plain: int | None = None  # messages: input_tokens alone
    output: int | None = None
    total: int | None = None
    cached: int | None = None
    written: int | None = None
    written_5m: int | None = None
    written_1h: int | None = None
    reasoning: int | None = None
    searches: int | None = None


@dataclass(frozen=True, kw_only=True)
class Error:
    """An error that a body or a stream carries."""

    shape: str  # "openai" {error: {message…}}, "anthropic" {type: error, error: {…}}, "responses" (event), or "other"
    raw: object
    type: object = MISSING
    code: object = MISSING
    message: object = MISSING
    event: int | None = None  # the event number, in a stream


class Answer(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What came back, read once."""

    exchange: Exchange
    asked: Asked
    protocol: Protocol
    model: str  # the cell that it counts for

    # transport
    status: int | None
    headers: tuple[tuple[str, str], ...]
    media_type: str | None  # lower case, without parameters
    kind: Kind
    raw: bytes
    broken: str | None  # the failure kind: the transport broke off, nothing came, or it is too large to be read whole

    # JSON
    value: object  # the JSON body; MISSING where there is none or it does not parse
    json_error: str | None
    duplicate_keys: tuple[str, ...]  # pointers, in the body or "event N/…"

    # stream
    stream: Stream | None
    events: tuple[Event, ...]  # all events with data, [DONE] included
    payloads: tuple[object, ...]  # the JSON value of each event's data; MISSING for [DONE] and what does not parse

    # the answer proper
    body: dict[str, Any] | None  # the 200 JSON object, or what the stream folds to
    error: Error | None
    complete: bool  # the JSON is whole, or the stream's terminal event arrived
    id: object = MISSING
    type: object = MISSING  # object on chat and responses, type on messages
    created: object = MISSING
    answer_model: object = MISSING
    role: object = MISSING
    finish: object = MISSING  # finish_reason, stop_reason or status as it came; null is None
    ending: Finish | None = None
    texts: tuple[str, ...] = ()  # one a text block, part or choice
    reasonings: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()  # client calls and server calls, in order
    results: tuple[SearchResult, ...] = ()
    usage: Usage | None = None
    usage_raw: object = MISSING  # the usage field of the body whatever its type
    notes: tuple[Note, ...] = ()

    @property
    def streamed(self) -> bool:
        """Whether the answer came as an event stream."""
        return self.kind is Kind.STREAM

    @property
    def ok(self) -> bool:
        """Whether it is a 200 to a POST that carries an answer and no error; JSON that broke off is none."""
        whole = self.broken is None or self.kind is Kind.STREAM
        answered = self.status == 200 and self.error is None and self.body is not None
        return whole and answered and self.asked.method == "POST"

    @property
    def text(self) -> str:
        """All text of the answer."""
        return "".join(self.texts)

    @property
    def reasoning(self) -> str:
        """All visible reasoning."""
        return "".join(self.reasonings)

    @property
    def client_calls(self) -> tuple[Call, ...]:
        """The calls that the client is to run."""
        return tuple(call for call in self.calls if not call.server)

    @property
    def truncated(self) -> bool:
        """Whether the answer says that the limit cut it off."""
        return self.ending is Finish.LENGTH

    @property
    def normal(self) -> bool:
        """Whether it is a whole answer that ended by itself or with a call: not cut off, refused or failed."""
        return self.ok and self.complete and self.broken is None and self.ending in (Finish.STOP, Finish.TOOL)

    def header(self, name: str) -> str | None:
        """The first value of a response header, whatever the case of its name."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def intends(self, intent: Intent) -> bool:
        """Whether the probe that sent the request declared this intent."""
        return intent in self.exchange.intents
