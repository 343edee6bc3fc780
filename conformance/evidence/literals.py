"""YAML for people: text of several lines as literal blocks, also with emoji, and nothing that a reader must unescape.

PyYAML's fast emitter quotes text outside the basic plane, and its other one writes a megabyte in seconds.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence

Value = str | bytes | int | float | bool | Mapping[str, "Value"] | Sequence["Value"] | None

_PLAIN = re.compile(r"[A-Za-z][\w.+-]*(?:[ /][\w.+-]+)*", re.ASCII)
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_UNPRINTABLE = re.compile("[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = re.compile(f'["\\\\\t\n]|{_UNPRINTABLE.pattern}')
_SHORT = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n"}
_LINE = 76  # characters of base64, of text in quotes, and of a mapping on one line
_MEMBERS = 2  # of a mapping on one line


def document(value: Mapping[str, Value]) -> str:
    """A mapping as a YAML document that any safe loader reads back as it was."""
    return "".join(f"{line}\n" for line in _mapping(value, ""))


def _mapping(value: Mapping[str, Value], indent: str) -> Iterator[str]:
    for name, item in value.items():
        yield from _member(f"{indent}{_scalar(name)}:", item, indent)


def _member(start: str, item: Value, indent: str) -> Iterator[str]:
    if (brief := _flow(item)) is not None:
        yield f"{start} {brief}"
    elif isinstance(item, Mapping) and item:
        yield start
        yield from _mapping(item, indent + "  ")
    elif isinstance(item, list | tuple) and item:
        yield start
        for one in item:
            yield from _entry(one, indent)
    elif isinstance(item, bytes):
        text = base64.b64encode(item).decode()
        yield f"{start} !!binary |"
        yield from (f"{indent}  {text[place : place + _LINE]}" for place in range(0, len(text), _LINE))
    elif isinstance(item, str) and not _short(item) and not _UNPRINTABLE.search(item):
        yield from _literal(start, item, indent + "  ")
    else:
        yield f"{start} {_scalar(item)}"


def _entry(one: Value, indent: str) -> Iterator[str]:
    """An entry of a list: its first line begins with a dash, where the others are indented."""
    if isinstance(one, Mapping) and one:
        lines = _mapping(one, indent + "  ")
        yield f"{indent}- {next(lines)[len(indent) + 2 :]}"
        yield from lines
    elif isinstance(one, list | tuple) and one:
        yield f"{indent}-"
        for inner in one:
            yield from _entry(inner, indent + "  ")
    else:
        yield from _member(f"{indent}-", one, indent)


def _literal(start: str, text: str, indent: str) -> Iterator[str]:
    """Text as it is, indented: the header says how it begins and ends where a reader would guess wrong."""
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    if not body:  # nothing but line ends, which a block would say badly
        yield f"{start} {_scalar(text)}"
        return
    lead = "2" if body[0] in " \t\n" else ""
    yield f"{start} |{lead}{'-' if not ends else '' if ends == 1 else '+'}"
    yield from (f"{indent}{line}" if line else "" for line in body.split("\n"))
    yield from [""] * (ends - 1)


def _flow(value: Value) -> str | None:
    """A list of one short value, or a mapping of a few to such, on one line; None for all that needs more."""
    if isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], str | int) and _short(value[0]):
        return f"[{_scalar(value[0])}]"
    if not isinstance(value, Mapping) or not 0 < len(value) <= _MEMBERS or not all(map(_short, value)):
        return None
    parts = [_flow(item) if isinstance(item, list | tuple | Mapping) else _brief(item) for item in value.values()]
    pairs = [f"{_scalar(name)}: {part}" for name, part in zip(value, parts, strict=True) if part is not None]
    line = "{" + ", ".join(pairs) + "}"
    return line if len(pairs) == len(value) and len(line) <= _LINE else None


def _brief(value: Value) -> str | None:
    return _scalar(value) if not isinstance(value, bytes) and _short(value) else None


def _short(value: Value) -> bool:
    """Whether a value is no text, or one that stands well in quotes."""
    return not isinstance(value, str) or ("\n" not in value and '"' not in value and len(value) < _LINE)


def _scalar(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
            return value
        return '"' + _ESCAPES.sub(_escaped, value) + '"'
    return "{}" if isinstance(value, Mapping) else "[]"


def _escaped(found: re.Match[str]) -> str:
    char = found.group()
    code = ord(char)
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
