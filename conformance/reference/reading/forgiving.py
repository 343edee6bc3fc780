"""A body whose schema problems a hook has forgiven, without the values that nobody could read."""

from __future__ import annotations

import copy
from typing import Any

from conformance.models import DEFAULT
from conformance.reference.problems import OWN_KINDS, Problem
from conformance.values import Protocol

_GREETING = [{"role": "user", "content": "Reply with OK."}]
_NEEDED: dict[Protocol, dict[str, Any]] = {
    Protocol.CHAT: {"messages": _GREETING},
    Protocol.MESSAGES: {"messages": _GREETING, "max_tokens": 1024},
    Protocol.RESPONSES: {"model": DEFAULT, "input": "Reply with OK."},
}


def readable(protocol: Protocol, body: dict[str, Any], forgiven: list[Problem]) -> dict[str, Any]:
    """The body as though each forgiven value had not been sent, and with something to answer.

    Values that break a rule of a model but no schema are kept: they can be read as they are.
    """
    broken = [each for each in forgiven if each.kind not in OWN_KINDS]
    if not broken:
        return body
    result = copy.deepcopy(body)
    for each in sorted(broken, key=lambda problem: list(map(str, problem.path)), reverse=True):  # later items first
        _remove(result, each.path)
    for name, value in _NEEDED[protocol].items():
        if result.get(name) in (None, []):
            result[name] = value
    return result


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
