"""Changes to a tree of JSON values, each at a JSON pointer: how a pair says what its two sides differ in.

An op is ``{at: POINTER, set: VALUE}``, ``{at: POINTER, remove: true}``, ``{at: POINTER, insert: VALUE}`` (into an
array, before that index; ``-`` appends) or ``{at: POINTER, replace: [OLD, NEW]}`` (in the string there, or in every
string below).
"""

from __future__ import annotations

import copy
from typing import Any

KINDS = ("set", "remove", "insert", "replace")


class BadChange(Exception):
    """An op cannot be applied; the message says why."""


def apply(tree: Any, op: Any) -> Any:
    """The tree after one op, changed in place where it can be. Raises ``BadChange``."""
    kinds = [kind for kind in KINDS if isinstance(op, dict) and kind in op]
    if not isinstance(op, dict) or len(kinds) != 1 or op.keys() - {"at", kinds[0]} or not isinstance(op.get("at"), str):
        raise BadChange(f"expected at and one of {', '.join(KINDS)}, got {op!r:.120}")
    at, kind, value = op["at"], kinds[0], copy.deepcopy(op[kinds[0]])
    if at and not at.startswith("/"):
        raise BadChange(f"expected a JSON pointer that starts with /, got {at!r}")
    keys = [key.replace("~1", "/").replace("~0", "~") for key in at.split("/")[1:]]
    if not keys:
        raise BadChange("expected a pointer to one exchange or below, got the root")
    parent = tree
    for depth, key in enumerate(keys[:-1]):
        parent = _child(parent, key, "/".join(("", *keys[: depth + 1])))
    _change(parent, keys[-1], at, **{kind: value})
    return tree


def _change(parent: Any, key: str, at: str, **change: Any) -> None:
    ((kind, value),) = change.items()
    if kind == "insert":
        if not isinstance(parent, list):
            raise BadChange(f"insert needs an array above {at}")
        parent.insert(len(parent) if key == "-" else _index(parent, key, at, last=len(parent)), value)
    elif kind == "set":
        _put(parent, key, value, at)
    elif kind == "remove":
        if value is not True:
            raise BadChange("expected remove: true")
        _child(parent, key, at)
        del parent[_index(parent, key, at) if isinstance(parent, list) else key]
    else:
        if not (isinstance(value, list) and len(value) == 2 and all(isinstance(text, str) for text in value)):
            raise BadChange(f"expected replace: [old, new], two strings, at {at}")
        before = _child(parent, key, at)
        after = _replaced(before, *value)
        if after == before:
            raise BadChange(f"{value[0]!r} does not occur at {at}, or is replaced by itself")
        _put(parent, key, after, at)


def _put(parent: Any, key: str, value: Any, at: str) -> None:
    if isinstance(parent, dict):
        parent[key] = value
    elif isinstance(parent, list):
        parent[_index(parent, key, at)] = value
    else:
        raise BadChange(f"nothing can be set at {at}")


def _child(parent: Any, key: str, at: str) -> Any:
    if isinstance(parent, dict) and key in parent:
        return parent[key]
    if isinstance(parent, list):
        return parent[_index(parent, key, at)]
    raise BadChange(f"nothing is at {at}")


def _index(array: list[Any], key: str, at: str, *, last: int | None = None) -> int:
    last = len(array) - 1 if last is None else last
    if not key.isdecimal() or int(key) > last:
        raise BadChange(f"no such index: {at} (the array has {len(array)})")
    return int(key)


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [_replaced(item, old, new) for item in value]
    if isinstance(value, dict):
        return {key: _replaced(item, old, new) for key, item in value.items()}
    return value
