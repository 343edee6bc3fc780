"""Why a refusal of a request could be right, although no constraint of the schema is broken.

The documents do not say everything: a request may hold what they never name, continue a conversation whose history was
altered, or be valid and mean nothing. Nothing is demanded of such a request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from conformance.models import MODELS
from conformance.protocols.view import MISSING, Answer, Asked
from conformance.rules.decisions import NEAR_THE_WINDOW, posted
from conformance.rules.extremes import DEEP, extremes
from conformance.rules.history import blocks, turns
from conformance.rules.past_turns import goes_on, orphans
from conformance.rules.pictures import shown
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES
from conformance.rules.undocumented import undocumented
from conformance.values import Intent, Protocol

LARGE = 2**20  # bytes; a larger request may exceed the context window, or what a proxy lets through
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_JSON_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_NO_SCHEMAS = frozenset({"enum", "const", "default", "examples", "required", "description", "title"})
_MEDIA = frozenset({"image", "image_url", "video", "video_url", "input_image"})


def doubt(answer: Answer) -> str | None:
    """Why a refusal could be right; None where the request must be accepted.

    A probe that declares a request valid vouches for all but the bytes.
    """
    asked, intents = answer.asked, answer.exchange.intents
    certain = _of_the_bytes(answer)
    if certain or Intent.VALID in intents:
        return certain
    if {Intent.HOSTILE, Intent.OVERSIZED} & set(intents):
        return "the probe declares it extreme"
    if goes_on(asked):
        return "it continues a conversation whose history may be altered"
    return next((words for test in _TESTS for words in test(asked)), None)


def doubt_of_step(before: Asked, asked: Asked, added: list[dict[str, Any]]) -> str | None:
    """Why the next step of a conversation could rightly be refused: for what it adds to the request before it."""
    name = "input" if asked.protocol is RESPONSES else "messages"
    place = len(turns(asked)) - len(added)
    changed = {key for key, value in asked.body.items() if before.body.get(key, MISSING) != value}
    if (asked.limit or 0) > NEAR_THE_WINDOW and asked.limit != before.limit:
        return "its limit exceeds the context window together with the prompt"
    if any(_is_blank(turn.get("content")) for turn in added if turn.get("role") == "user"):
        return "it adds an empty text"
    if any(_holds_media(turn) and not _shows_whole_files(asked.protocol, turn) for turn in added):
        return "it adds an image or a video, which may be invalid"
    unnamed = [pointer for pointer in undocumented(asked) if pointer.startswith(f"/{name}/")]
    if any(int(pointer.split("/")[2]) >= place for pointer in unnamed):
        return "it adds what no document names"
    tests = (_extreme, *((_tools,) if {"tools", "tool_choice"} & changed else ()))
    return next((words for test in tests for words in test(asked)), None)


def _is_blank(content: object) -> bool:
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text", MISSING) if isinstance(part, dict) else part for part in parts]
    return not parts or any(text is None or (isinstance(text, str) and not text.strip()) for text in texts)


def _holds_media(turn: dict[str, Any]) -> bool:
    kinds = [block.get("type") for block in blocks(turn)]
    kinds += [part.get("type") for block in blocks(turn) for part in blocks(block)]
    return any(isinstance(kind, str) and kind in _MEDIA for kind in kinds)


def _shows_whole_files(protocol: Protocol, turn: dict[str, Any]) -> bool:
    """Whether all images and videos of a turn, in its results too, are small valid files."""
    held = [*blocks(turn), *(part for block in blocks(turn) for part in blocks(block))]
    found = list(shown(protocol, held))
    media = sum(block.get("type") in _MEDIA for block in held if isinstance(block.get("type"), str))
    return len(found) == media and all(picture.whole for picture in found)


def sent_whole(answer: Answer) -> bool:
    """Whether the evidence holds the request's body as it was sent: neither lost, nor cut, nor compressed."""
    asked = answer.asked
    if (asked.header("content-encoding") or "identity").lower() != "identity":
        return False
    length = asked.header("content-length")
    if length is None or not length.strip().isascii() or not length.strip().isdigit():
        return bool(asked.raw) or (asked.header("transfer-encoding") is None)
    return len(length) < 20 and int(length) <= len(asked.raw)


def _of_the_bytes(answer: Answer) -> str | None:
    asked = answer.asked
    if not posted(answer) or not sent_whole(answer):
        return "it is no POST of a JSON object"
    if asked.scheme != "bearer" or Intent.INVALID_KEY in answer.exchange.intents:
        return "it carries no valid key"
    if (asked.header("content-type") or "").partition(";")[0].strip().lower() != "application/json":
        return "its media type is not application/json"
    if asked.model is None:
        return "it names none of the three models"
    return f"it breaks {asked.breaches[0].constraint}" if asked.breaches else None


Reasons = Iterator[str]


def _extreme(asked: Asked) -> Reasons:
    if len(asked.raw) > LARGE:
        yield "it is very large"
    found = extremes(asked)
    if found.kinds or found.depth > DEEP // 4:
        yield "it is extreme"


def _unnamed(asked: Asked) -> Reasons:
    yield from (f"no document names {pointer}" for pointer in undocumented(asked)[:1])


def _limits(asked: Asked) -> Reasons:
    if asked.protocol is CHAT and {"max_tokens", "max_completion_tokens"} <= asked.body.keys():
        yield "both output limits are set"
    counts = [asked.body.get(name) for name in ("max_tokens", "max_completion_tokens", "max_output_tokens")]
    offered = asked.body.get("tools")
    counts += [tool.get("max_uses") for tool in offered if isinstance(tool, dict)] if isinstance(offered, list) else []
    if any(isinstance(count, float) for count in counts):
        yield "an integer is written with a fraction"


def _history(asked: Asked) -> Reasons:
    if orphans(asked):
        yield "a tool result matches no call"
    said = turns(asked)
    if said and said[-1].get("role") not in ("user", "tool"):
        yield "its last message is not the user's"


def _empty(asked: Asked) -> Reasons:
    fields = [asked.body.get("system", MISSING), asked.body.get("input", MISSING)]
    fields += [turn.get("content") for turn in turns(asked) if turn.get("role") != "assistant"]
    if any(map(_is_blank, fields)):
        yield "it has an empty text"


def _media(asked: Asked) -> Reasons:
    if any(map(_holds_media, turns(asked))):
        yield "it holds an image or a video, which may be invalid"


def _tools(asked: Asked) -> Reasons:
    names = [tool.name for tool in asked.functions]
    offered = asked.body.get("tools")
    if asked.body.get("tool_choice") is not None and not asked.tools:
        yield "it chooses among no tools"
    if asked.choice == "required" and not asked.functions:
        yield "it requires a call, and declares no function"
    if asked.choice == "named" and asked.choice_name not in names:
        yield "it names an undeclared function"
    if offered == [] or (isinstance(offered, list) and len(offered) > 128):
        yield "it offers no tools, or very many"
    if len(set(names)) != len(names) or not all(_NAME.fullmatch(name or "") for name in names):
        yield "the names of its tools are unusual"
    if any(_odd(tool.schema, root="object") for tool in asked.functions):
        yield "a tool's schema is no usual one"


def _formats(asked: Asked) -> Reasons:
    chosen = asked.body.get("response_format")
    if isinstance(chosen, dict) and asked.format is None:
        yield "its response_format has no type"
    if asked.format == "json_schema":
        if asked.format_schema is None or _odd(asked.format_schema, root=None):
            yield "its schema is missing, or no usual one"
        if asked.protocol is MESSAGES and asked.stop_sequences:
            yield "it asks for a schema and for stop sequences"
        inner = chosen.get("json_schema") if isinstance(chosen, dict) else None
        if isinstance(inner, dict) and not _NAME.fullmatch(str(inner.get("name"))):
            yield "the name of its schema is unusual"


def _stops(asked: Asked) -> Reasons:
    if asked.body.get("stop_sequences") == [] or any(not sequence.strip() for sequence in asked.stop_sequences):
        yield "it has no stop sequence, or an empty one"


def _responses(asked: Asked) -> Reasons:
    if asked.protocol is not RESPONSES:
        return
    reasoning = asked.body.get("reasoning")
    known = MODELS[asked.model].efforts if asked.model else ()
    if isinstance(reasoning, dict) and (set(reasoning) - {"effort"} or reasoning.get("effort", known[-1]) not in known):
        yield "the page does not name the value of its effort"
    if asked.body.get("input") == []:
        yield "its input is empty"
    for turn in turns(asked):
        if turn.keys() != {"role", "content"} or turn["role"] != "user" or not isinstance(turn["content"], str):
            yield "the page does not show the form of its input items"


_TESTS: tuple[Callable[[Asked], Reasons], ...] = (
    _extreme,
    _unnamed,
    _limits,
    _history,
    _empty,
    _media,
    _tools,
    _formats,
    _stops,
    _responses,
)


def _odd(schema: dict[str, Any] | None, *, root: str | None) -> bool:
    """Whether a schema has a type that JSON Schema does not know, or not ``root`` at its top."""
    if schema is None or (root is not None and schema.get("type") != root):
        return True
    stack: list[tuple[str, object]] = [("", schema)]
    while stack:
        name, value = stack.pop()
        if isinstance(value, dict):
            kinds = value.get("type", [])
            if isinstance(kinds, (str, list)) and name not in ("properties", "$defs", "definitions"):
                named = [kinds] if isinstance(kinds, str) else kinds
                if not all(isinstance(kind, str) and kind in _JSON_TYPES for kind in named):
                    return True
            stack += [(key, child) for key, child in value.items() if key not in _NO_SCHEMAS or name == "properties"]
        elif isinstance(value, list):
            stack += [("", child) for child in value]
    return False
