"""The protocol-neutral request that the readers make and the engine answers."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from conformance.values import Protocol

SEARCH = "$web_search"  # the built-in tool's name on chat


class Text(msgspec.Struct, frozen=True, tag="text"):
    """Words of a message."""

    text: str


class Reasoning(msgspec.Struct, frozen=True, tag="reasoning"):
    """Reasoning of an earlier answer, sent back."""

    text: str


class Media(msgspec.Struct, frozen=True, tag="media"):
    """An image or a video: what it is in words, a digest of its bytes, and what it costs."""

    description: str
    digest: str
    tokens: int


class PastCall(msgspec.Struct, frozen=True, tag="call"):
    """A tool call of an earlier answer, sent back; arguments are JSON text as it came."""

    id: str
    name: str
    arguments: str


class ToolResult(msgspec.Struct, frozen=True, tag="result"):
    """What a tool answered to the call of that id."""

    id: str
    text: str
    media: tuple[Media, ...] = ()


Part = Text | Reasoning | Media | PastCall | ToolResult


class Message(msgspec.Struct, frozen=True):
    """One message of the history."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[Part, ...]


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A declared function and the JSON Schema of its arguments."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Whether tools are called; ``name`` goes with named, ``parallel`` False allows one call an answer."""

    mode: Literal["auto", "none", "required", "named"] = "auto"
    name: str | None = None
    parallel: bool = True


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """The form that the text must have: any JSON object, or an instance of a schema."""

    schema: dict[str, Any]


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """One request, read: everything that decides the answer and its usage."""

    protocol: Protocol
    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    search: int = 0  # how often the web may be searched in this answer; 0: no search was offered
    choice: Choice = Choice()
    format: Format | None = None
    stop: tuple[str, ...] = ()
    limit: int
    effort: str = "max"  # low, high or max
    ttl: str = "5m"
    stream: bool = False
    usage_chunk: bool = False  # chat: stream_options.include_usage
