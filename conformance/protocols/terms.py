"""What a request body asks for, in the terms of the view; each surface has a reader that fills it in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from conformance.protocols.fields import field, integer
from conformance.protocols.view import MISSING, Tool

FORMATS = ("text", "json_object", "json_schema")
_MEDIA = frozenset({"data", "url", "image_url", "video_url", "file_data", "signature", "encrypted_content"})


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The part of Asked that is read from the body; the fields are those of ``Asked``."""

    limit: int | None = None
    stop_sequences: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    choice: str | None = None
    choice_name: str | None = None
    effort: object = MISSING
    format: str | None = None
    format_schema: dict[str, Any] | None = None
    format_strict: bool | None = None
    prompt: str = ""
    last_user: str = ""


def limit_of(body: dict[str, Any], *names: str) -> int | None:
    """The first of the fields that is a positive integer."""
    numbers = (integer(body.get(name)) for name in names)
    return next((number for number in numbers if number is not None and number > 0), None)


def items(value: object) -> list[Any]:
    """A JSON array, or an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: object) -> str | None:
    """The value where it is a string."""
    return value if isinstance(value, str) else None


def object_of(value: object) -> dict[str, Any] | None:
    """The value where it is a JSON object."""
    return value if isinstance(value, dict) else None


def truth_of(value: object) -> bool | None:
    """The value where it is true or false."""
    return value if isinstance(value, bool) else None


def function_tool(declared: object, schema: str) -> Tool:
    """A function tool from the object that names it; ``schema`` is the field of its parameters."""
    return Tool(
        name=text_of(field(declared, "name")),
        schema=object_of(field(declared, schema)),
        strict=truth_of(field(declared, "strict")),
        description=text_of(field(declared, "description")),
    )


def is_search(kind: object) -> bool:
    """Whether a tool type is one of web search, in any of its versions."""
    return isinstance(kind, str) and kind.startswith("web_search")


def last_user(messages: object) -> str:
    """The text of the last user message; its blocks are joined by line ends."""
    for message in reversed(items(messages)):
        if field(message, "role") == "user":
            content = field(message, "content")
            if isinstance(content, str):
                return content
            texts = (text_of(field(block, "text")) for block in items(content))
            return "\n".join(text for text in texts if text is not None)
    return ""


def all_text(values: Iterable[object]) -> str:
    """Every string within the values, joined by line ends: names of fields too, media and signatures not."""
    texts: list[str] = []
    stack = list(reversed(list(values)))
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, list):
            stack += reversed(value)
        elif isinstance(value, dict):
            for key, child in reversed(value.items()):
                if not (key in _MEDIA and isinstance(child, str)):
                    stack += [child, key]
    return "\n".join(text for text in texts if not text.startswith("data:"))
