"""JSON from the wire, read strictly: one value in UTF-8, its repeated keys, and what is wrong with it.

Python's own reader takes NaN, repeated keys and a nesting that depends on the stack; this one says what it met. Lone
surrogates that are written as escapes are JSON, and kept.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from conformance.protocols.view import MISSING

MAX_BODY = 64 * 2**20  # bytes
MAX_DEPTH = 512  # arrays and objects within each other
MAX_DIGITS = 4300  # of one integer
MAX_DUPLICATES = 100  # pointers that are told

_STRING = r'"(?:[^"\\]++|\\.)*+"?'
_BRACKET = re.compile(_STRING + r"|([\[{])|[\]}]", re.DOTALL)
_STRINGS = re.compile(_STRING, re.DOTALL)
_INNERMOST = re.compile(r"\[[^\[\]{}]*+\]|\{[^\[\]{}]*+\}")
_SHALLOW = 16  # levels that are taken away from inside, which is faster than to count them
_CONSTANT = re.compile(_STRING + r"|(NaN|-?Infinity)", re.DOTALL)
_NUMBER = re.compile(_STRING + rf"|(\d{{{MAX_DIGITS + 1},}})", re.DOTALL)
_BOM = b"\xef\xbb\xbf"
_WORDS = {"Extra data": "text after the JSON value", "Expecting value": "no JSON value"}


class JsonText(msgspec.Struct, frozen=True, kw_only=True):
    """What a text says as JSON.

    ``value`` is MISSING where it does not parse, ``error`` says what is wrong and at which byte, ``duplicates`` are
    JSON pointers to the keys that an object repeats (the last value counts). A byte order mark is an error, but the
    value after it is read.
    """

    value: object = MISSING
    error: str | None = None
    duplicates: tuple[str, ...] = ()


class _Refused(ValueError):
    """A constant that Python would take and JSON does not have."""


class _RepeatedError(ValueError):
    """A key that an object repeats."""


def read_bytes(data: bytes) -> JsonText:
    """Read a body; its size and nesting are bounded, and nothing makes this raise."""
    if len(data) > MAX_BODY:
        return JsonText(error=f"larger than {MAX_BODY} bytes")
    bom = data.startswith(_BOM)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return JsonText(error=f"not UTF-8 at byte {error.start}")
    if not bom:
        return read_text(text)
    read = read_text(text[1:], base=len(_BOM))
    return JsonText(
        value=read.value,
        error=read.error or "a byte order mark stands before the JSON value, at byte 0",
        duplicates=read.duplicates,
    )


def read_text(text: str, *, base: int = 0) -> JsonText:
    """Read a text that is decoded already, such as the data of an event; ``base`` is added to the bytes in errors."""
    if not text.strip(" \t\r\n"):
        return JsonText(error="empty")
    deep = _too_deep(text)
    if deep is not None:
        return JsonText(error=f"nested deeper than {MAX_DEPTH} levels at byte {base + _bytes(text, deep)}")
    try:
        return JsonText(value=_READER.decode(text))
    except (ValueError, RecursionError):
        return _faulty(text, base)


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise _RepeatedError
    return built


def _faulty(text: str, base: int) -> JsonText:
    """What is wrong with a text that cannot be read at once."""
    repeated: dict[int, tuple[dict[str, Any], list[str]]] = {}

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) != len(pairs):
            seen: set[str] = set()
            repeats = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
            repeated[id(built)] = (built, list(dict.fromkeys(repeats)))
        return built

    try:
        value = json.loads(text, object_pairs_hook=build, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        words = _WORDS.get(error.msg, error.msg[:1].lower() + error.msg[1:].removesuffix(" at"))
        return JsonText(error=f"{words} at byte {base + _bytes(text, error.pos)}")
    except _Refused as error:
        return JsonText(error=f"{error} is no JSON value, at byte {base + _place(_CONSTANT, text)}")
    except RecursionError:
        return JsonText(error="nested too deep to read")
    except ValueError:
        return JsonText(error=f"a number of more than {MAX_DIGITS} digits at byte {base + _place(_NUMBER, text)}")
    return JsonText(value=value, duplicates=_pointers(value, repeated) if repeated else ())


def escape(key: str) -> str:
    """One part of a JSON pointer; a lone surrogate is written as an escape, so that the pointer can be printed."""
    printable = key.encode("utf-8", "backslashreplace").decode("utf-8")
    return printable.replace("~", "~0").replace("/", "~1")


def _refuse(name: str) -> None:
    raise _Refused(name)


_READER = json.JSONDecoder(object_pairs_hook=_unrepeated, parse_constant=_refuse)


def _too_deep(text: str) -> int | None:
    if len(text) <= MAX_DEPTH or text.count("[") + text.count("{") <= MAX_DEPTH:
        return None
    bare = _STRINGS.sub("", text)
    for _ in range(_SHALLOW):
        bare, closed = _INNERMOST.subn("", bare)
        if not closed:
            break
    if "[" not in bare and "{" not in bare:
        return None
    depth = 0
    for match in _BRACKET.finditer(text):
        if match.group(1):
            depth += 1
            if depth > MAX_DEPTH:
                return match.start()
        elif match.group() in "]}":
            depth -= 1
    return None


def _bytes(text: str, position: int) -> int:
    return len(text[:position].encode("utf-8", "surrogatepass"))


def _place(pattern: re.Pattern[str], text: str) -> int:
    return next((_bytes(text, match.start()) for match in pattern.finditer(text) if match.group(1)), 0)


def _pointers(value: object, repeated: dict[int, tuple[dict[str, Any], list[str]]]) -> tuple[str, ...]:
    found: list[str] = []
    stack: list[tuple[object, Any]] = [(value, None)]  # a value, and the linked path to it
    while stack and len(found) < MAX_DUPLICATES:
        node, path = stack.pop()
        if isinstance(node, dict):
            _, keys = repeated.get(id(node), (None, []))
            found += [_pointer((path, key)) for key in keys]
            children: Any = list(node.items())
        elif isinstance(node, list):
            children = list(enumerate(node))
        else:
            continue
        stack += [(child, (path, key)) for key, child in reversed(children) if isinstance(child, (dict, list))]
    return tuple(found[:MAX_DUPLICATES])


def _pointer(path: Any) -> str:
    parts: list[str] = []
    while path is not None:
        path, key = path
        parts.append(escape(str(key)))
    return "".join(f"/{part}" for part in reversed(parts))
