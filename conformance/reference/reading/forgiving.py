"""A body whose schema problems a hook has forgiven, without the values that nobody could read."""

from __future__ import annotations

import copy
from typing import Any

from conformance.models import DEFAULT
from conformance.reference.problems import OWN_KINDS, Problem
from conformance.reference.validation import problems
from conformance.values import Protocol

_GREETING = [{"role": "user", "content": "Reply with OK."}]
_NEEDED: dict[Protocol, dict[str, Any]] = {
    Protocol.CHAT: {"messages": _GREETING},
    Protocol.MESSAGES: {"messages": _GREETING, "max_tokens": 1024},
    Protocol.RESPONSES: {"model": DEFAULT, "input": "Reply with OK."},
}
_ROUNDS = 32  # a removed member may leave its object without what it requires: that object goes next


def readable(protocol: Protocol, body: dict[str, Any], forgiven: list[Problem]) -> dict[str, Any]:
    """The body as though each forgiven value had not been sent, and with something to answer.

    Values that break a rule of a model but no schema are kept: they can be read as they are.
    """
    broken = _unreadable(forgiven)
    if not broken:
        return body
    result = copy.deepcopy(body)
    for _ in range(_ROUNDS):
        for path in broken:
            _remove(result, path)
        for name, value in _NEEDED[protocol].items():
            if result.get(name) in (None, []):
                result[name] = value
        broken = _unreadable(problems(protocol, result))
        if not broken:
            break
    return result


def _unreadable(found: list[Problem]) -> list[tuple[str | int, ...]]:
    """The paths of broken values, later items first."""
    paths = {each.path for each in found if each.kind not in OWN_KINDS}
    return sorted(paths, key=lambda path: [(isinstance(part, str), part) for part in path], reverse=True)


def _remove(node: Any, path: tuple[str | int, ...]) -> None:
    """Take out the value at a path, if it is still there."""
    if not path:
        return
    try:
        for part in path[:-1]:
            node = node[part]
        del node[path[-1]]
    except (LookupError, TypeError):
        return
