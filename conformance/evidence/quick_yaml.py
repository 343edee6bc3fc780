"""Builds the value of common YAML straight from the parser's events, several times as fast as a loader does.

Common are mappings with text for keys, lists, text, true, false, null and decimal numbers, as recorders write them.
All else (tags, anchors, dates, merged keys, several documents) is left to a loader, and so is YAML that is broken.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import yaml
from yaml.events import (
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

DEEPEST = 64  # levels
_BRIEF = 40  # characters of text without quotes that is looked at once only
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,18}", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_PARSER: Any = getattr(yaml, "CSafeLoader", None)  # PyYAML may be built without its C part
_RESOLVERS = yaml.resolver.Resolver.yaml_implicit_resolvers


class Uncommon(Exception):
    """YAML that a loader must read."""


def load(text: str) -> Any:
    """The value of a document. Raises ``Uncommon``."""
    if _PARSER is None:
        raise Uncommon
    try:
        following = _PARSER(text).get_event
        _expect(following(), StreamStartEvent)
        _expect(following(), DocumentStartEvent)
        value = _value(following(), following, DEEPEST)
        _expect(following(), DocumentEndEvent)
        _expect(following(), StreamEndEvent)
    except (yaml.YAMLError, ValueError) as error:
        raise Uncommon from error
    return value


def _expect(event: Any, kind: type[Any]) -> None:
    if type(event) is not kind:
        raise Uncommon


def _value(event: Any, following: Callable[[], Any], depth: int) -> Any:
    kind = type(event)
    if kind is ScalarEvent:
        return _scalar(event)
    if kind not in (MappingStartEvent, SequenceStartEvent) or event.tag or event.anchor or not depth:
        raise Uncommon
    event = following()
    if kind is SequenceStartEvent:
        items = []
        while type(event) is not SequenceEndEvent:
            items.append(_value(event, following, depth - 1))
            event = following()
        return items
    members: dict[str, Any] = {}
    while type(event) is not MappingEndEvent:
        name = _scalar(event) if type(event) is ScalarEvent else None
        if not isinstance(name, str):
            raise Uncommon
        members[name] = _value(following(), following, depth - 1)
        event = following()
    return members


def _scalar(event: Any) -> Any:
    if event.tag or event.anchor:
        raise Uncommon
    if not event.implicit[0]:
        return event.value
    return _known(event.value) if len(event.value) <= _BRIEF else _plain(event.value)


def _plain(text: str) -> Any:
    """What text without quotes stands for."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    if any(pattern.match(text) for _, pattern in (*_RESOLVERS.get(text[:1], ()), *_RESOLVERS.get(None, ()))):
        raise Uncommon
    return text


_known = functools.lru_cache(4096)(_plain)
